import { mean, timedWords } from "../../alignment/timed-words.ts";
import { SAMPLE_RATE } from "../../media/audio.ts";
import type { SpokenUtterance, Utterance } from "../../vad/utterances.ts";
import type { RecognitionResult } from "../engine.ts";
import { compressionRatio } from "../recognition-result.ts";
import {
  LEAST_LOG_PROBABILITY,
  type ResponsePiece,
  type ResponseSegment,
  type TranscriptionResponse,
} from "./response.ts";
import { byLoudness, evenly, lastAtMost } from "./speech-time.ts";
import { joinsWithoutSpace, splitWords } from "./text-words.ts";
import { type WordSpan, wordSpans } from "./word-spans.ts";

/**
 * From the Whisper paper (Radford et al., 2022, section 4.5): there is no speech if the no-speech probability is above
 * its limit and the log-probability is below its limit.
 */
const NO_SPEECH_PROBABILITY = 0.6;
const NO_SPEECH_LOG_PROBABILITY = -1;
/** Matches segments that only describe a sound: `[BLANK_AUDIO]`, `(music)`, `*laughs*`. */
const SOUND_NOTE = /^\s*(\[[^\]]*\]|\([^)]*\)|（[^）]*）|【[^】]*】|\*[^*]*\*)[.\s]*$/u;

/**
 * Converts a response. If it has no word times, the time of each segment, or else the detected speech, is distributed
 * over the words by length and loudness. Missing confidence counts as full confidence.
 * @param language ISO code of the requested or detected language; null if unknown
 */
export function recognitionResult(
  response: TranscriptionResponse,
  { samples, start, speech }: Utterance & Partial<Pick<SpokenUtterance, "speech">>,
  language: string | null,
): RecognitionResult {
  const seconds = samples.length / SAMPLE_RATE;
  const spokenLanguage = language ?? response.language;
  const { text, segmentAt } = responseText(response);
  const words = SOUND_NOTE.test(text) ? [] : splitWords(text, spokenLanguage);
  const pieces = response.words.some(hasTime) ? response.words : segmentsOrText(response, text, seconds);
  const hasWordTimes = pieces === response.words;
  const spans = speech?.map((span) => ({ start: span.start - start, end: span.end - start }));
  const timeOfShare = hasWordTimes ? evenly : byLoudness(samples, spans);
  const wordTimes = wordSpans(
    words.map((word) => word.text),
    pieces,
    seconds,
    timeOfShare,
  );
  const recognized = words.flatMap((word, index) => {
    const segment = segmentAt(word.at);
    return segment !== null && isNoSpeech(segment)
      ? []
      : [{ word, span: wordTimes[index] as WordSpan, segment }];
  });
  const logProbabilities = recognized.map(({ span, segment }) => logProbability(span, segment));
  return {
    words: timedWords({
      words: recognized.map(({ word }, index) => ({
        text: word.text,
        firstToken: index,
        endToken: index + 1,
      })),
      spans: recognized.map(({ span }) => span),
      logProbabilities,
      start,
      seconds,
      secondsPerFrame: 1,
      correction: 0,
    }),
    language: recognized.length === 0 ? null : spokenLanguage,
    meanLogProbability: mean(
      recognized.length === 0 ? logProbabilitiesOf(response.segments) : logProbabilities,
    ),
    compressionRatio: compressionRatio(recognized.map(({ word }) => word.text).join(" ")),
    noSpeechProbability: leastNoSpeechProbability(response.segments),
    // Servers do not report why decoding stopped.
    truncated: false,
    ...(!hasWordTimes && { hasEstimatedTimes: true }),
  };
}

/** Returns the text of all segments, and a function that finds the segment at a position in the text. */
function responseText({ text, segments }: TranscriptionResponse) {
  // If segments contain their own spaces, one without a leading space continues a word.
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
    segmentAt: (position: number) => segments[lastAtMost(ends, position) + 1] ?? null,
  };
}

/** Returns the segments if any has a time, or else the whole text. */
function segmentsOrText(
  { segments }: TranscriptionResponse,
  text: string,
  seconds: number,
): readonly ResponsePiece[] {
  return segments.some(hasTime) ? segments : [{ text, start: 0, end: seconds, probability: null }];
}

function hasTime({ text, start }: ResponsePiece): boolean {
  return start !== null && text.trim() !== "";
}

function isNoSpeech({ text, noSpeechProbability, meanLogProbability }: ResponseSegment): boolean {
  if (SOUND_NOTE.test(text)) return true;
  return (
    (noSpeechProbability ?? 0) > NO_SPEECH_PROBABILITY &&
    (meanLogProbability ?? 0) < NO_SPEECH_LOG_PROBABILITY
  );
}

function logProbability(span: WordSpan, segment: ResponseSegment | null): number {
  if (span.probability !== null) return Math.max(LEAST_LOG_PROBABILITY, Math.log(span.probability));
  return segment?.meanLogProbability ?? 0;
}

function logProbabilitiesOf(segments: readonly ResponseSegment[]): number[] {
  return segments.flatMap(({ meanLogProbability }) => meanLogProbability ?? []);
}

/** An utterance contains speech if any of its segments does. */
function leastNoSpeechProbability(segments: readonly ResponseSegment[]): number | null {
  const known = segments.flatMap(({ noSpeechProbability }) => noSpeechProbability ?? []);
  return known.length === 0 ? null : known.reduce((least, share) => Math.min(least, share));
}
