import { sql } from "kysely";
import type { Logger } from "pino";
import type { Db, Tx } from "../db/schema.ts";
import type { Clock } from "../lib/clock.ts";
import { logLevelOf } from "../lib/outages.ts";
import { newJobId, type Queue } from "../queue/queue.ts";

/** As in TCP slow start, the number of requests doubles with each successful round. */
const RETRIES_PER_SUCCESS = 2;
/** The concurrency limit of an endpoint. */
const MAX_PER_ROUND = 32;

/**
 * Brings forward pending retries to endpoints that have just accepted a delivery, because their receivers are available
 * again. A delivery is brought forward at most once between two scheduled attempts, and not before the time that the
 * receiver requested with `Retry-After`.
 *
 * @param endpointIds one entry per successful delivery
 */
export async function bringWaitingForward(
  { db, queue, clock, log }: { db: Db; queue: Queue; clock: Clock; log: Logger },
  endpointIds: readonly string[],
): Promise<void> {
  if (endpointIds.length === 0) return;
  const now = clock.now();
  try {
    for (const endpointId of await endpointsWithWaiting(db, endpointIds, now)) {
      const successes = endpointIds.filter((id) => id === endpointId).length;
      const limit = Math.min(successes * RETRIES_PER_SUCCESS, MAX_PER_ROUND);
      const count = await db.transaction().execute(async (tx) => {
        const chosen = await lockWaiting(tx, endpointId, { now, limit });
        for (const { id } of chosen) {
          const jobId = newJobId();
          await bringForward(tx, id, jobId, now);
          await queue.send(tx, "deliver", { id: jobId, subjectId: id, group: endpointId });
        }
        return chosen.length;
      });
      log.info({ endpointId, count }, "brought waiting deliveries forward");
    }
  } catch (error) {
    // Only a warning, because waiting deliveries still follow their schedule.
    log[logLevelOf(error, "warn")]({ err: error }, "could not bring waiting deliveries forward");
  }
}

/** Returns the enabled endpoints with a delivery that can be brought forward. */
async function endpointsWithWaiting(db: Db, endpointIds: readonly string[], now: Date): Promise<string[]> {
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
async function lockWaiting(
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
async function bringForward(tx: Tx, id: string, jobId: string, now: Date): Promise<void> {
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
