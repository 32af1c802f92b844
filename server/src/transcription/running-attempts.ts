import type { Db } from "../db/schema.ts";
import type { Job } from "../queue/job.ts";
import { isCurrentJob } from "./claim-queries.ts";

interface RunningAttempt {
  jobId: string;
  cancel: AbortController;
  ended: Promise<unknown>;
}

const CHECK_INTERVAL_MS = 1_000;

/**
 * Tracks the attempts that run in this process, and cancels those of canceled transcriptions and deleted videos:
 * immediately if this process cancels or deletes, otherwise at the next check. Identifies an attempt by its job, because a transcription's job can
 * be replaced.
 */
export class RunningAttempts {
  readonly #running = new Set<RunningAttempt>();
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Runs an attempt with a job whose signal `cancel` aborts. */
  async run(job: Job, attempt: (job: Job) => Promise<void>): Promise<void> {
    const cancel = new AbortController();
    const signal = AbortSignal.any([job.signal, cancel.signal]);
    const ended = attempt({ ...job, signal });
    const running = { jobId: job.id, cancel, ended };
    this.#running.add(running);
    const check = setInterval(() => {
      isCurrentJob(this.#db, job.id).then(
        (named) => named || end(running),
        // A failed check does not mean that the transcription was canceled. The attempt detects an outage itself.
        () => {},
      );
    }, CHECK_INTERVAL_MS);
    try {
      await ended;
    } finally {
      clearInterval(check);
      this.#running.delete(running);
    }
  }

  async cancel(jobId: string): Promise<void> {
    const attempts = [...this.#running].filter((running) => running.jobId === jobId);
    for (const running of attempts) end(running);
    await Promise.allSettled(attempts.map(({ ended }) => ended));
  }
}

function end({ cancel }: RunningAttempt): void {
  cancel.abort(new Error("the transcription was canceled, deleted or taken over"));
}
