import { randomUUID } from "node:crypto";
import type {
  EditableWord,
  SavedWords,
  TranscriptWordsChange,
} from "@subtext/client/contract/transcript-words";
import { type AuditActor, recordVideoEvent } from "../audit/audit-events.ts";
import type { Db, Tx } from "../db/schema.ts";
import type { TranscriptRevisionRow } from "../db/tables/transcriptions.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { newJobId, type Queue } from "../queue/queue.ts";
import { reindexTranscript } from "../search/document-queries.ts";
import { isObjectMissing, nullIfObjectMissing } from "../storage/object-errors.ts";
import { currentPrefix, editPrefix } from "../storage/transcript-files.ts";
import type { TranscriptStore } from "../storage/transcript-store.ts";
import { checkWords, keepChannels } from "./check-words.ts";
import { matchesCurrent, wordsEtag } from "./etag.ts";
import { advanceRevision, type CorrectedTranscription, findRevision } from "./queries.ts";
import { announceChange } from "./updated-event.ts";
import { readWords, storeWords } from "./words-file.ts";

export interface CorrectionDeps {
  db: Db;
  queue: Queue;
  clock: Clock;
  transcripts: TranscriptStore;
}

/** Who is changing a transcript, and which version they read. */
export interface Correction {
  /** The request's `If-Match`. */
  ifMatch: string | undefined;
  actor: AuditActor;
  /** Name in the list of revisions. */
  actorName: string | null;
}

/** A change whose files are stored but that is not visible yet. */
export interface PreparedCorrection {
  /**
   * Makes the change visible.
   * @throws AppError `transcript_changed`
   */
  commit(tx: Tx): Promise<SavedWords>;
}

/** A save continues the revision of its editing session if the last save was less than this long ago. */
const EDIT_SESSION_MS = 10 * 60_000;

/** @throws AppError `transcription_not_found`, `transcription_not_completed` */
export function requireCompleted<Row extends CorrectedTranscription>(row: Row | undefined): Row {
  if (!row) throw new AppError("transcription_not_found", "The video has no transcription.");
  if (row.status === "COMPLETED") return row;
  throw new AppError(
    "transcription_not_completed",
    `The transcription is ${row.status}. Only the words of a COMPLETED transcription can be read or changed.`,
  );
}

/**
 * Checks new words and stores their files. Nothing refers to the files until the commit, so a crash leaves only orphaned
 * files, which the sweep removes.
 * @throws AppError `invalid_words`, `precondition_required`, storage errors
 */
export async function prepareCorrection(
  deps: CorrectionDeps,
  row: CorrectedTranscription,
  { words, editSessionId }: TranscriptWordsChange,
  correction: Correction,
): Promise<PreparedCorrection> {
  if (!matchesCurrent(correction.ifMatch, row)) return STALE;
  const lacksChannels = words.some(({ channel }) => channel === undefined);
  const current = lacksChannels
    ? await readWords(deps.transcripts, currentPrefix(row)!).catch(emptyIfMissing)
    : [];
  const withChannels = lacksChannels ? keepChannels(words, current) : words;
  const checked = checkWords(withChannels, row.duration ?? Number.POSITIVE_INFINITY);
  return await prepare(deps, row, checked, {
    ...correction,
    editSessionId: editSessionId ?? null,
    action: "transcript.edited",
  });
}

/**
 * Prepares a new revision with the words of an earlier one.
 * @throws AppError `revision_not_found`, `precondition_required`, storage errors
 */
export async function prepareRestore(
  deps: CorrectionDeps,
  row: CorrectedTranscription,
  number: number,
  correction: Correction,
): Promise<PreparedCorrection> {
  if (!matchesCurrent(correction.ifMatch, row)) return STALE;
  const words = await readRevision(deps, row, number);
  return await prepare(deps, row, words, {
    ...correction,
    editSessionId: null,
    action: "transcript.restored",
  });
}

/** @throws AppError `revision_not_found`, storage errors */
export async function readRevision(
  { db, transcripts }: Pick<CorrectionDeps, "db" | "transcripts">,
  row: CorrectedTranscription,
  number: number,
): Promise<EditableWord[]> {
  const revision = await findRevision(db, row.id, number);
  const prefix = number === 0 ? row.file_prefix : revision?.file_prefix;
  if (!prefix) throw new AppError("revision_not_found", `The transcript has no revision ${number}.`);
  return await readWords(transcripts, prefix);
}

const STALE: PreparedCorrection = { commit: async () => throwStale() };

async function prepare(
  deps: CorrectionDeps,
  row: CorrectedTranscription,
  words: readonly EditableWord[],
  {
    actor,
    actorName,
    editSessionId,
    action,
  }: Correction & {
    editSessionId: string | null;
    action: "transcript.edited" | "transcript.restored";
  },
): Promise<PreparedCorrection> {
  const { db, queue, clock, transcripts } = deps;
  const now = clock.now();
  const current = await findRevision(db, row.id, row.revision);
  const continues = current !== undefined && isSameEditSession(current, { actor, editSessionId, now });
  const number = continues ? row.revision : row.revision + 1;
  const before = await readRevision(deps, row, number - 1).catch(emptyIfMissing);
  const version = row.edit_version + 1;
  const random = randomUUID().slice(0, 8);
  const prefix = editPrefix(row.id, { version, savedAt: now, random });
  await storeWords(transcripts, prefix, { words, language: row.language ?? "und" });

  return {
    async commit(tx) {
      const revision = {
        number,
        continues,
        prefix,
        editSessionId,
        actor: { ...actor, name: actorName },
        wordCount: words.length,
        changedWords: countChanges(before, words),
        now,
      };
      if (!(await advanceRevision(tx, row, revision))) throwStale();
      const jobId = newJobId();
      await reindexTranscript(tx, { transcriptionId: row.id, environmentId: row.environment_id, jobId });
      await queue.send(tx, "index", { id: jobId, subjectId: row.id });
      await announceChange({ tx, queue, now }, row.id);
      if (!continues) {
        const subject = { environmentId: row.environment_id, videoId: row.video_id };
        await recordVideoEvent({ tx, clock }, actor, action, subject);
      }
      return { etag: wordsEtag({ revision: number, edit_version: version }), revision: number };
    },
  };
}

function isSameEditSession(
  current: TranscriptRevisionRow,
  { actor, editSessionId, now }: { actor: AuditActor; editSessionId: string | null; now: Date },
): boolean {
  return (
    editSessionId !== null &&
    current.edit_session_id === editSessionId &&
    current.actor_kind === actor.kind &&
    current.actor_id === actor.id &&
    now.getTime() - current.updated_at.getTime() < EDIT_SESSION_MS
  );
}

/** Counts the words that differ. A changed word counts once, even though it is both removed and added. */
function countChanges(before: readonly EditableWord[], after: readonly EditableWord[]): number {
  const identify = ({ word, start, end, speaker }: EditableWord) =>
    JSON.stringify([word, start, end, speaker]);
  const [old, current] = [new Set(before.map(identify)), new Set(after.map(identify))];
  return Math.max(old.difference(current).size, current.difference(old).size);
}

/** A lost file must not prevent corrections. */
function emptyIfMissing(error: unknown): EditableWord[] {
  return nullIfObjectMissing(error) ?? [];
}

function throwStale(): never {
  throw new AppError(
    "transcript_changed",
    "The transcript has changed since you read it. Read the words again and repeat your change.",
  );
}

/** @throws AppError `file_not_found`, storage errors */
export async function readCurrentWords(
  transcripts: TranscriptStore,
  row: CorrectedTranscription,
): Promise<EditableWord[]> {
  try {
    return await readWords(transcripts, currentPrefix(row)!);
  } catch (error) {
    if (!isObjectMissing(error)) throw error;
    throw new AppError("file_not_found", "The transcript's files no longer exist.", { cause: error });
  }
}
