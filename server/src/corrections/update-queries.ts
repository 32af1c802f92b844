import { sql } from "kysely";
import type { Tx } from "../db/schema.ts";

/** Times that determine when the event about changes is due. */
export interface PendingUpdate {
  environmentId: string;
  /** The first change since the last event. */
  firstEditAt: Date;
  lastEditAt: Date;
  /** Null if no event has been sent yet. */
  sentAt: Date | null;
}

/**
 * Locks the row of the pending event until the transaction ends.
 * @returns undefined if the job has nothing to do
 */
export async function lockUpdate(
  tx: Tx,
  transcriptionId: string,
  jobId: string,
): Promise<PendingUpdate | undefined> {
  // Locked first, because a deletion locks the transcription before the rows that belong to it.
  const transcription = await tx
    .selectFrom("transcription")
    .select("environment_id as environmentId")
    .where("id", "=", transcriptionId)
    .forKeyShare()
    .executeTakeFirst();
  const pending = await tx
    .selectFrom("transcript_update")
    .select(["first_edit_at as firstEditAt", "last_edit_at as lastEditAt", "sent_at as sentAt"])
    .where("transcription_id", "=", transcriptionId)
    .where("job_id", "=", jobId)
    .forUpdate()
    .executeTakeFirst();
  return transcription && pending && { ...transcription, ...pending };
}

/**
 * Records a change that an event must announce.
 * @param jobId ID of the job that will send the event if no other job is pending
 * @returns whether the job is needed, and when the last event was sent
 */
export async function recordChange(
  tx: Tx,
  { transcriptionId, jobId, now }: { transcriptionId: string; jobId: string; now: Date },
): Promise<{ isJobNeeded: boolean; sentAt: Date | null }> {
  const { rows } = await sql<{ isJobNeeded: boolean; sentAt: Date | null }>`
    insert into transcript_update as pending (transcription_id, job_id, first_edit_at, last_edit_at)
    values (${transcriptionId}, ${jobId}, ${now}, ${now})
    on conflict (transcription_id) do update set
      first_edit_at = case when pending.job_id is null then excluded.first_edit_at else pending.first_edit_at end,
      job_id = coalesce(pending.job_id, excluded.job_id),
      last_edit_at = excluded.last_edit_at
    returning job_id = ${jobId} as "isJobNeeded", sent_at as "sentAt"`.execute(tx);
  return rows[0]!;
}

/** Call this only in the same transaction as `lockUpdate`. */
export async function postponeUpdate(tx: Tx, transcriptionId: string, jobId: string): Promise<void> {
  await tx
    .updateTable("transcript_update")
    .set({ job_id: jobId })
    .where("transcription_id", "=", transcriptionId)
    .execute();
}

/** Call this only in the same transaction as `lockUpdate`. */
export async function finishUpdate(tx: Tx, transcriptionId: string, sentAt: Date): Promise<void> {
  await tx
    .updateTable("transcript_update")
    .set({ job_id: null, sent_at: sentAt })
    .where("transcription_id", "=", transcriptionId)
    .execute();
}
