import type { RecognitionResult } from "../engines/engine.ts";
import type { TimedWord } from "../transcript.ts";

/** The models' results for a part of a recording. A resumed transcription does not compute them again. */
export interface Checkpoint {
  /** Seconds of the media up to which the words are final. */
  settledSeconds: number;
  /** Opaque to callers; only `transcribe` reads it. */
  results: string;
}

/** Results of the models. Keys identify the input. */
export interface ModelResults {
  /** Speech probability of each window of a block. */
  speech: [key: string, probabilities: Float32Array][];
  recognitions: [key: string, result: RecognitionResult][];
  languages: [key: string, probabilities: ReadonlyMap<string, number>][];
}

/**
 * Checkpoints of another format are ignored. Increment this when the format changes, or when the same keys have other
 * results, such as speech probabilities of another voice activity model.
 */
const FORMAT = 3;

interface Serialized {
  format: number;
  speech: [key: string, base64: string][];
  recognitions: [key: string, result: SerializedRecognition][];
  languages: [key: string, probabilities: [language: string, probability: number][]][];
}

type SerializedRecognition = Omit<RecognitionResult, "words"> & {
  words: [word: string, start: number, end: number, confidence: number][];
};

/** All numbers are preserved exactly. */
export function serializeResults({ speech, recognitions, languages }: ModelResults): string {
  const serialized: Serialized = {
    format: FORMAT,
    speech: speech.map(([key, { buffer, byteOffset, byteLength }]) => [
      key,
      Buffer.from(buffer, byteOffset, byteLength).toString("base64"),
    ]),
    // JSON cannot represent NaN and infinity.
    recognitions: recognitions.filter(hasOnlyFiniteNumbers).map(([key, result]) => [
      key,
      {
        ...result,
        words: result.words.map(({ word, start, end, confidence }) => [word, start, end, confidence]),
      },
    ]),
    languages: languages.map(([key, probabilities]) => [key, [...probabilities]]),
  };
  return JSON.stringify(serialized);
}

/** Returns null if the text has another format or is damaged. */
export function parseResults(text: string): ModelResults | null {
  try {
    const serialized = JSON.parse(text) as Serialized;
    return serialized.format === FORMAT ? toResults(serialized) : null;
  } catch {
    return null;
  }
}

function toResults(serialized: Serialized): ModelResults {
  return {
    speech: serialized.speech.map(([key, base64]) => [key, floatsOf(base64)]),
    recognitions: serialized.recognitions.map(([key, result]) => [
      key,
      { ...result, words: result.words.map(toWord) },
    ]),
    languages: serialized.languages.map(([key, probabilities]) => [key, new Map(probabilities)]),
  };
}

function toWord([word, start, end, confidence]: SerializedRecognition["words"][number]): TimedWord {
  return { word, start, end, confidence };
}

function floatsOf(base64: string): Float32Array {
  // The copy is aligned to four bytes, as Float32Array requires.
  return new Float32Array(new Uint8Array(Buffer.from(base64, "base64")).buffer);
}

function hasOnlyFiniteNumbers([, { words, meanLogProbability, compressionRatio, noSpeechProbability }]: [
  string,
  RecognitionResult,
]) {
  const numbers = words.flatMap(({ start, end, confidence }) => [start, end, confidence]);
  return [...numbers, meanLogProbability, compressionRatio, noSpeechProbability ?? 0].every(Number.isFinite);
}
