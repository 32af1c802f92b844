import type { Logger } from "pino";
import type { Db, Tx } from "../db/schema.ts";
import type { TranscriptionRow } from "../db/tables/transcriptions.ts";
import type { Clock } from "../lib/clock.ts";
import { databaseUnavailable } from "../lib/lost-connection.ts";
import { isOutage } from "../lib/outages.ts";
import { retryUntilShutdown } from "../lib/retry.ts";
import { advanceVirtualTime, lockProcessingCount } from "../queue/fair-queueing.ts";
import type { Job } from "../queue/job.ts";
import { newJobId, type Queue } from "../queue/queue.ts";
import { enqueue } from "../queue/transcription-jobs.ts";
import { classifyFailure } from "./attempt-failure.ts";
import { attemptStartedAt } from "./attempt-queries.ts";
import { assignJob, lockTranscriptionByJob, startAttempt, takeOverAttempt } from "./claim-queries.ts";
import { findTranscription, revertCrash } from "./queries.ts";

export interface ClaimDeps {
  db: Db;
  queue: Queue;
  clock: Clock;
  log: Logger;
  maxConcurrentPerEnvironment: number | null;
}

export interface Claim {
  row: TranscriptionRow;
  /** Start of the lost attempt that this claim replaces; null if there is none. */
  lostSince: Date | null;
  /** Whether the database was unavailable during the claim, so that the queue may consider this worker lost. */
  hadOutage?: boolean;
}

/** Delay of the next claim if the environment was at its limit. */
const CAP_BACKOFF_MS = 2_000;

/**
 * PENDING → PROCESSING. If the job's transcription is already PROCESSING, its worker has crashed: this claim takes over
 * and counts the crash.
 * @returns undefined if the job has no work
 */
export async function claimTranscription(
  deps: ClaimDeps,
  job: Job,
  shutdown: AbortSignal,
): Promise<Claim | undefined> {
  let claim: Claim | undefined;
  try {
    await deps.db.transaction().execute(async (tx) => {
      claim = await tryClaim(deps, tx, job);
    });
  } catch (error) {
    if (claim === undefined || !isOutage(error)) throw error;
    if (!(await isClaimCommitted(deps, claim, shutdown))) throw error;
    return { ...claim, hadOutage: true };
  }
  return claim;
}

/**
 * Checks whether a claim was committed although its response was lost. Otherwise, the next worker would count a crash,
 * and the number of crashes is limited. If another worker has already taken over, reverts that count.
 */
async function isClaimCommitted(
  { db, log }: ClaimDeps,
  { row }: Claim,
  shutdown: AbortSignal,
): Promise<boolean> {
  const lease = { transcriptionId: row.id, attempt: row.attempt };
  return await retryUntilShutdown({ shutdown, log: log.child(lease), hadOutage: true }, async () => {
    const startedAt = await attemptStartedAt(db, lease);
    // If the start differs, another worker made the attempt with this number.
    if (startedAt?.getTime() !== row.started_at?.getTime()) return false;
    const now = await findTranscription(db, row.id);
    if (now?.status === "PROCESSING" && now.attempt === row.attempt) return true;
    const { failure } = classifyFailure(databaseUnavailable(null));
    await db.transaction().execute((tx) => revertCrash(tx, lease, failure));
    return false;
  });
}

async function tryClaim(
  { queue, clock, maxConcurrentPerEnvironment: cap }: ClaimDeps,
  tx: Tx,
  { id: jobId, tag = null }: Job,
): Promise<Claim | undefined> {
  const now = clock.now();
  const row = await lockTranscriptionByJob(tx, jobId);
  if (!row) return undefined;
  if (row.status === "PROCESSING") {
    return { row: await takeOverAttempt(tx, row, now), lostSince: row.started_at };
  }
  const { id: transcriptionId, environment_id: environmentId } = row;
  // The queue enforces the limit too, but concurrent fetches can exceed it.
  if (cap !== null && (await lockProcessingCount(tx, environmentId)) >= cap) {
    const jobId = newJobId();
    await assignJob(tx, transcriptionId, jobId);
    await enqueue({ tx, queue }, { jobId, transcriptionId, environmentId, tag, delayMs: CAP_BACKOFF_MS });
    return undefined;
  }
  const claimed = await startAttempt(tx, row, now);
  if (tag) await advanceVirtualTime(tx, tag);
  return { row: claimed, lostSince: null };
}
