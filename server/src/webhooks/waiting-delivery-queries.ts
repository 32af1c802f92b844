import { sql } from "kysely";
import type { Db, Tx } from "../db/schema.ts";

/** Returns the enabled endpoints with a delivery that can be brought forward. */
export async function endpointsWithWaiting(
  db: Db,
  endpointIds: readonly string[],
  now: Date,
): Promise<string[]> {
  const rows = await db
    .selectFrom("webhook_endpoint")
    .select("id")
    .where("id", "in", [...new Set(endpointIds)])
    .where("disabled_at", "is", null)
    .where(({ exists }) =>
      exists(
        waiting(db, now)
          .select("delivery.id")
          .where("endpoint_id", "=", sql.ref<string>("webhook_endpoint.id")),
      ),
    )
    .execute();
  return rows.map(({ id }) => id);
}

/** Locks up to `limit` deliveries that can be brought forward, oldest first. */
export async function lockWaiting(
  tx: Tx,
  endpointId: string,
  { now, limit }: { now: Date; limit: number },
): Promise<{ id: string }[]> {
  return await waiting(tx, now)
    .select("id")
    .where("endpoint_id", "=", endpointId)
    .orderBy("id")
    .limit(limit)
    .forUpdate()
    // Another process may be bringing a locked one forward, settling it or deleting it.
    .skipLocked()
    .execute();
}

/** Moves the next attempt to a new job that is due now. If it fails, the delivery waits until its original due time. */
export async function bringForward(tx: Tx, id: string, jobId: string, now: Date): Promise<void> {
  await tx
    .updateTable("delivery")
    .set((set) => ({ job_id: jobId, held_until: set.ref("next_attempt_at"), next_attempt_at: now }))
    .where("id", "=", id)
    .execute();
}

function waiting(db: Db | Tx, now: Date) {
  return db
    .selectFrom("delivery")
    .where("delivery.status", "=", "pending")
    .where("delivery.attempts", ">", 0)
    .where("delivery.next_attempt_at", ">", now)
    .where((where) => where.or([where("held_until", "is", null), where("held_until", "<=", now)]));
}
