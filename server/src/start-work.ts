import { WEBHOOK_TIMEOUT_SECONDS } from "@subtext/client/contract/webhook";
import { type BulkOperationDeps, runBulkOperation } from "./bulk-operations/run.ts";
import { sendUpdatedEvent } from "./corrections/updated-event.ts";
import { isOutage, logLevelOf } from "./lib/outages.ts";
import { makePoster, type PosterDeps } from "./posters/make-poster.ts";
import type { JobHandler } from "./queue/job.ts";
import { indexTranscript } from "./search/index-transcript.ts";
import type { Models } from "./speech/models.ts";
import { OutagePause } from "./transcription/outage-pause.ts";
import { type PipelineDeps, runTranscription } from "./transcription/run.ts";
import type { RunningAttempts } from "./transcription/running-attempts.ts";
import { wakeWaiting } from "./transcription/wake-waiting.ts";
import { createDeliver, type DeliverDeps } from "./webhooks/deliver.ts";

/** High, because deliveries mostly wait for receivers, and some receivers hang until the timeout. */
const DELIVERY_CONCURRENCY = 128;
/** Limit for each receiver, so that a hanging receiver occupies only part of `DELIVERY_CONCURRENCY`. */
const DELIVERIES_TO_ONE_ENDPOINT = 32;
/** Low, because each operation already processes several videos at a time. */
const BULK_OPERATION_CONCURRENCY = 2;

export interface WorkDeps
  extends Omit<PipelineDeps, "isModelExpected">,
    Omit<DeliverDeps, "timeoutMs">,
    BulkOperationDeps,
    PosterDeps {
  models: Models;
  running: RunningAttempts;
  /** How many recordings to transcribe at the same time. */
  concurrency: number;
}

/**
 * Starts the work of a worker process: transcription, webhook delivery, search indexing, bulk operations, posters, and
 * the download of a missing model.
 * @param shutdown aborted when this process must hand its work back
 */
export async function startWork(deps: WorkDeps, shutdown: AbortSignal): Promise<void> {
  const { db, queue, transcripts, clock, log, models, running, concurrency } = deps;
  const outagePause = new OutagePause();
  const pipeline: PipelineDeps = {
    ...deps,
    isModelExpected: () => models.isExpected(),
    onAttempt(attempt) {
      outagePause.record(attempt);
      deps.onAttempt?.(attempt);
    },
  };
  const countingFailures =
    (task: string, run: JobHandler): JobHandler =>
    async (job) => {
      try {
        await run(job);
      } catch (error) {
        // Outages and shutdowns are not failures of the job.
        const isJobFailure = !isOutage(error) && !shutdown.aborted && !job.signal.aborted;
        if (isJobFailure) deps.onItemFailed?.(task);
        throw error;
      }
    };
  const deliver = createDeliver({ ...deps, timeoutMs: WEBHOOK_TIMEOUT_SECONDS * 1000 });
  await queue.work({
    transcribe: {
      concurrency,
      groupConcurrency: deps.maxConcurrentPerEnvironment,
      run: countingFailures("transcribe", async (job) => {
        await outagePause.untilOver(AbortSignal.any([shutdown, job.signal]));
        await running.run(job, (runningJob) => runTranscription(pipeline, runningJob, shutdown));
      }),
    },
    deliver: {
      concurrency: DELIVERY_CONCURRENCY,
      groupConcurrency: DELIVERIES_TO_ONE_ENDPOINT,
      run: countingFailures("deliver", (job) => deliver(job, shutdown)),
    },
    index: {
      concurrency: 1,
      groupConcurrency: null,
      run: countingFailures("index", (job) =>
        indexTranscript({ db, transcripts, clock, log }, job, shutdown),
      ),
    },
    announce: {
      concurrency: 1,
      groupConcurrency: null,
      run: countingFailures("announce", (job) => sendUpdatedEvent({ db, queue, clock }, job)),
    },
    poster: {
      // One, because posters are never urgent.
      concurrency: 1,
      groupConcurrency: null,
      run: countingFailures("poster", (job) => makePoster(deps, job, shutdown)),
    },
    bulk: {
      concurrency: BULK_OPERATION_CONCURRENCY,
      groupConcurrency: null,
      run: countingFailures("bulk", (job) => runBulkOperation(deps, job, shutdown)),
    },
  });
  const wake = () =>
    wakeWaiting({ db, queue, log, onItemFailed: deps.onItemFailed }, shutdown).catch((error) =>
      log[logLevelOf(error, "error")](
        { err: error },
        "could not resume the transcriptions that wait for the speech model",
      ),
    );
  models.onChange(wake);
  models.start();
  // The model may have been installed before `onChange`. Not awaited, because many transcriptions may be waiting.
  if (models.installed() !== null) void wake();
}
