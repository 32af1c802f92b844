import type { Clock } from "../clock.ts";
import { lockProcessingCount, park } from "../db/environment-cap.ts";
import { chooseTranscription } from "../db/fair-choice.ts";
import type { Db, TranscriptionRow, Tx } from "../db/schema.ts";
import { lockTranscriptionOfJob, startAttempt, takeOverAttempt } from "../db/transcription-claims.ts";
import type { Job, Queue } from "../queue.ts";
import { wakeParked } from "./wake-waiting.ts";

export interface ClaimDeps {
  db: Db;
  queue: Queue;
  clock: Clock;
  /** Transcriptions of one environment that are PROCESSING at a time, in all processes; null for any number. */
  maxConcurrentPerEnvironment: number | null;
}

export interface Claim {
  /** After the move. */
  row: TranscriptionRow;
  /** When the attempt began that was taken over, whose worker died; null where there was none. */
  lostSince: Date | null;
}

/**
 * PENDING → PROCESSING for the transcription whose turn it is. A job is a ticket: it says that something waits,
 * and its worker takes what is fairest. The one that named the job gets the job of the one that is taken, so that
 * each that waits is still named by one job. A transcription that is PROCESSING under this job is one whose
 * worker died: it is taken over, and the loss is counted.
 *
 * Locks: first the row of the job, which is waited for with nothing else in hand; then the row that is chosen,
 * which is not waited for; then, where there is a cap, the environment's lock, whose holder waits for nothing.
 * @returns undefined where this job has nothing to do (any more)
 */
export async function claimTranscription(deps: ClaimDeps, job: Job): Promise<Claim | undefined> {
  for (;;) {
    const claim = await deps.db.transaction().execute(async (tx) => await tryClaim(deps, tx, job.id));
    if (claim !== "overtaken") return claim;
  }
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
