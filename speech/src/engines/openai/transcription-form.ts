import type { Utterance } from "../engine.ts";
import { wavFile } from "./wav-file.ts";

/** What is known of a server's ways, beyond what all have in common. */
export interface ServerManners {
  /** Whether it can be asked for word times; some refuse a question for what they have not. */
  takesGranularities: boolean;
  /** Whether it is whisper.cpp's own server. */
  isWhisperCpp: boolean;
}

const SAMPLE_RATE = 16_000;
/** whisper.cpp hears nothing in less than a second; silence is added. */
const MIN_SECONDS = 1.1;

/** Languages that Whisper has under another code than ISO 639-1. */
const WHISPER_CODES: Readonly<Record<string, string>> = { jv: "jw", nb: "no", fil: "tl" };

/**
 * The question for a transcript of an utterance, as a form: never for a translation.
 * @param language ISO code to write it down in; null where the server is to tell the language
 */
export function transcriptionForm(
  { samples }: Utterance,
  model: string,
  language: string | null,
  manners: ServerManners,
): FormData {
  const form = new FormData();
  form.set("model", model);
  form.set("response_format", "verbose_json");
  form.set("temperature", "0");
  if (manners.takesGranularities) {
    form.append("timestamp_granularities[]", "word");
    form.append("timestamp_granularities[]", "segment");
  }
  if (manners.isWhisperCpp) {
    form.set("language", "auto");
    form.set("suppress_nst", "true");
  }
  if (language !== null) form.set("language", WHISPER_CODES[language] ?? language);
  const padded = new Float32Array(Math.max(samples.length, Math.ceil(MIN_SECONDS * SAMPLE_RATE)));
  padded.set(samples);
  form.set("file", new Blob([wavFile(padded)], { type: "audio/wav" }), "utterance.wav");
  return form;
}
