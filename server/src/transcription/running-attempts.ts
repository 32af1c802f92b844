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
 * The attempts that run in this process. If this process deletes a video, it cancels the video's attempt at once; if
 * another process deletes it, the next check does. Attempts are identified by their job: a transcription names one job,
 * which can be replaced.
 */
export class RunningAttempts {
  readonly #running = new Set<RunningAttempt>();
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Runs an attempt. `cancel` aborts the signal of the job that the attempt receives. */
  async run(job: Job, attempt: (job: Job) => Promise<void>): Promise<void> {
    const cancel = new AbortController();
    const signal = AbortSignal.any([job.signal, cancel.signal]);
    const ended = attempt({ ...job, signal });
    const running = { jobId: job.id, cancel, ended };
    this.#running.add(running);
    const check = setInterval(() => {
      isCurrentJob(this.#db, job.id).then(
        (named) => named || end(running),
        // A failed check says nothing about the video, and the attempt detects the outage itself.
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

  /** Ends the attempts under this job and waits until they have ended. */
  async cancel(jobId: string): Promise<void> {
    const attempts = [...this.#running].filter((running) => running.jobId === jobId);
    for (const running of attempts) end(running);
    await Promise.allSettled(attempts.map(({ ended }) => ended));
  }
}

function end({ cancel }: RunningAttempt): void {
  cancel.abort(new Error("the video was deleted, or another worker has taken over"));
}
