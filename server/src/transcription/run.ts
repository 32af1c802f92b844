import { BUNDLED_ENGINE_NAME } from "@subtext/speech/engines/registry";
import { SpeechError } from "@subtext/speech/errors";
import type { NothingToTranscribe, Transcript } from "@subtext/speech/transcript";
import type { AttemptOutcome } from "../db/enums.ts";
import type { Tx } from "../db/schema.ts";
import { databaseUnavailable } from "../lib/lost-connection.ts";
import { isOutage, logLevelOf } from "../lib/outages.ts";
import { retryUntilShutdown, retryWhileUnavailable } from "../lib/retry.ts";
import { markForRetag, recordWork } from "../queue/fair-queueing.ts";
import type { Job } from "../queue/job.ts";
import { newJobId } from "../queue/queue.ts";
import { enqueue } from "../queue/transcription-jobs.ts";
import { insertSearchDocument } from "../search/document-queries.ts";
import { filePrefix } from "../storage/transcript-files.ts";
import type { TranscriptStore } from "../storage/transcript-store.ts";
import { emitEvent } from "../webhooks/emit.ts";
import { classifyFailure, WorkerLostError } from "./attempt-failure.ts";
import { hasEndedAs } from "./attempt-queries.ts";
import {
  type AttemptReport,
  earliestStart,
  lostAttemptReport,
  type ReportedOutcome,
} from "./attempt-report.ts";
import { removeCheckpoints } from "./checkpoint-queries.ts";
import { type ClaimDeps, claimTranscription } from "./claim.ts";
import { isFixedByModel } from "./model-wait-queries.ts";
import {
  completeTranscription,
  failTranscription,
  returnToPending,
  revertCrash,
  skipTranscription,
} from "./queries.ts";
import { type RecognitionAttempt, type RecognizeDeps, recognize } from "./recognize.ts";
import { renderTranscript, storeTranscript, storeWaveform } from "./render.ts";
import { wakeWaiting } from "./wake-waiting.ts";

export interface PipelineDeps extends ClaimDeps, RecognizeDeps {
  transcripts: TranscriptStore;
  /** Whether a model with more languages is being installed, so that transcriptions should wait for it. */
  isModelExpected(): boolean;
  onAttempt?: (attempt: AttemptReport) => void;
}

/** Delays of the retries after retryable failures. The failure after the last retry is final. */
const RETRY_BACKOFF_SECONDS = [5, 60];
/** Delay of a retry after an outage. The number of retries is unlimited, but `OutagePause` slows them down. */
const OUTAGE_BACKOFF_SECONDS = 10;
const FIRST_MODEL_BACKOFF_SECONDS = 10;
/** Long, because each retry occupies an engine until it fails again, and a download can take hours. */
const MAX_MODEL_BACKOFF_SECONDS = 300;
/**
 * Maximum number of worker crashes for one recording. Failures count separately, because a crash probably has nothing
 * to do with the recording: only child processes read media.
 */
const MAX_WORKER_CRASHES = 10;

interface Attempt extends RecognitionAttempt {
  /** Aborted when this process must hand back its work. */
  shutdown: AbortSignal;
  /** When the attempt could have started. */
  queuedAt: Date | null;
  /** Whether a model was being installed when the attempt started, so that the attempt could not use it. */
  wasModelExpected: boolean;
  transcribedAt: Date | null;
  /** `reason` is the failure code or the reason for skipping. */
  end: { outcome: ReportedOutcome; reason: string | null; transcript: AttemptReport["transcript"] };
}

/**
 * Runs a transcription from its claim to the event about its result. After a crash at any line, it can run again: each
 * attempt has its own files, its lease fences every transition, and an attempt that was replaced discards its work.
 * @param shutdown aborted when this process must hand back its work
 */
export async function runTranscription(deps: PipelineDeps, job: Job, shutdown: AbortSignal): Promise<void> {
  const claim = await claimTranscription(deps, job, shutdown);
  if (!claim) return;
  const { row } = claim;
  const lease = { transcriptionId: row.id, attempt: row.attempt };
  const log = deps.log.child({ ...lease, videoId: row.video_id });
  if (claim.lostSince) {
    deps.onAttempt?.(lostAttemptReport(row, claim.lostSince));
    const lost = {
      lostAttempt: row.attempt - 1,
      lostStartedAt: claim.lostSince,
      workersLost: row.crash_count,
    };
    log.warn(lost, "the worker of the previous attempt was lost; this attempt takes over");
  }
  const replaced = new AbortController();
  const yields = new AbortController();
  const signal = AbortSignal.any([shutdown, job.signal, replaced.signal, yields.signal]);
  const attempt: Attempt = {
    row,
    tag: job.tag ?? null,
    resumes: false,
    advances: false,
    queuedAt: claim.lostSince ? row.started_at : earliestStart(row),
    lease,
    log,
    signal,
    replaced,
    yields,
    shutdown,
    hadOutage: claim.hadOutage === true,
    failureCount: row.failure_count,
    wasModelExpected: deps.isModelExpected(),
    waveform: null,
    fetchedAt: null,
    decodedAt: null,
    transcribedAt: null,
    // Reported unless another outcome is recorded.
    end: { outcome: "dropped", reason: null, transcript: null },
  };

  try {
    if (row.crash_count > MAX_WORKER_CRASHES) throw new WorkerLostError(MAX_WORKER_CRASHES);
    log.info("transcription started");
    const recognized = await recognize(deps, attempt);
    attempt.transcribedAt = deps.clock.now();
    if (recognized.outcome === "skipped") {
      await skip(deps, attempt, recognized);
      return;
    }
    if (isLeftUndetermined(recognized) && (attempt.wasModelExpected || deps.isModelExpected())) {
      const message = `The bundled engine (${BUNDLED_ENGINE_NAME}) could not determine the language. A multilingual model is being downloaded.`;
      throw new SpeechError("language_undetermined", message);
    }
    await complete(deps, attempt, recognized);
  } catch (error) {
    if (replaced.signal.aborted) await giveUp(deps, attempt);
    else if (shutdown.aborted || yields.signal.aborted) await handBack(deps, attempt);
    else if (job.signal.aborted) await giveUp(deps, attempt);
    else await handleFailure(deps, attempt, error);
  } finally {
    report(deps, attempt);
  }
}

/**
 * Checks whether only the bundled engine recognized the recording and left its language undetermined, so that a
 * multilingual model may find words that are missing from the transcript.
 */
function isLeftUndetermined({ language, engine, languageSegments }: Transcript): boolean {
  const used = [engine, ...languageSegments.map((segment) => segment.engine)];
  return language === "und" && used.every((name) => name === BUNDLED_ENGINE_NAME);
}

function report({ onAttempt, clock }: PipelineDeps, attempt: Attempt): void {
  const { row, queuedAt, lease, fetchedAt, decodedAt, transcribedAt, end } = attempt;
  const endedAt = clock.now();
  onAttempt?.({
    ...end,
    transcriptionId: row.id,
    videoId: row.video_id,
    number: lease.attempt,
    queuedAt,
    startedAt: row.started_at ?? endedAt,
    fetchedAt,
    decodedAt,
    transcribedAt,
    endedAt,
  });
}

async function complete(deps: PipelineDeps, attempt: Attempt, transcript: Transcript): Promise<void> {
  const { queue, transcripts, clock } = deps;
  const { row, lease, log } = attempt;
  const rendered = renderTranscript(transcript);
  const prefix = filePrefix(lease.transcriptionId, lease.attempt);
  await retryWhileUnavailable(() => storeTranscript(transcripts, prefix, rendered), attempt);
  const waveformPrefix = await tryStoreWaveform(deps, attempt);

  const now = clock.now();
  const record = async (tx: Tx) => {
    const posterJobId = newJobId();
    const moved = await completeTranscription(tx, lease, {
      language: transcript.language,
      wordCount: rendered.wordCount,
      duration: transcript.duration,
      filePrefix: prefix,
      engine: transcript.engine,
      decoder: transcript.decoder,
      audioTrack: transcript.audioTrack,
      incomplete: transcript.incomplete,
      stages: transcript.stages,
      languageSegments: transcript.languageSegments,
      transcribedAt: attempt.transcribedAt ?? now,
      waveformPrefix,
      posterJobId,
      now,
    });
    if (!moved) return await hasMovedEarlier(tx, attempt, "completed");
    await removeCheckpoints(tx, row.id);
    await emitEvent({ tx, queue, now }, row, "transcriptions.transcription.completed", {});
    const jobId = newJobId();
    await insertSearchDocument(tx, { transcriptionId: row.id, environmentId: row.environment_id, jobId });
    await queue.send(tx, "index", { id: jobId, subjectId: row.id });
    await queue.send(tx, "poster", { id: posterJobId, subjectId: row.id });
    if (!attempt.resumes)
      await recordWork(tx, row.video_id, (now.getTime() - row.started_at!.getTime()) / 1000);
    return true;
  };
  if (!(await commit(deps, attempt, record))) return;
  const { language, duration, engine, languageSegments, stages } = transcript;
  const { wordCount } = rendered;
  attempt.end = { outcome: "completed", reason: null, transcript: { engine, duration, wordCount, stages } };
  log.info({ language, duration, wordCount, engine, languageSegments, stages }, "transcription completed");
}

async function skip(
  deps: PipelineDeps,
  attempt: Attempt,
  { reason, duration }: NothingToTranscribe,
): Promise<void> {
  const waveformPrefix = await tryStoreWaveform(deps, attempt);
  const now = deps.clock.now();
  const record = async (tx: Tx) => {
    const posterJobId = newJobId();
    const skipped = { reason, duration, waveformPrefix, posterJobId, now };
    const moved = await skipTranscription(tx, attempt.lease, skipped);
    if (!moved) return await hasMovedEarlier(tx, attempt, "skipped");
    await removeCheckpoints(tx, attempt.row.id);
    await deps.queue.send(tx, "poster", { id: posterJobId, subjectId: attempt.row.id });
    await emitEvent({ tx, queue: deps.queue, now }, attempt.row, "transcriptions.transcription.skipped", {
      reason,
    });
    return true;
  };
  if (!(await commit(deps, attempt, record))) return;
  attempt.end = { outcome: "skipped", reason, transcript: null };
  attempt.log.info({ reason }, "transcription skipped");
}

/**
 * Stores the waveform. A failure is only logged, because only the dashboard uses the waveform.
 * @returns the key prefix; null if no waveform was stored
 */
async function tryStoreWaveform(
  { transcripts }: PipelineDeps,
  { waveform, lease, log }: Attempt,
): Promise<string | null> {
  if (waveform === null) return null;
  const prefix = filePrefix(lease.transcriptionId, lease.attempt);
  try {
    await storeWaveform(transcripts, prefix, waveform);
    return prefix;
  } catch (error) {
    log[logLevelOf(error, "warn")]({ err: error }, "could not store the waveform");
    return null;
  }
}

/** PROCESSING → PENDING if a later attempt may succeed, otherwise PROCESSING → FAILED. */
async function handleFailure(deps: PipelineDeps, attempt: Attempt, error: unknown): Promise<void> {
  const { queue, clock } = deps;
  const { row, lease, log, wasModelExpected } = attempt;
  const { failure, retryable } = classifyFailure(error);
  const isModelExpected = deps.isModelExpected();
  const waitsForModel = isFixedByModel(failure) && (wasModelExpected || isModelExpected);
  const modelBackoffSeconds = isModelExpected
    ? Math.min(MAX_MODEL_BACKOFF_SECONDS, FIRST_MODEL_BACKOFF_SECONDS * 2 ** (row.attempt - 1))
    : 0;
  const retryBackoffSeconds = retryable ? RETRY_BACKOFF_SECONDS[attempt.failureCount] : undefined;
  const waitsForOutage = isOutage(error);
  attempt.hadOutage ||= waitsForOutage;
  const backoffSeconds = waitsForOutage
    ? OUTAGE_BACKOFF_SECONDS
    : waitsForModel
      ? modelBackoffSeconds
      : retryBackoffSeconds;
  const waveformPrefix = backoffSeconds === undefined ? await tryStoreWaveform(deps, attempt) : null;
  const now = clock.now();

  const settle = async (tx: Tx) => {
    if (backoffSeconds !== undefined) {
      const jobId = newJobId();
      const retryAfterMs = backoffSeconds * 1000;
      const counts = !waitsForModel && !waitsForOutage;
      const isShown = counts || (waitsForModel && isModelExpected);
      if (!(await returnToPending(tx, lease, { jobId, failure, counts, isShown, retryAfterMs, now }))) {
        return await hasMovedEarlier(tx, attempt, "returned", failure.code);
      }
      const job = {
        jobId,
        transcriptionId: row.id,
        environmentId: row.environment_id,
        delayMs: retryAfterMs,
      };
      // With their old tags, all transcriptions that an outage delayed would come before newer ones.
      if (!counts && attempt.tag) await markForRetag(tx, row.environment_id, attempt.tag);
      await enqueue({ tx, queue }, { ...job, tag: counts ? attempt.tag : null });
    } else {
      const { transcribedAt } = attempt;
      const failed = await failTranscription(tx, lease, failure, { waveformPrefix, transcribedAt, now });
      if (!failed) return await hasMovedEarlier(tx, attempt, "failed", failure.code);
      // The checkpoints may be the cause, so a manual retry starts over.
      const hasUsefulCheckpoints = attempt.advances || (!attempt.resumes && failure.code !== "worker_lost");
      if (!hasUsefulCheckpoints) await removeCheckpoints(tx, row.id);
      const detail = { error: failure, duration: failed.duration };
      await emitEvent({ tx, queue, now }, row, "transcriptions.transcription.failed", detail);
    }
    return true;
  };
  if (!(await commit(deps, attempt, settle))) return;
  const ended = backoffSeconds === undefined ? "failed" : "returned";
  attempt.end = { outcome: ended, reason: failure.code, transcript: null };
  const outcome = waitsForModel
    ? "attempt failed; will retry when the speech model is installed"
    : backoffSeconds === undefined
      ? "transcription failed"
      : "attempt failed; will retry";
  log.warn({ err: error, code: failure.code, backoffSeconds }, outcome);
  // If the model was installed just before this commit, nothing else wakes this transcription.
  if (waitsForModel && isModelExpected && !deps.isModelExpected()) await wakeWaiting(deps, attempt.shutdown);
}

/** PROCESSING → PENDING, at a shutdown or to yield to other jobs. Not a failure. */
async function handBack(deps: PipelineDeps, attempt: Attempt): Promise<void> {
  const { queue, clock } = deps;
  const { row, lease, log } = attempt;
  const yielded = attempt.yields.signal.aborted;
  const moveBack = async (tx: Tx) => {
    const jobId = newJobId();
    const back = {
      jobId,
      failure: null,
      counts: false,
      retryAfterMs: null,
      yields: yielded,
      now: clock.now(),
    };
    if (!(await returnToPending(tx, lease, back))) {
      return await hasMovedEarlier(tx, attempt, yielded ? "yielded" : "handed_back");
    }
    const { id: transcriptionId, environment_id: environmentId } = row;
    await enqueue({ tx, queue }, { jobId, transcriptionId, environmentId, tag: attempt.tag });
    return true;
  };
  if (!(await commit(deps, attempt, moveBack))) return;
  attempt.end = { outcome: "handed_back", reason: null, transcript: null };
  log.info({ yielded }, "transcription handed back");
}

/**
 * Commits a transition, and retries it while the database is unavailable.
 * @param transition returns false if the attempt no longer holds the lease
 * @returns whether the attempt ended with this transition
 */
async function commit(
  { db }: PipelineDeps,
  attempt: Attempt,
  transition: (tx: Tx) => Promise<boolean>,
): Promise<boolean> {
  const committed = await retryUntilShutdown(attempt, () => db.transaction().execute(transition));
  if (!committed) discardWork(attempt);
  return committed;
}

/**
 * Checks whether a transition had already been committed, although its response was lost. If instead another attempt
 * took over during an outage of the database, reverts the crash that it counted.
 */
async function hasMovedEarlier(
  tx: Tx,
  { lease, hadOutage }: Attempt,
  outcome: AttemptOutcome,
  failureCode: string | null = null,
): Promise<boolean> {
  if (await hasEndedAs(tx, lease, outcome, failureCode)) return true;
  if (hadOutage) await revertCrash(tx, lease, classifyFailure(databaseUnavailable(null)).failure);
  return false;
}

/**
 * Ends an attempt whose transcription was canceled or deleted, or that was taken over because this worker was considered
 * lost.
 */
async function giveUp(deps: PipelineDeps, attempt: Attempt): Promise<void> {
  if (attempt.hadOutage) await handleFailure(deps, attempt, databaseUnavailable(null));
  else discardWork(attempt);
}

function discardWork({ log }: Attempt): void {
  log.info("the transcription was canceled, deleted or taken over; discarding this attempt's work");
}
