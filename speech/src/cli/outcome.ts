import type { SpeechErrorCode } from "../errors.ts";
import type { TimedWord, TranscribeResult, Transcript } from "../transcript.ts";

export interface OutcomeError {
  /** A code of `SPEECH_ERRORS`, a system error such as `ENOENT` if the file cannot be opened, or `internal_error`. */
  code: SpeechErrorCode | (string & {});
  message: string;
}

export type FileOutcome = TranscribeResult | { outcome: "failed"; error: OutcomeError };

export interface OutcomeForm {
  form: "text" | "json" | "words";
  /** Whether to print the file's name with its result. */
  withFileName: boolean;
}

const PARAGRAPH_PAUSE_SECONDS = 2;

const IDEOGRAPHS = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\u3001-\u303f\u30fb\u30fc\uff01-\uff60`;
const UNSPACED = String.raw`${IDEOGRAPHS}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`;
/** Matches two characters of scripts without spaces, and an ideograph next to a digit. */
const NO_SPACE = new RegExp(
  `^(?:[${UNSPACED}][${UNSPACED}]|[${IDEOGRAPHS}]\\p{Nd}|\\p{Nd}[${IDEOGRAPHS}])$`,
  "u",
);

/** Returns an empty string if there is nothing to print. */
export function renderOutcome(
  file: string,
  outcome: FileOutcome,
  { form, withFileName }: OutcomeForm,
): string {
  if (form === "json") return `${JSON.stringify(jsonOf(file, outcome))}\n`;
  if (outcome.outcome !== "transcribed") return "";
  if (form === "words") return wordLines(outcome, withFileName ? `${file}\t` : "");
  const text = paragraphsOf(outcome.words)
    .map((paragraph) => `${paragraph}\n`)
    .join("\n");
  return withFileName ? `==> ${file} <==\n${text}\n` : text;
}

function jsonOf(file: string, outcome: FileOutcome) {
  if (outcome.outcome !== "transcribed") return { file, ...outcome };
  const { language, duration, words, languageSegments, engine, decoder, incomplete } = outcome;
  return {
    file,
    outcome: outcome.outcome,
    language,
    duration,
    words: words.map(({ word, start, end, confidence, channel }) => ({
      word,
      start,
      end,
      confidence: Math.round(confidence * 1000) / 1000,
      ...(channel && { channel }),
    })),
    languageSegments,
    engine,
    decoder,
    incomplete,
  };
}

function wordLines({ words }: Transcript, prefix: string): string {
  return words
    .map(({ word, start, end }) => `${prefix}${start.toFixed(3)}\t${end.toFixed(3)}\t${word}\n`)
    .join("");
}

/** Joins words into paragraphs, which are separated by long pauses and changes of channel. */
export function paragraphsOf(words: readonly TimedWord[]): string[] {
  const paragraphs: string[] = [];
  let previous: TimedWord | undefined;
  for (const next of words) {
    if (
      previous !== undefined &&
      previous.channel === next.channel &&
      next.start - previous.end < PARAGRAPH_PAUSE_SECONDS
    ) {
      const space = needsSpace(previous.word, next.word) ? " " : "";
      paragraphs.push(`${paragraphs.pop()}${space}${next.word}`);
    } else paragraphs.push(next.word);
    previous = next;
  }
  return paragraphs;
}

function needsSpace(before: string, after: string): boolean {
  return !NO_SPACE.test(`${[...before].at(-1)}${[...after][0]}`);
}
