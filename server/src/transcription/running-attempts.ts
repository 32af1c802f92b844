import type { Db } from "../db/schema.ts";
import type { Job } from "../queue/job.ts";
import { isNamed } from "./claim-queries.ts";

interface RunningAttempt {
  jobId: string;
  cancel: AbortController;
  ended: Promise<unknown>;
}

const LOOK_EVERY_MS = 1_000;

/**
 * The attempts that run in this process, so that one whose video is deleted ends at once, or, if another process
 * deleted it, at the next check. An attempt is identified by the job that it runs under: a transcription names one job,
 * which may not be the one that was created for it.
 */
export class RunningAttempts {
  readonly #running = new Set<RunningAttempt>();
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Runs an attempt under a job whose signal is also aborted by `cancel`. */
  async run(job: Job, attempt: (job: Job) => Promise<void>): Promise<void> {
    const cancel = new AbortController();
    const signal = AbortSignal.any([job.signal, cancel.signal]);
    const ended = attempt({ ...job, signal });
    const running = { jobId: job.id, cancel, ended };
    this.#running.add(running);
    const look = setInterval(() => {
      isNamed(this.#db, job.id).then(
        (named) => named || end(running),
        // An unavailable database says nothing about the video, and the attempt detects the outage itself.
        () => {},
      );
    }, LOOK_EVERY_MS);
    try {
      await ended;
    } finally {
      clearInterval(look);
      this.#running.delete(running);
    }
  }

  /** Ends the attempts under this job and waits until they have ended. */
  async cancel(jobId: string): Promise<void> {
    const its = [...this.#running].filter((running) => running.jobId === jobId);
    for (const running of its) end(running);
    await Promise.allSettled(its.map(({ ended }) => ended));
  }
}

function end({ cancel }: RunningAttempt): void {
  cancel.abort(new Error("the video was deleted, or its transcription is another worker's"));
}
