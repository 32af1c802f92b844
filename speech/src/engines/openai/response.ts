import { SpeechError } from "../../errors.ts";
import { languageCode } from "../../lib/language-codes.ts";

/** Text with its time in the utterance: a word, a part of a word, or a segment. */
export interface ResponsePiece {
  /** The server's text, including whitespace at its ends. */
  text: string;
  /** Seconds of the utterance; null if missing or impossible. */
  start: number | null;
  end: number | null;
  /** 0 … 1; null if missing. */
  probability: number | null;
}

export interface ResponseSegment extends ResponsePiece {
  /** Mean log-probability of its tokens, ≤ 0; null if missing. */
  meanLogProbability: number | null;
  noSpeechProbability: number | null;
}

/** A server's response to `POST /audio/transcriptions`. Only the format `verbose_json` has more than the text. */
export interface TranscriptionResponse {
  /** Empty if nothing was recognized. */
  text: string;
  /** ISO code; null if missing. */
  language: string | null;
  segments: ResponseSegment[];
  /** Words, or parts of words, in the server's order. */
  words: ResponsePiece[];
  /** Whether the server is whisper.cpp's, which assumes English unless told otherwise, and transcribes noises. */
  fromWhisperCpp: boolean;
}

export const LEAST_LOG_PROBABILITY = Math.log(1e-6);

type JsonObject = Record<string, unknown>;

/** Most servers report times in seconds. Some report other units, e.g. Go programs nanoseconds. */
const TIME_UNITS = [1, 1e-3, 1e-6, 1e-9];
/** Times may be outside the utterance by this much, because models round times and pad short audio. */
const SPARE_SECONDS = 1;

/**
 * Parses a response. Servers differ: words are next to the segments (OpenAI, speaches), inside the segments and split
 * (whisper.cpp), or missing (vLLM, LocalAI). Languages are names or codes. Numbers may be strings, null, or −1 if
 * unknown.
 * @param seconds length of the utterance
 * @throws SpeechError `engine_answer_invalid` if the response is not a transcription
 */
export function parseResponse(body: string, seconds: number): TranscriptionResponse {
  const answer = parseObject(body);
  const segments = objects(answer.segments);
  const ownWords = objects(answer.words);
  if (typeof answer.text !== "string" && segments.length === 0 && ownWords.length === 0) {
    throw new SpeechError("engine_answer_invalid", `The response has no text${errorSuffix(answer.error)}.`);
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

/**
 * Parses a response to `response_format=text`. Some servers send JSON nevertheless.
 * @throws SpeechError `engine_answer_invalid` if the response is an HTML page
 */
export function parseText(body: string, seconds: number): TranscriptionResponse {
  const text = body.trim();
  if (/^[{[]\s*"/.test(text)) return parseResponse(text, seconds);
  if (text.startsWith("<")) {
    throw new SpeechError("engine_answer_invalid", `The response is not a transcription: ${excerpt(text)}.`);
  }
  return { text, language: null, segments: [], words: [], fromWhisperCpp: false };
}

function parseObject(body: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (cause) {
    const message = `The response is not JSON: it begins with ${excerpt(body)}.`;
    throw new SpeechError("engine_answer_invalid", message, { cause });
  }
  // Some versions of whisper.cpp wrap the response in an array.
  const answer = Array.isArray(value) ? value[0] : value;
  if (isObject(answer)) return answer;
  throw new SpeechError("engine_answer_invalid", `The response is not a transcription: ${excerpt(body)}.`);
}

/** Returns the start of a server's text on one line, in quotes. */
export function excerpt(text: string): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, " ").trim();
  return `"${line.length > 200 ? `${line.slice(0, 200)}…` : line}"`;
}

function errorSuffix(error: unknown): string {
  if (error === undefined || error === null) return "";
  return `, but an error: ${excerpt(typeof error === "string" ? error : serialized(error))}`;
}

/** Returns only the type if the value is nested too deeply to serialize. */
function serialized(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return typeof value;
  }
}

function toSegment(segment: JsonObject, unit: number, seconds: number): ResponseSegment {
  const ratio = number(segment.compression_ratio);
  // Servers use 0 or −1 for unknown values. A real ratio is positive.
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

function toPiece(piece: JsonObject, text: string, unit: number, seconds: number): ResponsePiece {
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

/** Returns the first unit in which most times are inside the utterance. */
function timeUnit(pieces: readonly JsonObject[], seconds: number): number {
  const ends = pieces.map(({ end }) => number(end)).filter((end) => end !== null);
  const middle = ends.toSorted((a, b) => a - b)[Math.floor(ends.length / 2)] ?? 0;
  return TIME_UNITS.find((unit) => middle * unit <= seconds + SPARE_SECONDS) ?? 1;
}

/**
 * Whisper.cpp usually reports `detected_language`. Otherwise it is identified by words with probabilities in segments
 * that lack OpenAI's field `seek`.
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
