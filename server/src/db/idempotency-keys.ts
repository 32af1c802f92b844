import { sql } from "kysely";
import type { Db, Tx } from "./schema.ts";

/** For this long, a repeated request gets the first response. */
export const ANSWERS_KEPT_MS = 24 * 3_600_000;

export interface RecordedAnswer {
  fingerprint: string;
  status: number;
  /** JSON. */
  body: string;
}

/** Locks the key until the transaction ends. Returns false if another transaction holds it. */
export async function tryHoldIdempotencyKey(tx: Tx, environmentId: string, key: string): Promise<boolean> {
  const { rows } = await sql<{ held: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${`${environmentId} ${key}`}, 0)) as held`.execute(tx);
  return rows[0]?.held === true;
}

export async function findAnswer(
  db: Db | Tx,
  environmentId: string,
  key: string,
  since: Date,
): Promise<RecordedAnswer | undefined> {
  return await db
    .selectFrom("idempotency_key")
    .select(["fingerprint", "status", "body"])
    .where("environment_id", "=", environmentId)
    .where("key", "=", key)
    .where("created_at", ">", since)
    .executeTakeFirst();
}

export async function saveAnswer(
  tx: Tx,
  environmentId: string,
  key: string,
  answer: RecordedAnswer & { now: Date },
): Promise<void> {
  const { now, ...recorded } = answer;
  await tx
    .insertInto("idempotency_key")
    .values({ environment_id: environmentId, key, ...recorded, created_at: now })
    .onConflict((conflict) =>
      conflict.columns(["environment_id", "key"]).doUpdateSet({ ...recorded, created_at: now }),
    )
    .execute();
}

export async function forgetAnswers(db: Db, before: Date): Promise<void> {
  await db.deleteFrom("idempotency_key").where("created_at", "<=", before).execute();
}
