import { renderJson } from "@subtext/captions/json";
import { renderText } from "@subtext/captions/text";
import { renderVtt } from "@subtext/captions/vtt";
import { normalizeWords, type Word } from "@subtext/captions/words";
import type { FileFormat } from "@subtext/client/contract/transcription";
import type { Transcript } from "@subtext/speech/transcript";
import type { Waveform } from "@subtext/speech/waveform";
import { channelsKey, confidenceKey, fileKey, waveformKey } from "../storage/transcript-files.ts";
import type { TranscriptStore } from "../storage/transcript-store.ts";

export interface RenderedTranscript {
  wordCount: number;
  files: Record<FileFormat, Uint8Array>;
  /** JSON with the confidence of each word. Only the dashboard uses it. */
  confidences: Uint8Array;
  /** JSON with the channel of each word; null if the channels were mixed. */
  channels: Uint8Array | null;
}

/** Renders all formats from the same list of words. */
export function renderTranscript(transcript: Transcript): RenderedTranscript {
  const words = normalizeWords(transcript.words, transcript.duration);
  const confidences = JSON.stringify(words.map(({ confidence }) => rounded(confidence)));
  const channels = words.map(({ channel }) => channel ?? null);
  const utf8 = new TextEncoder();
  return {
    wordCount: words.length,
    files: renderFiles(words, transcript.language),
    confidences: utf8.encode(confidences),
    channels: channels.some((channel) => channel !== null) ? utf8.encode(JSON.stringify(channels)) : null,
  };
}

/** @param words normalized; see `normalizeWords` */
export function renderFiles(words: readonly Word[], language: string): Record<FileFormat, Uint8Array> {
  const utf8 = new TextEncoder();
  return {
    vtt: utf8.encode(renderVtt(words, { language })),
    json: utf8.encode(renderJson(words)),
    txt: utf8.encode(renderText(words)),
  };
}

export async function storeTranscript(
  transcripts: TranscriptStore,
  prefix: string,
  { files, confidences, channels }: RenderedTranscript,
): Promise<void> {
  await storeFiles(transcripts, prefix, files);
  await transcripts.put(confidenceKey(prefix), confidences);
  if (channels !== null) await transcripts.put(channelsKey(prefix), channels);
}

export async function storeFiles(
  transcripts: TranscriptStore,
  prefix: string,
  files: Record<FileFormat, Uint8Array>,
): Promise<void> {
  for (const [format, content] of Object.entries(files)) {
    await transcripts.put(fileKey(prefix, format as FileFormat), content);
  }
}

export async function storeWaveform(
  transcripts: TranscriptStore,
  prefix: string,
  waveform: Waveform,
): Promise<void> {
  await transcripts.put(waveformKey(prefix), Buffer.from(JSON.stringify(waveform)));
}

/** Returns null if the engine reported no confidence. */
function rounded(confidence: number | undefined): number | null {
  return confidence === undefined ? null : Math.round(confidence * 100) / 100;
}
