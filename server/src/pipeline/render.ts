import { renderJson } from "@subtext/captions/json";
import { renderText } from "@subtext/captions/text";
import { renderVtt } from "@subtext/captions/vtt";
import { normalizeWords } from "@subtext/captions/words";
import type { FileFormat } from "@subtext/client/contract/transcription";
import type { Transcript } from "@subtext/speech/transcript";
import type { Storage } from "../storage/storage.ts";
import { fileKey } from "../storage/transcript-files.ts";

export interface RenderedTranscript {
  wordCount: number;
  files: Record<FileFormat, Uint8Array>;
}

/** The three files of a transcript, from one list of words. */
export function renderTranscript(transcript: Transcript): RenderedTranscript {
  const words = normalizeWords(transcript.words, transcript.duration);
  const utf8 = new TextEncoder();
  return {
    wordCount: words.length,
    files: {
      vtt: utf8.encode(renderVtt(words, { language: transcript.language })),
      json: utf8.encode(renderJson(words)),
      txt: utf8.encode(renderText(words)),
    },
  };
}

export async function storeTranscript(
  storage: Storage,
  prefix: string,
  { files }: RenderedTranscript,
): Promise<void> {
  for (const [format, content] of Object.entries(files)) {
    await storage.put(fileKey(prefix, format as FileFormat), content);
  }
}
