import { SAMPLE_RATE } from "../../media/audio.ts";
import type { Utterance } from "../../vad/utterances.ts";
import { wavFile } from "./wav-file.ts";

export interface RequestFormat {
  responseFormat: "verbose_json" | "json" | "text";
  hasWordTimes: boolean;
}

/** Most detailed first. */
export const REQUEST_FORMATS: readonly [RequestFormat, ...RequestFormat[]] = [
  { responseFormat: "verbose_json", hasWordTimes: true },
  { responseFormat: "verbose_json", hasWordTimes: false },
  { responseFormat: "json", hasWordTimes: false },
  { responseFormat: "text", hasWordTimes: false },
];

/** Properties of a server, learned from its responses. */
export interface ServerQuirks {
  /** The most detailed format that the server accepts. */
  format: RequestFormat;
  isWhisperCpp: boolean;
  rejectsPrompt: boolean;
}

export interface TranscriptionRequest {
  /** ISO code; null to let the server detect the language. */
  language: string | null;
  /** Terms that may be spoken, as text; may be empty. */
  prompt: string;
}

/** whisper.cpp ignores audio shorter than a second, so silence is appended. */
const MIN_SECONDS = 1.1;

/** Codes that Whisper uses instead of ISO 639-1. */
const WHISPER_CODES: Readonly<Record<string, string>> = { jv: "jw", nb: "no", fil: "tl" };

export function transcriptionForm(
  { samples }: Utterance,
  model: string,
  { language, prompt }: TranscriptionRequest,
  quirks: ServerQuirks,
): FormData {
  const form = new FormData();
  form.set("model", model);
  form.set("response_format", quirks.format.responseFormat);
  form.set("temperature", "0");
  if (quirks.format.hasWordTimes) {
    form.append("timestamp_granularities[]", "word");
    form.append("timestamp_granularities[]", "segment");
  }
  if (quirks.isWhisperCpp) {
    form.set("language", "auto");
    form.set("suppress_nst", "true");
  }
  if (prompt !== "" && !quirks.rejectsPrompt) form.set("prompt", prompt);
  if (language !== null) form.set("language", WHISPER_CODES[language] ?? language);
  const padded = new Float32Array(Math.max(samples.length, Math.ceil(MIN_SECONDS * SAMPLE_RATE)));
  padded.set(samples);
  form.set("file", new Blob([wavFile(padded)], { type: "audio/wav" }), "utterance.wav");
  return form;
}
