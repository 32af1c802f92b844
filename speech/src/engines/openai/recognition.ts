import { mean, timedWords } from "../../alignment/timed-words.ts";
import type { Hearing, Utterance } from "../engine.ts";
import { compressionRatio } from "../repetition.ts";
import { lastAtMost } from "./last-at-most.ts";
import { type Answer, type AnswerPiece, type AnswerSegment, LEAST_LOG_PROBABILITY } from "./response.ts";
import { byLoudness, evenly } from "./speech-time.ts";
import { joinsWithoutSpace, writtenWords } from "./text-words.ts";
import { type WordSpan, wordSpans } from "./word-spans.ts";

const SAMPLE_RATE = 16_000;

/** From the Whisper paper (Radford et al., 2022, section 4.5): beyond both of these, there is no speech. */
const NO_SPEECH_PROBABILITY = 0.6;
const NO_SPEECH_LOG_PROBABILITY = -1;
/** A segment that is nothing but a note of a sound: `[BLANK_AUDIO]`, `(music)`, `*laughs*`. */
const SOUND_NOTE = /^\s*(\[[^\]]*\]|\([^)]*\)|（[^）]*）|【[^】]*】|\*[^*]*\*)[.\s]*$/u;

/**
 * What a server heard in an utterance. Where it gave no words with times, words have shares of their segment,
 * or of the whole utterance, by their length and by where it is loud: less exact. What it did not say of its
 * certainty counts as certain.
 * @param language ISO code of the language that was asked for; null where the server was to tell
 */
export function hearingOf(answer: Answer, { samples, start }: Utterance, language: string | null): Hearing {
  const seconds = samples.length / SAMPLE_RATE;
  const heardLanguage = language ?? answer.language;
  const { text, segmentAt } = writtenText(answer);
  const words = SOUND_NOTE.test(text) ? [] : writtenWords(text, heardLanguage);
  const pieces = answer.words.some(hasTime) ? answer.words : sentences(answer, text, seconds);
  const timeOfShare = pieces === answer.words ? evenly : byLoudness(samples);
  const spans = wordSpans(
    words.map((word) => word.text),
    pieces,
    seconds,
    timeOfShare,
  );
  const heard = words.flatMap((word, index) => {
    const segment = segmentAt(word.at);
    return segment !== null && isNoSpeech(segment) ? [] : [{ word, span: spans[index] as WordSpan, segment }];
  });
  const logProbabilities = heard.map(({ span, segment }) => logProbability(span, segment));
  return {
    words: timedWords({
      words: heard.map(({ word }, index) => ({ text: word.text, firstToken: index, endToken: index + 1 })),
      spans: heard.map(({ span }) => span),
      logProbabilities,
      start,
      seconds,
      secondsPerFrame: 1,
      correction: 0,
    }),
    language: heard.length === 0 ? null : heardLanguage,
    meanLogProbability: mean(heard.length === 0 ? logProbabilitiesOf(answer.segments) : logProbabilities),
    compressionRatio: compressionRatio(heard.map(({ word }) => word.text).join(" ")),
    noSpeechProbability: leastNoSpeechProbability(answer.segments),
    // No server reports why it stopped.
    cutOff: false,
  };
}

/** The text of all segments with their white space, and which segment a place in it belongs to. */
function writtenText({ text, segments }: Answer) {
  // Where a server writes spaces, segments without one between them go on in the middle of a word.
  const writesSpaces = segments.some((segment) => /^\s|\s$/u.test(segment.text));
  const parts: string[] = [];
  const ends: number[] = [];
  let [length, last] = [0, ""];
  for (const segment of segments) {
    const part = (writesSpaces || joinsWithoutSpace(last, segment.text) ? "" : " ") + segment.text;
    parts.push(part);
    length += part.length;
    ends.push(length);
    last = part.slice(-1) || last;
  }
  const joined = parts.join("");
  if (joined.trim() === "") return { text, segmentAt: () => null };
  return {
    text: joined,
    segmentAt: (place: number) => segments[lastAtMost(ends, place) + 1] ?? null,
  };
}

function sentences({ segments }: Answer, text: string, seconds: number): readonly AnswerPiece[] {
  return segments.some(hasTime) ? segments : [{ text, start: 0, end: seconds, probability: null }];
}

function hasTime({ text, start }: AnswerPiece): boolean {
  return start !== null && text.trim() !== "";
}

function isNoSpeech({ text, noSpeechProbability, meanLogProbability }: AnswerSegment): boolean {
  if (SOUND_NOTE.test(text)) return true;
  return (
    (noSpeechProbability ?? 0) > NO_SPEECH_PROBABILITY &&
    (meanLogProbability ?? 0) < NO_SPEECH_LOG_PROBABILITY
  );
}

function logProbability(span: WordSpan, segment: AnswerSegment | null): number {
  if (span.probability !== null) return Math.max(LEAST_LOG_PROBABILITY, Math.log(span.probability));
  return segment?.meanLogProbability ?? 0;
}

function logProbabilitiesOf(segments: readonly AnswerSegment[]): number[] {
  return segments.flatMap(({ meanLogProbability }) => meanLogProbability ?? []);
}

/** Somebody speaks in the utterance where somebody speaks in any of its segments. */
function leastNoSpeechProbability(segments: readonly AnswerSegment[]): number | null {
  const known = segments.flatMap(({ noSpeechProbability }) => noSpeechProbability ?? []);
  return known.length === 0 ? null : known.reduce((least, share) => Math.min(least, share));
}
