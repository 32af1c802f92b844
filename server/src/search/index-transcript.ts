import { text } from "node:stream/consumers";
import { endsClause, endsSentence } from "@subtext/captions/punctuation";
import { hasUnspacedScript, joinWords } from "@subtext/captions/script";
import type { Word } from "@subtext/captions/words";
import type { Logger } from "pino";
import { Type } from "typebox";
import { Value } from "typebox/value";
import type { Db } from "../db/schema.ts";
import type { Clock } from "../lib/clock.ts";
import { isOutage } from "../lib/outages.ts";
import type { ClaimedJob } from "../queue/job.ts";
import { isObjectMissing } from "../storage/object-errors.ts";
import { currentPrefix, fileKey } from "../storage/transcript-files.ts";
import type { TranscriptStore } from "../storage/transcript-store.ts";
import {
  assignShard,
  findUnindexed,
  finishDocument,
  insertPassages,
  type Unindexed,
} from "./document-queries.ts";
import { dictionaryOf, lookUpLexemes, renderVector } from "./lexemes.ts";
import { tokenize } from "./tokens.ts";

const Words = Type.Array(Type.Object({ word: Type.String(), start: Type.Number(), end: Type.Number() }));

export interface IndexDeps {
  db: Db;
  transcripts: TranscriptStore;
  clock: Clock;
  log: Logger;
}

/** Passages per transaction, during which the embedded database runs no other query. */
const BATCH = 250;
/**
 * From this try on, a failure other than an outage is final. With the queue's delays, this try comes a quarter of an hour
 * after the first one.
 */
const MAX_TRIES = 20;

/**
 * Makes a completed transcript searchable, or replaces the passages of its previous words. After a crash, the next run
 * starts again. A transcript that repeatedly fails is logged and left out of the index.
 */
export async function indexTranscript(
  deps: IndexDeps,
  job: ClaimedJob,
  shutdown: AbortSignal,
): Promise<void> {
  const { db, clock, log } = deps;
  const { subjectId: transcriptionId } = job;
  const document = await findUnindexed(db, transcriptionId, job.id);
  if (!document) return;
  const signal = AbortSignal.any([shutdown, job.signal]);
  let passageCount = 0;
  try {
    const passages = cutPassages(await readWords(deps, document));
    passageCount = passages.length;
    if (passages.length > 0) await writePassages(db, document, passages, signal);
    log.info({ transcriptionId, passages: passages.length }, "transcript indexed for search");
  } catch (error) {
    if (signal.aborted || isOutage(error) || job.retryCount + 1 < MAX_TRIES) throw error;
    log.error({ err: error, transcriptionId }, "could not index a transcript; it will not be searchable");
    // Deletes its previous passages too. Some of them may have been replaced already.
    passageCount = 0;
  }
  const finished = { number: document.number, jobId: document.job_id };
  await db.transaction().execute((tx) => finishDocument(tx, finished, { passageCount, now: clock.now() }));
}

async function writePassages(
  db: Db,
  document: Unindexed,
  passages: readonly Passage[],
  signal: AbortSignal,
): Promise<void> {
  const dictionary = document.dictionary ?? (await dictionaryOf(db, document.spoken));
  const shard =
    document.shard ?? (await db.transaction().execute((tx) => assignShard(tx, document, dictionary)));
  const tokens = passages.map(({ text }) => tokenize(text));
  const lexemes = await lookUpLexemes(db, dictionary, tokens.flat());
  for (let from = 0; from < passages.length; from += BATCH) {
    signal.throwIfAborted();
    const rows = passages.slice(from, from + BATCH).map((passage, index) => {
      const ordinal = from + index;
      return { ...passage, ordinal, lexemes: renderVector(tokens[ordinal]!, lexemes, shard) };
    });
    const target = { number: document.number, shard, jobId: document.job_id };
    // Stops if the video was deleted or the transcript was changed in the meantime.
    if (!(await db.transaction().execute((tx) => insertPassages(tx, target, rows)))) return;
  }
}

/** Returns no words if the file is missing or damaged, because a retry would not help. */
async function readWords({ transcripts, log }: IndexDeps, document: Unindexed): Promise<Word[]> {
  const unreadable = (err: unknown, what: string) => {
    log.warn({ err, transcriptionId: document.transcription_id }, `${what}; it will not be searchable`);
    return [];
  };
  let json: string;
  try {
    json = await text(
      await transcripts.read(fileKey(currentPrefix(document) ?? document.file_prefix, "json")),
    );
  } catch (error) {
    if (!isObjectMissing(error)) throw error;
    return unreadable(error, "the words of a transcript are missing");
  }
  try {
    const words: unknown = JSON.parse(json);
    Value.Assert(Words, words);
    return words;
  } catch (error) {
    return unreadable(error, "the words of a transcript are damaged");
  }
}

/** A sentence, or a part of a long one. The unit of search results. */
interface Passage {
  startMs: number;
  endMs: number;
  text: string;
}

/** A pause of this length ends a passage. */
const PAUSE_SECONDS = 2;
/** Maximum length in characters. Characters of scripts without spaces count more, because they are wider. */
const MAX_LENGTH = 240;
const UNSPACED_COST = 2.5;

/**
 * Splits a transcript at the ends of sentences and at pauses. Splits a passage that is still too long at a clause, if
 * possible.
 */
export function cutPassages(words: readonly Word[]): Passage[] {
  const passages: Passage[] = [];
  let current: Word[] = [];
  let length = 0;
  const end = () => {
    if (current.length > 0) passages.push(toPassage(current));
    current = [];
    length = 0;
  };
  for (const word of words) {
    const last = current.at(-1);
    const cost = costOf(word.word);
    if (last && (word.start - last.end >= PAUSE_SECONDS || length + cost > MAX_LENGTH)) end();
    current.push(word);
    length += cost;
    if (endsSentence(word.word) || (length > MAX_LENGTH / 2 && endsClause(word.word))) end();
  }
  end();
  return passages;
}

function toPassage(words: readonly Word[]): Passage {
  return {
    startMs: Math.round(words[0]!.start * 1000),
    endMs: Math.round(words.at(-1)!.end * 1000),
    text: joinWords(words),
  };
}

function costOf(word: string): number {
  return hasUnspacedScript(word) ? word.length * UNSPACED_COST : word.length + 1;
}
