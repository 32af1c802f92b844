import { SpeechError } from "../../errors.ts";
import { languageCode } from "../../lib/language-codes.ts";

/** Text of an answer with its time in the utterance: a word, a piece of one, or a whole segment. */
export interface AnswerPiece {
  /** As the server wrote it, with white space at its ends where it did. */
  text: string;
  /** Seconds of the utterance; null where the server told none, or none that can be. */
  start: number | null;
  end: number | null;
  /** 0 … 1; null where the server does not say. */
  probability: number | null;
}

/** What a server calls a segment, with what it says of its decoding. */
export interface AnswerSegment extends AnswerPiece {
  /** Mean log-probability of its tokens, ≤ 0; null where the server does not say. */
  meanLogProbability: number | null;
  noSpeechProbability: number | null;
}

/** An answer to `POST /audio/transcriptions` with `response_format=verbose_json`, whoever gave it. */
export interface Answer {
  /** All of it; empty where nothing was heard. */
  text: string;
  /** ISO code; null where the server tells none. */
  language: string | null;
  segments: AnswerSegment[];
  /** Words, or pieces of words, in the order in which the server told them. */
  words: AnswerPiece[];
  /**
   * Whether this is an answer of whisper.cpp's own server, which takes everything for English unless it is
   * asked to tell the language, and writes down noises.
   */
  fromWhisperCpp: boolean;
}

/** Less likely than this is as good as impossible. */
export const LEAST_LOG_PROBABILITY = Math.log(1e-6);

type JsonObject = Record<string, unknown>;

/** Servers tell times in seconds, or (Go programs that print durations) in nanoseconds. */
const TIME_UNITS = [1, 1e-3, 1e-6, 1e-9];
/** Times may stand this much outside of the utterance: models round, and pad what is short. */
const SPARE_SECONDS = 1;

/**
 * Reads an answer, whatever server it is from. They differ: words beside the segments (OpenAI, speaches),
 * pieces of words inside of them (whisper.cpp), none at all (vLLM, LocalAI); languages as names or codes;
 * numbers as strings, as null, or as −1 for "not known".
 * @param seconds length of the utterance
 * @throws SpeechError `engine_answer_invalid` where it is no transcription
 */
export function parseAnswer(body: string, seconds: number): Answer {
  const answer = parseObject(body);
  const segments = objects(answer.segments);
  const ownWords = objects(answer.words);
  if (typeof answer.text !== "string" && segments.length === 0 && ownWords.length === 0) {
    throw new SpeechError("engine_answer_invalid", `The answer has no text${told(answer.error)}.`);
  }
  const words = ownWords.length > 0 ? ownWords : segments.flatMap((segment) => objects(segment.words));
  const wordUnit = timeUnit(words, seconds);
  const segmentUnit = timeUnit(segments, seconds);
  return {
    text: string(answer.text),
    language: languageCode(string(answer.language)),
    segments: segments.map((segment) => toSegment(segment, segmentUnit, seconds)),
    words: words.map((word) => toPiece(word, "word", wordUnit, seconds)),
    fromWhisperCpp: isFromWhisperCpp(answer, segments),
  };
}

function parseObject(body: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (cause) {
    const message = `The answer is not JSON: it begins with ${excerpt(body)}.`;
    throw new SpeechError("engine_answer_invalid", message, { cause });
  }
  // Some versions of whisper.cpp's server wrap the one answer in a list.
  const answer = Array.isArray(value) ? value[0] : value;
  if (isObject(answer)) return answer;
  throw new SpeechError("engine_answer_invalid", `The answer is no transcription: ${excerpt(body)}.`);
}

/** The start of what a server wrote, on one line, for a message. */
export function excerpt(text: string): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, " ").trim();
  return `"${line.length > 200 ? `${line.slice(0, 200)}…` : line}"`;
}

function told(error: unknown): string {
  if (error === undefined || error === null) return "";
  return `, but an error: ${excerpt(typeof error === "string" ? error : written(error))}`;
}

/** What a server wrote, or what kind of thing where that is too deeply nested to be written again. */
function written(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return typeof value;
  }
}

function toSegment(segment: JsonObject, unit: number, seconds: number): AnswerSegment {
  const ratio = number(segment.compression_ratio);
  // Servers fill what they do not know with 0 or −1; a ratio can not be that.
  const isPlaceholder = ratio !== null && ratio <= 0;
  const logProbability = number(segment.avg_logprob);
  return {
    ...toPiece(segment, "text", unit, seconds),
    meanLogProbability:
      isPlaceholder || logProbability === null
        ? null
        : Math.min(0, Math.max(LEAST_LOG_PROBABILITY, logProbability)),
    noSpeechProbability: probability(segment.no_speech_prob),
  };
}

function toPiece(piece: JsonObject, text: string, unit: number, seconds: number): AnswerPiece {
  const time = (value: unknown) => {
    const at = number(value);
    if (at === null || at * unit < -SPARE_SECONDS || at * unit > seconds + SPARE_SECONDS) return null;
    return Math.min(seconds, Math.max(0, at * unit));
  };
  const start = time(piece.start);
  const end = time(piece.end);
  return {
    text: string(piece[text]),
    start,
    end: start !== null && end !== null && end < start ? null : end,
    probability: probability(piece.probability),
  };
}

/** The unit in which most times lie inside the utterance. */
function timeUnit(pieces: readonly JsonObject[], seconds: number): number {
  const ends = pieces.map(({ end }) => number(end)).filter((end) => end !== null);
  const middle = ends.toSorted((a, b) => a - b)[Math.floor(ends.length / 2)] ?? 0;
  return TIME_UNITS.find((unit) => middle * unit <= seconds + SPARE_SECONDS) ?? 1;
}

/**
 * It tells the language that it would have heard; if that is turned off, it is known by pieces of words
 * with probabilities in segments that are not OpenAI's otherwise.
 */
function isFromWhisperCpp(answer: JsonObject, segments: readonly JsonObject[]): boolean {
  if ("detected_language" in answer) return true;
  if ("words" in answer) return false;
  return segments.some(
    (segment) => !("seek" in segment) && objects(segment.words).some((word) => "probability" in word),
  );
}

function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function string(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function probability(value: unknown): number | null {
  const share = number(value);
  return share === null || share < 0 || share > 1 ? null : share;
}

function number(value: unknown): number | null {
  const parsed = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof parsed === "number" && Number.isFinite(parsed) ? parsed : null;
}
