import type { SpeechErrorCode } from "../errors.ts";
import type { TranscribeResult, Transcript } from "../transcript.ts";
import { paragraphsOf } from "./paragraphs.ts";

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
