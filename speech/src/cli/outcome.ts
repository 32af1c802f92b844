import type { SpeechErrorCode } from "../errors.ts";
import type { TranscribeResult, Transcript } from "../transcript.ts";
import { paragraphsOf } from "./paragraphs.ts";

export interface OutcomeError {
  /** One of `SPEECH_ERRORS`; the system's own (`ENOENT`) if the file cannot be opened; else `internal_error`. */
  code: SpeechErrorCode | (string & {});
  message: string;
}

/** The result for one file. */
export type FileOutcome = TranscribeResult | { outcome: "failed"; error: OutcomeError };

export interface OutcomeForm {
  form: "text" | "json" | "words";
  /** Whether several files were named: then each result names its file. */
  several: boolean;
}

/** Renders the result for one file; empty if there is nothing to print. */
export function renderOutcome(file: string, outcome: FileOutcome, { form, several }: OutcomeForm): string {
  if (form === "json") return `${JSON.stringify(jsonOf(file, outcome))}\n`;
  if (outcome.outcome !== "transcribed") return "";
  if (form === "words") return wordLines(file, outcome, several);
  const text = paragraphsOf(outcome.words)
    .map((paragraph) => `${paragraph}\n`)
    .join("\n");
  return several ? `==> ${file} <==\n${text}\n` : text;
}

function jsonOf(file: string, outcome: FileOutcome) {
  if (outcome.outcome !== "transcribed") return { file, ...outcome };
  const { language, duration, words, languageSegments, engine, decoder, incomplete } = outcome;
  return {
    file,
    outcome: outcome.outcome,
    language,
    duration,
    words: words.map(({ word, start, end, confidence }) => ({
      word,
      start,
      end,
      confidence: Math.round(confidence * 1000) / 1000,
    })),
    languageSegments,
    engine,
    decoder,
    incomplete,
  };
}

function wordLines(file: string, { words }: Transcript, several: boolean): string {
  const before = several ? `${file}\t` : "";
  return words
    .map(({ word, start, end }) => `${before}${start.toFixed(3)}\t${end.toFixed(3)}\t${word}\n`)
    .join("");
}
