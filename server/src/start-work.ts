import { WEBHOOK_TIMEOUT_SECONDS } from "@subtext/client/contract/webhook";
import type { ItemDeps } from "./lib/guard-item.ts";
import { isOutage, logLevelOf } from "./lib/outages.ts";
import type { JobHandler } from "./queue/job.ts";
import { indexTranscript } from "./search/index-transcript.ts";
import type { Models } from "./speech/models.ts";
import { OutagePause } from "./transcription/outage-pause.ts";
import { type PipelineDeps, runTranscription } from "./transcription/run.ts";
import type { RunningAttempts } from "./transcription/running-attempts.ts";
import { wakeWaiting } from "./transcription/wake-waiting.ts";
import { createDeliver, type DeliverDeps } from "./webhooks/deliver.ts";

/** Deliveries mostly wait for receivers, some of which hang until the timeout. */
const DELIVERY_CONCURRENCY = 128;
/** Concurrent deliveries to one receiver, so that one that hangs occupies only part of the limit above. */
const DELIVERIES_TO_ONE_ENDPOINT = 32;

export interface WorkDeps
  extends Omit<PipelineDeps, "modelIsComing">,
    Omit<DeliverDeps, "timeoutMs">,
    ItemDeps {
  models: Models;
  running: RunningAttempts;
  /** Concurrent recordings. */
  concurrency: number;
}

/**
 * The work of a worker: transcribes, delivers, indexes, and downloads a missing model.
 * @param shutdown aborted when this process must hand its work back
 */
export async function startWork(deps: WorkDeps, shutdown: AbortSignal): Promise<void> {
  const { db, queue, transcripts, clock, log, models, running, concurrency } = deps;
  const outagePause = new OutagePause();
  const pipeline: PipelineDeps = {
    ...deps,
    modelIsComing: () => models.isComing(),
    onAttempt(attempt) {
      outagePause.note(attempt);
      deps.onAttempt?.(attempt);
    },
  };
  const counted =
    (task: string, run: JobHandler): JobHandler =>
    async (job) => {
      try {
        await run(job);
      } catch (error) {
        // An outage or a shutdown is not the job's failure.
        const isFault = !isOutage(error) && !shutdown.aborted && !job.signal.aborted;
        if (isFault) deps.onItemFailed?.(task);
        throw error;
      }
    };
  const deliver = createDeliver({ ...deps, timeoutMs: WEBHOOK_TIMEOUT_SECONDS * 1000 });
  await queue.work({
    transcribe: {
      concurrency,
      groupConcurrency: deps.maxConcurrentPerEnvironment,
      run: counted("transcribe", async (job) => {
        await outagePause.untilOver(AbortSignal.any([shutdown, job.signal]));
        await running.run(job, (its) => runTranscription(pipeline, its, shutdown));
      }),
    },
    deliver: {
      concurrency: DELIVERY_CONCURRENCY,
      groupConcurrency: DELIVERIES_TO_ONE_ENDPOINT,
      run: counted("deliver", (job) => deliver(job, shutdown)),
    },
    index: {
      concurrency: 1,
      groupConcurrency: null,
      run: counted("index", (job) => indexTranscript({ db, transcripts, clock, log }, job, shutdown)),
    },
  });
  const wake = () =>
    wakeWaiting({ db, queue, log, onItemFailed: deps.onItemFailed }, shutdown).catch((error) =>
      log[logLevelOf(error, "error")](
        { err: error },
        "transcriptions that wait for the speech model could not be woken",
      ),
    );
  models.onChange(wake);
  models.start();
  // The model may have been installed before anyone listened. Not awaited: many may be waiting.
  if (models.installed() !== null) void wake();
}
