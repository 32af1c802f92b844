import { text } from "node:stream/consumers";
import type { Word } from "@subtext/captions/words";
import type { Logger } from "pino";
import type { Clock } from "../clock.ts";
import type { Db } from "../db/schema.ts";
import {
  findUnindexed,
  finishDocument,
  insertPassages,
  placeDocument,
  type Unindexed,
} from "../db/search-documents.ts";
import { AppError } from "../errors.ts";
import type { Job } from "../queue.ts";
import { dictionaryOf, lookUp, renderVector, wordsOf } from "../search/lexemes.ts";
import { cutPassages, type Passage } from "../search/passages.ts";
import { tokenize } from "../search/tokens.ts";
import type { Storage } from "../storage/storage.ts";
import { fileKey } from "../storage/transcript-files.ts";

export interface IndexDeps {
  db: Db;
  storage: Storage;
  clock: Clock;
  log: Logger;
}

/** Passages are written so many at a time: the embedded database answers nobody else meanwhile. */
const BATCH = 250;

/**
 * Makes a completed transcript searchable, from its stored words, which never change. Run again after a
 * crash, it finds what is written already and writes the rest.
 */
export async function indexTranscript(deps: IndexDeps, job: Job, shutdown: AbortSignal): Promise<void> {
  const { db, clock, log } = deps;
  const document = await findUnindexed(db, job.subjectId, job.id);
  if (!document) return;
  const passages = cutPassages(await readWords(deps, document));
  const signal = AbortSignal.any([shutdown, job.signal]);
  if (passages.length > 0) await writePassages(db, document, passages, signal);
  await finishDocument(db, document.number, clock.now());
  log.info({ transcriptionId: job.subjectId, passages: passages.length }, "transcript indexed for search");
}

async function writePassages(
  db: Db,
  document: Unindexed,
  passages: readonly Passage[],
  signal: AbortSignal,
): Promise<void> {
  const dictionary = document.dictionary ?? (await dictionaryOf(db, document.spoken));
  const shard =
    document.shard ?? (await db.transaction().execute((tx) => placeDocument(tx, document, dictionary)));
  const tokens = passages.map(({ text }) => tokenize(text));
  const lexemes = await lookUp(db, dictionary, tokens.flatMap(wordsOf));
  for (let from = 0; from < passages.length; from += BATCH) {
    signal.throwIfAborted();
    const rows = passages.slice(from, from + BATCH).map((passage, index) => {
      const ordinal = from + index;
      return { ...passage, ordinal, lexemes: renderVector(tokens[ordinal]!, lexemes, shard) };
    });
    const place = { number: document.number, shard };
    // False where its video was deleted meanwhile.
    if (!(await db.transaction().execute((tx) => insertPassages(tx, place, rows)))) return;
  }
}

async function readWords({ storage, log }: IndexDeps, document: Unindexed): Promise<Word[]> {
  try {
    return JSON.parse(await text(await storage.read(fileKey(document.file_prefix, "json")))) as Word[];
  } catch (error) {
    if (!(error instanceof AppError && error.code === "storage_object_missing")) throw error;
    // Nothing will bring it back; a job that fails for ever would.
    log.warn(
      { transcriptionId: document.transcription_id },
      "the words of a transcript are gone; it can not be searched",
    );
    return [];
  }
}
