import { json } from "node:stream/consumers";
import { renderJson } from "@subtext/captions/json";
import { renderText } from "@subtext/captions/text";
import { renderVtt } from "@subtext/captions/vtt";
import type { EditableWord } from "@subtext/client/contract/transcript-words";
import type { FileFormat } from "@subtext/client/contract/transcription";
import { AppError } from "../lib/errors.ts";
import { confidenceKey, fileKey, wordsKey } from "../storage/transcript-files.ts";
import type { TranscriptStore } from "../storage/transcript-store.ts";

/**
 * Reads the words of a revision.
 * @param prefix of its files
 * @throws AppError `storage_object_missing`
 */
export async function readWords(transcripts: TranscriptStore, prefix: string): Promise<EditableWord[]> {
  const edited = (await readJson(transcripts, wordsKey(prefix)).catch(nullIfMissing)) as
    | EditableWord[]
    | null;
  if (edited) return edited;
  const [words, confidences] = await Promise.all([
    readJson(transcripts, fileKey(prefix, "json")) as Promise<Pick<EditableWord, "word" | "start" | "end">[]>,
    // The first releases did not store confidences.
    readJson(transcripts, confidenceKey(prefix)).catch(nullIfMissing) as Promise<(number | null)[] | null>,
  ]);
  return words.map(({ word, start, end }, index) => ({
    word,
    start,
    end,
    speaker: null,
    confidence: confidences?.[index] ?? null,
  }));
}

/** Renders and stores all files of a revision. The words file is the only one with speakers and confidences. */
export async function storeWords(
  transcripts: TranscriptStore,
  prefix: string,
  { words, language }: { words: readonly EditableWord[]; language: string },
): Promise<void> {
  const files: [FileFormat, string][] = [
    ["vtt", renderVtt(words.map(asSpoken), { language })],
    ["json", renderJson(words.map(asSpoken))],
    ["txt", renderText(words.map(asSpoken))],
  ];
  const utf8 = new TextEncoder();
  for (const [format, content] of files) await transcripts.put(fileKey(prefix, format), utf8.encode(content));
  await transcripts.put(wordsKey(prefix), utf8.encode(JSON.stringify(words)));
}

function asSpoken({ word, start, end }: EditableWord) {
  return { word, start, end };
}

async function readJson(transcripts: TranscriptStore, key: string): Promise<unknown> {
  return await json(await transcripts.read(key));
}

function nullIfMissing(error: unknown): null {
  if (error instanceof AppError && error.code === "storage_object_missing") return null;
  throw error;
}
