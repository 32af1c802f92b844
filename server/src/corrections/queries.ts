import { FILE_FORMATS } from "@subtext/client/contract/transcription";
import type { AuditActor } from "../audit/audit-events.ts";
import type { Db, Tx } from "../db/schema.ts";
import type { TranscriptionRow, TranscriptRevisionRow } from "../db/tables/transcriptions.ts";

/** The columns of a transcription that a correction reads. */
export type CorrectedTranscription = Pick<
  TranscriptionRow,
  | "id"
  | "video_id"
  | "environment_id"
  | "status"
  | "language"
  | "duration"
  | "word_count"
  | "finished_at"
  | "file_prefix"
  | "edited_prefix"
  | "revision"
  | "edit_version"
>;

/** Newest first. Empty if nobody has changed the transcript. */
export async function listRevisions(db: Db, transcriptionId: string): Promise<TranscriptRevisionRow[]> {
  return await db
    .selectFrom("transcript_revision")
    .selectAll()
    .where("transcription_id", "=", transcriptionId)
    .orderBy("number", "desc")
    .execute();
}

export async function findRevision(
  db: Db,
  transcriptionId: string,
  number: number,
): Promise<TranscriptRevisionRow | undefined> {
  return await db
    .selectFrom("transcript_revision")
    .selectAll()
    .where("transcription_id", "=", transcriptionId)
    .where("number", "=", number)
    .executeTakeFirst();
}

export async function referencedPrefixes(db: Db, transcriptionIds: string[]): Promise<Set<string>> {
  if (transcriptionIds.length === 0) return new Set();
  const rows = await db
    .selectFrom("transcript_revision")
    .select("file_prefix")
    .where("transcription_id", "in", transcriptionIds)
    .execute();
  return new Set(rows.map(({ file_prefix }) => file_prefix));
}

export interface NewRevision {
  number: number;
  /** Whether the revision already exists and its content is replaced. */
  continues: boolean;
  prefix: string;
  editSessionId: string | null;
  actor: Pick<AuditActor, "kind" | "id" | "name">;
  wordCount: number;
  changedWords: number;
  now: Date;
}

/**
 * Makes a revision the current one, if nobody has changed the transcript since the row was read.
 * @returns false if somebody has
 */
export async function advanceRevision(
  tx: Tx,
  row: CorrectedTranscription,
  revision: NewRevision,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("transcription")
    .set({
      revision: revision.number,
      edit_version: row.edit_version + 1,
      edited_prefix: revision.prefix,
      // A correction is stored in every format. The recognized original may predate some of them.
      file_formats: JSON.stringify(FILE_FORMATS),
      word_count: revision.wordCount,
    })
    .where("id", "=", row.id)
    .where("status", "=", "COMPLETED")
    .where("revision", "=", row.revision)
    .where("edit_version", "=", row.edit_version)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  if (row.edit_version === 0) await insertOriginal(tx, row);
  const content = {
    file_prefix: revision.prefix,
    word_count: revision.wordCount,
    changed_words: revision.changedWords,
    updated_at: revision.now,
  };
  if (revision.continues) {
    await tx
      .updateTable("transcript_revision")
      .set(content)
      .where("transcription_id", "=", row.id)
      .where("number", "=", revision.number)
      .execute();
    return true;
  }
  await tx
    .insertInto("transcript_revision")
    .values({
      ...content,
      transcription_id: row.id,
      number: revision.number,
      edit_session_id: revision.editSessionId,
      actor_kind: revision.actor.kind,
      actor_id: revision.actor.id,
      actor_name: revision.actor.name,
      created_at: revision.now,
    })
    .execute();
  return true;
}

async function insertOriginal(tx: Tx, row: CorrectedTranscription): Promise<void> {
  const completedAt = row.finished_at!;
  await tx
    .insertInto("transcript_revision")
    .values({
      transcription_id: row.id,
      number: 0,
      file_prefix: row.file_prefix!,
      edit_session_id: null,
      word_count: row.word_count ?? 0,
      changed_words: 0,
      created_at: completedAt,
      updated_at: completedAt,
    })
    .execute();
}
