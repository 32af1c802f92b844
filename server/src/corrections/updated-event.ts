import type { Db, Tx } from "../db/schema.ts";
import type { Clock } from "../lib/clock.ts";
import type { Job } from "../queue/job.ts";
import { newJobId, type Queue } from "../queue/queue.ts";
import { emitEvent } from "../webhooks/emit.ts";
import {
  finishUpdate,
  lockUpdate,
  type PendingUpdate,
  postponeUpdate,
  recordChange,
} from "./update-queries.ts";

/** Time without changes after which the event is sent. */
const QUIET_MS = 30_000;
/** Minimum time between two events about a transcript, and maximum delay of an event while somebody keeps editing. */
const INTERVAL_MS = 5 * 60_000;

/** Schedules the event about changed words, unless one is pending. Call this in the transaction that makes the change. */
export async function announceChange(
  { tx, queue, now }: { tx: Tx; queue: Queue; now: Date },
  transcriptionId: string,
): Promise<void> {
  const jobId = newJobId();
  const { isJobNeeded, sentAt } = await recordChange(tx, { transcriptionId, jobId, now });
  if (!isJobNeeded) return;
  const due = dueAt({ firstEditAt: now, lastEditAt: now, sentAt }, now);
  await queue.send(tx, "announce", {
    id: jobId,
    subjectId: transcriptionId,
    delayMs: due.getTime() - now.getTime(),
  });
}

/** Sends the pending event, or postpones it if the transcript has changed since the job was scheduled. */
export async function sendUpdatedEvent(
  { db, queue, clock }: { db: Db; queue: Queue; clock: Clock },
  { id: jobId, subjectId: transcriptionId }: Pick<Job, "id" | "subjectId">,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const pending = await lockUpdate(tx, transcriptionId, jobId);
    if (!pending) return;
    const now = clock.now();
    const delayMs = dueAt(pending, now).getTime() - now.getTime();
    if (delayMs > 0) {
      const next = newJobId();
      await postponeUpdate(tx, transcriptionId, next);
      await queue.send(tx, "announce", { id: next, subjectId: transcriptionId, delayMs });
      return;
    }
    const about = { id: transcriptionId, environment_id: pending.environmentId };
    await emitEvent({ tx, queue, now }, about, "transcriptions.transcription.updated", {});
    await finishUpdate(tx, transcriptionId, now);
  });
}

function dueAt({ firstEditAt, lastEditAt, sentAt }: Omit<PendingUpdate, "environmentId">, now: Date): Date {
  // A clock that was ahead has written times in the future. They must not hold back events until then.
  const timeOf = (date: Date) => (date.getTime() <= now.getTime() + INTERVAL_MS ? date.getTime() : 0);
  const quietAt = Math.min(timeOf(lastEditAt) + QUIET_MS, timeOf(firstEditAt) + INTERVAL_MS);
  return new Date(Math.max(quietAt, sentAt === null ? 0 : timeOf(sentAt) + INTERVAL_MS));
}
