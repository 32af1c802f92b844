import { json } from "node:stream/consumers";
import type { EditableWord } from "@subtext/client/contract/transcript-words";
import { nullIfObjectMissing } from "../storage/object-errors.ts";
import { channelsKey, confidenceKey, fileKey, wordsKey } from "../storage/transcript-files.ts";
import type { TranscriptStore } from "../storage/transcript-store.ts";
import { renderFiles, storeFiles } from "../transcription/render.ts";

/** A word of a corrected transcript. Earlier releases did not store channels. */
type StoredWord = Omit<EditableWord, "channel"> & Partial<Pick<EditableWord, "channel">>;

/**
 * Reads the words of a revision.
 * @param prefix storage prefix of the revision's files
 * @throws AppError `storage_object_missing`
 */
export async function readWords(transcripts: TranscriptStore, prefix: string): Promise<EditableWord[]> {
  const edited = (await readJson(transcripts, wordsKey(prefix)).catch(nullIfObjectMissing)) as
    | StoredWord[]
    | null;
  if (edited) return edited.map((word) => ({ ...word, channel: word.channel ?? null }));
  const [words, confidences, channels] = await Promise.all([
    readJson(transcripts, fileKey(prefix, "json")) as Promise<Pick<EditableWord, "word" | "start" | "end">[]>,
    // The first releases did not store confidences.
    readJson(transcripts, confidenceKey(prefix)).catch(nullIfObjectMissing) as Promise<
      (number | null)[] | null
    >,
    readJson(transcripts, channelsKey(prefix)).catch(nullIfObjectMissing) as Promise<
      (number | null)[] | null
    >,
  ]);
  return words.map(({ word, start, end }, index) => ({
    word,
    start,
    end,
    speaker: null,
    confidence: confidences?.[index] ?? null,
    channel: channels?.[index] ?? null,
  }));
}

/** Renders and stores all files of a revision. The words file is the only one with speakers, confidences and channels. */
export async function storeWords(
  transcripts: TranscriptStore,
  prefix: string,
  { words, language }: { words: readonly EditableWord[]; language: string },
): Promise<void> {
  const spoken = words.map(({ word, start, end, channel }) => ({
    word,
    start,
    end,
    channel: channel ?? undefined,
  }));
  await storeFiles(transcripts, prefix, renderFiles(spoken, language));
  await transcripts.put(wordsKey(prefix), new TextEncoder().encode(JSON.stringify(words)));
}

async function readJson(transcripts: TranscriptStore, key: string): Promise<unknown> {
  return await json(await transcripts.read(key));
}
