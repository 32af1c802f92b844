import { type RawBuilder, sql } from "kysely";
import type { Tx } from "./schema.ts";

/** The first half of the locks' keys, which no other lock of the service has. */
const LOCK_CLASS = 0x5b_7e_48;

/**
 * Until the transaction ends, nobody else finds this environment at its cap or below it, and none of its attempts
 * ends. Whoever holds this lock waits for no other.
 * @returns how many of the environment's transcriptions are PROCESSING
 */
export async function lockProcessingCount(tx: Tx, environmentId: string): Promise<number> {
  await lock(tx, environmentId, sql`pg_advisory_xact_lock`);
  // A statement of its own: it sees what was committed while the lock was waited for.
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from transcription
    where environment_id = ${environmentId} and status = 'PROCESSING'`.execute(tx);
  return rows[0]!.count;
}

/** Under `lockProcessingCount`: the transcription gives up its job until `unparkOldest` comes to it. */
export async function park(tx: Tx, id: string, now: Date): Promise<void> {
  await tx.updateTable("transcription").set({ parked_at: now }).where("id", "=", id).execute();
}

/**
 * Gives the transcription of the environment that is parked and waits longest a job again. Called by each
 * transaction that ends an attempt, after it has: whoever parks another at that moment is waited for.
 * @returns its id, or undefined where none is parked
 */
export async function unparkOldest(
  tx: Tx,
  environmentId: string,
  jobId: string,
): Promise<string | undefined> {
  // Shared: attempts that end at one time need not wait for each other.
  await lock(tx, environmentId, sql`pg_advisory_xact_lock_shared`);
  const { rows } = await sql<{ id: string }>`
    update transcription set parked_at = null, job_id = ${jobId}
    where id = (
      select id from transcription
      where environment_id = ${environmentId} and status = 'PENDING' and parked_at is not null
      order by coalesce(due_at, created_at), id limit 1 for update skip locked
    ) returning id`.execute(tx);
  return rows[0]?.id;
}

async function lock(tx: Tx, environmentId: string, take: RawBuilder<unknown>): Promise<void> {
  await sql`select ${take}(${LOCK_CLASS}::int, hashtext(${environmentId}))`.execute(tx);
}
