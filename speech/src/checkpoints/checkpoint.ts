import type { Hearing } from "../engines/engine.ts";
import type { TimedWord } from "../transcript.ts";

/** What the models said of some more of a recording. Given back with those before it, none of it is asked again. */
export interface KeptStretch {
  /** Seconds of the media up to which words are settled. */
  settledSeconds: number;
  /** For `transcribe` alone to read. */
  answers: string;
}

/** The answers of models, each by what was asked. */
export interface Answers {
  /** By the number of the block: how likely each of its windows is speech. */
  speech: [block: number, probabilities: Float32Array][];
  hearings: [question: string, hearing: Hearing][];
  languages: [question: string, probabilities: ReadonlyMap<string, number>][];
}

/** Another release may write otherwise; what it wrote is asked again. */
const FORMAT = 1;

interface Written {
  format: number;
  speech: [block: number, base64: string][];
  hearings: [question: string, hearing: WrittenHearing][];
  languages: [question: string, probabilities: [language: string, probability: number][]][];
}

type WrittenHearing = Omit<Hearing, "words"> & {
  words: [word: string, start: number, end: number, confidence: number][];
};

/** As text that reads back to the very same numbers. */
export function writeAnswers({ speech, hearings, languages }: Answers): string {
  const written: Written = {
    format: FORMAT,
    speech: speech.map(([block, { buffer, byteOffset, byteLength }]) => [
      block,
      Buffer.from(buffer, byteOffset, byteLength).toString("base64"),
    ]),
    // JSON has no other numbers.
    hearings: hearings.filter(isWritable).map(([question, hearing]) => [
      question,
      {
        ...hearing,
        words: hearing.words.map(({ word, start, end, confidence }) => [word, start, end, confidence]),
      },
    ]),
    languages: languages.map(([question, probabilities]) => [question, [...probabilities]]),
  };
  return JSON.stringify(written);
}

/** Null where this release did not write it. */
export function readAnswers(text: string): Answers | null {
  const written = parsed(text);
  if (written === null) return null;
  return {
    speech: written.speech.map(([block, base64]) => [block, floatsOf(base64)]),
    hearings: written.hearings.map(([question, hearing]) => [
      question,
      { ...hearing, words: hearing.words.map(toWord) },
    ]),
    languages: written.languages.map(([question, probabilities]) => [question, new Map(probabilities)]),
  };
}

function parsed(text: string): Written | null {
  try {
    const written = JSON.parse(text) as Written;
    return written.format === FORMAT ? written : null;
  } catch {
    return null;
  }
}

function toWord([word, start, end, confidence]: WrittenHearing["words"][number]): TimedWord {
  return { word, start, end, confidence };
}

function floatsOf(base64: string): Float32Array {
  // A copy, because a view of floats must begin at a multiple of four bytes.
  return new Float32Array(new Uint8Array(Buffer.from(base64, "base64")).buffer);
}

function isWritable([, { words, meanLogProbability, compressionRatio, noSpeechProbability }]: [
  string,
  Hearing,
]) {
  const numbers = words.flatMap(({ start, end, confidence }) => [start, end, confidence]);
  return [...numbers, meanLogProbability, compressionRatio, noSpeechProbability ?? 0].every(Number.isFinite);
}
