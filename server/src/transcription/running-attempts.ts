import type { Db } from "../db/schema.ts";
import { Poller } from "../lib/poller.ts";
import type { Job } from "../queue/job.ts";
import { isCurrentJob } from "./claim-queries.ts";

interface RunningAttempt {
  jobId: string;
  controller: AbortController;
  ended: Promise<unknown>;
}

const CHECK_INTERVAL_MS = 1_000;

/**
 * Tracks the attempts that run in this process. Aborts an attempt if its transcription is canceled, its video is deleted
 * or its job is replaced: immediately on `cancel`, otherwise at the next check. Identifies an attempt by its job, because
 * the job of a transcription can be replaced.
 */
export class RunningAttempts {
  readonly #running = new Set<RunningAttempt>();
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Runs an attempt until it ends. `cancel` and the checks abort the signal of the job that the attempt receives. */
  async run(job: Job, attempt: (job: Job) => Promise<void>): Promise<void> {
    const controller = new AbortController();
    const signal = AbortSignal.any([job.signal, controller.signal]);
    const ended = attempt({ ...job, signal });
    const running = { jobId: job.id, controller, ended };
    this.#running.add(running);
    const checks = new Poller(async () => {
      // A failed check does not mean that the transcription was canceled. The attempt detects an outage itself.
      const isCurrent = await isCurrentJob(this.#db, job.id).catch(() => true);
      if (!isCurrent) abort(running);
      return CHECK_INTERVAL_MS;
    });
    checks.within(CHECK_INTERVAL_MS);
    try {
      await ended;
    } finally {
      void checks.stop();
      this.#running.delete(running);
    }
  }

  /** Aborts the attempts of a job, and waits until they have ended. Does nothing if none runs in this process. */
  async cancel(jobId: string): Promise<void> {
    const attempts = [...this.#running].filter((running) => running.jobId === jobId);
    for (const running of attempts) abort(running);
    await Promise.allSettled(attempts.map(({ ended }) => ended));
  }
}

function abort({ controller }: RunningAttempt): void {
  controller.abort(
    new Error("the transcription was canceled, its video was deleted, or its job was replaced"),
  );
}
