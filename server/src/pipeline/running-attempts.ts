import type { Job } from "../queue.ts";

interface RunningAttempt {
  transcriptionId: string;
  cancel: AbortController;
  ended: Promise<unknown>;
}

/** The attempts that run in this process, so that one whose video is deleted ends at once. */
export class RunningAttempts {
  readonly #running = new Set<RunningAttempt>();

  /** Runs an attempt under a job whose signal is also aborted by `cancel`. */
  async run(job: Job, attempt: (job: Job) => Promise<void>): Promise<void> {
    const cancel = new AbortController();
    const signal = AbortSignal.any([job.signal, cancel.signal]);
    const ended = attempt({ ...job, signal });
    const running = { transcriptionId: job.subjectId, cancel, ended };
    this.#running.add(running);
    try {
      await ended;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Ends the attempts at this transcription, and waits until they have. */
  async cancel(transcriptionId: string): Promise<void> {
    const its = [...this.#running].filter((running) => running.transcriptionId === transcriptionId);
    for (const { cancel } of its) cancel.abort(new Error("the video was deleted"));
    await Promise.allSettled(its.map(({ ended }) => ended));
  }
}
