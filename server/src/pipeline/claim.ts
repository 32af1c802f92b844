import type { Logger } from "pino";
import { lockProcessingCount, park } from "../db/environment-cap.ts";
import { chooseTranscription } from "../db/fair-choice.ts";
import type { Db, TranscriptionRow, Tx } from "../db/schema.ts";
import { attemptBegunAt } from "../db/transcription-attempts.ts";
import { lockTranscriptionOfJob, startAttempt, takeOverAttempt } from "../db/transcription-claims.ts";
import { excuseLoss, findTranscription } from "../db/transcriptions.ts";
import type { Clock } from "../lib/clock.ts";
import { databaseUnavailable } from "../lib/lost-connection.ts";
import { isOutage } from "../lib/outages.ts";
import { retryUntilShutdown } from "../lib/retry.ts";
import type { Job, Queue } from "../queue/queue.ts";
import { judge } from "./attempt-failure.ts";
import { wakeParked } from "./wake-waiting.ts";

export interface ClaimDeps {
  db: Db;
  queue: Queue;
  clock: Clock;
  log: Logger;
  /** Transcriptions of one environment that are PROCESSING at a time, in all processes; null for any number. */
  maxConcurrentPerEnvironment: number | null;
}

export interface Claim {
  /** After the move. */
  row: TranscriptionRow;
  /** When the attempt began that was taken over, whose worker died; null where there was none. */
  lostSince: Date | null;
  /** Whether the database was away meanwhile, so that the queue may have taken this worker for dead. */
  metOutage?: boolean;
}

/**
 * PENDING → PROCESSING for the transcription whose turn it is. A job is a ticket: it says that something waits,
 * and its worker takes what is fairest. The one that named the job gets the job of the one that is taken, so that
 * each that waits is still named by one job. A transcription that is PROCESSING under this job is one whose
 * worker died: it is taken over, and the loss is counted.
 *
 * Locks: first the row of the job, which is waited for with nothing else in hand; then the row that is chosen,
 * which is not waited for; then, where there is a cap, the environment's lock, whose holder waits for nothing.
 * @param shutdown aborted when this process must hand its work back
 * @returns undefined where this job has nothing to do (any more)
 */
export async function claimTranscription(
  deps: ClaimDeps,
  job: Job,
  shutdown: AbortSignal,
): Promise<Claim | undefined> {
  for (;;) {
    let claim: Claim | undefined | "overtaken";
    try {
      await deps.db.transaction().execute(async (tx) => {
        claim = await tryClaim(deps, tx, job.id);
      });
    } catch (error) {
      if (claim === undefined || claim === "overtaken" || !isOutage(error)) throw error;
      if (!(await wasMade(deps, claim, shutdown))) throw error;
      return { ...claim, metOutage: true };
    }
    if (claim !== "overtaken") return claim;
  }
}

/**
 * Whether a claim stands whose transaction may have been committed and only the word of it been lost. Given up
 * unasked, it would pass for the work of a worker that died, of which a recording may have only so many; one that
 * another has taken over as such by now is excused.
 */
async function wasMade({ db, log }: ClaimDeps, { row }: Claim, shutdown: AbortSignal): Promise<boolean> {
  const hold = { transcriptionId: row.id, attempt: row.attempt };
  return await retryUntilShutdown({ shutdown, log: log.child(hold), metOutage: true }, async () => {
    const begunAt = await attemptBegunAt(db, hold);
    // Another's, of the same number.
    if (begunAt?.getTime() !== row.started_at?.getTime()) return false;
    const now = await findTranscription(db, row.id);
    if (now?.status === "PROCESSING" && now.attempt === row.attempt) return true;
    const { failure } = judge(databaseUnavailable(null));
    await db.transaction().execute((tx) => excuseLoss(tx, hold, failure));
    return false;
  });
}

/** @returns `overtaken` where another worker filled the environment's cap meanwhile: there is a choice to make anew */
async function tryClaim(deps: ClaimDeps, tx: Tx, jobId: string): Promise<Claim | undefined | "overtaken"> {
  const { maxConcurrentPerEnvironment: cap } = deps;
  const now = deps.clock.now();
  const named = await lockTranscriptionOfJob(tx, jobId);
  if (!named) return undefined;
  if (named.status === "PROCESSING") {
    return { row: await takeOverAttempt(tx, named, now), lostSince: named.started_at };
  }

  // That its job has come makes it due.
  const chosen = (await chooseTranscription(tx, cap)) ?? named;
  const processing = cap === null ? 0 : await lockProcessingCount(tx, chosen.environment_id);
  if (cap !== null && processing >= cap) {
    if (chosen.id !== named.id) return "overtaken";
    await park(tx, named.id, now);
    return undefined;
  }
  const row = await startAttempt(tx, { chosen, named, jobId, now });
  // As long as there is room; so a cap that was made higher is felt at once.
  if (cap === null || processing + 1 < cap) await wakeParked({ tx, queue: deps.queue }, row.environment_id);
  return { row, lostSince: null };
}
