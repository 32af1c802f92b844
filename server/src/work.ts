import { WEBHOOK_TIMEOUT_SECONDS } from "@subtext/client/contract/webhook";
import type { Models } from "./models.ts";
import { indexTranscript } from "./pipeline/index-transcript.ts";
import { OutagePause } from "./pipeline/outage-pause.ts";
import { type PipelineDeps, runTranscription } from "./pipeline/run.ts";
import type { RunningAttempts } from "./pipeline/running-attempts.ts";
import { wakeWaiting } from "./pipeline/wake-waiting.ts";
import { createDeliver, type DeliverDeps } from "./webhooks/deliver.ts";

/** Most of it is waiting for receivers, some of which hang until the time is up. */
const DELIVERY_CONCURRENCY = 128;
/** What one receiver gets at a time, and how much of the above one that hangs can hold. */
const DELIVERIES_TO_ONE_ENDPOINT = 32;

export interface WorkDeps extends Omit<PipelineDeps, "modelIsComing">, Omit<DeliverDeps, "timeoutMs"> {
  models: Models;
  running: RunningAttempts;
  /** Recordings at a time. */
  concurrency: number;
}

/**
 * What a worker does: transcribes, delivers, indexes, and fetches the model that it lacks.
 * @param shutdown aborted when this process must hand its work back
 */
export async function startWork(deps: WorkDeps, shutdown: AbortSignal): Promise<void> {
  const { db, queue, storage, clock, log, models, running, concurrency } = deps;
  const outagePause = new OutagePause();
  const pipeline: PipelineDeps = {
    ...deps,
    modelIsComing: () => models.isComing(),
    onAttempt(attempt) {
      outagePause.note(attempt);
      deps.onAttempt?.(attempt);
    },
  };
  const deliver = createDeliver({ ...deps, timeoutMs: WEBHOOK_TIMEOUT_SECONDS * 1000 });
  await queue.work({
    transcribe: {
      concurrency,
      async run(job) {
        await outagePause.untilOver(AbortSignal.any([shutdown, job.signal]));
        await running.run(job, (its) => runTranscription(pipeline, its, shutdown));
      },
    },
    deliver: {
      concurrency: DELIVERY_CONCURRENCY,
      groupConcurrency: DELIVERIES_TO_ONE_ENDPOINT,
      run: (job) => deliver(job, shutdown),
    },
    index: {
      concurrency: 1,
      run: (job) => indexTranscript({ db, storage, clock, log }, job, shutdown),
    },
  });
  const wake = () =>
    wakeWaiting({ db, queue, log }, shutdown).catch((error) =>
      log.error({ err: error }, "transcriptions that wait for the speech model could not be woken"),
    );
  models.onChange(wake);
  models.start();
  // It may have come while nobody was there to tell. Not waited for: those that wait may be many.
  if (models.installed() !== null) void wake();
}
