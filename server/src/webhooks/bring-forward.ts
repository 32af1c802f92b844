import type { Logger } from "pino";
import type { Db } from "../db/schema.ts";
import type { Clock } from "../lib/clock.ts";
import { newJobId, type Queue } from "../queue/queue.ts";
import { bringForward, endpointsWithWaiting, lockWaiting } from "./waiting-delivery-queries.ts";

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
    log.warn({ err: error }, "could not bring waiting deliveries forward");
  }
}
