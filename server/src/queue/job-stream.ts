import { AsyncLocalStorage } from "node:async_hooks";
import type { PgBoss } from "pg-boss";
import type { Logger } from "pino";
import { createBatcher } from "../lib/batcher.ts";
import { logLevelOf } from "../lib/outages.ts";
import type { JobHandler } from "./job.ts";

/** Regular polling, for jobs of other processes and delayed jobs. */
const LOOK_EVERY_MS = 500;
/** Delay after this process sends a job, because its transaction commits a moment later. */
const LOOKS_AFTER_SENDING_MS: readonly number[] = [10, 50, 200];
/** Polling interval while jobs end and others wait; longer if a fetch is slow. */
const LEAST_BETWEEN_LOOKS_MS = 20;
const LOOKS_SHARE_OF_TIME = 0.2;
const HEARTBEAT_EVERY_MS = 3_000;

export interface JobStreamOptions {
  run: JobHandler;
  /** Concurrent jobs in this process. */
  concurrency: number;
  /** Concurrent jobs of one group in all processes; slightly more if they fetch at the same time. */
  groupConcurrency: number;
}

interface HeldJob {
  id: string;
  /** Distinguishes this claim of the job from a later one. */
  retryCount: number;
  subjectId: string;
  lost: AbortController;
}

/**
 * A queue of many short jobs: fetches as many as there are free slots, and more as soon as slots are free. A worker of
 * pg-boss fetches one job, and the next no sooner than half a second later unless a notification arrives, so a backlog
 * would be processed at two jobs per second and worker.
 */
export class JobStream {
  readonly #boss: PgBoss;
  readonly #name: string;
  readonly #log: Logger;
  readonly #options: JobStreamOptions;
  readonly #complete: (job: HeldJob) => Promise<void>;
  /** Runs outside the transaction that sends a job. */
  readonly #apart = AsyncLocalStorage.snapshot();
  readonly #held = new Map<HeldJob, Promise<void>>();
  #soon: number[] = [];
  #nextLook: NodeJS.Timeout | undefined;
  #nextLookAt = Number.POSITIVE_INFINITY;
  #looking = false;
  #looked = Promise.resolve();
  #lookAgain = false;
  /** While more than this number of the current jobs run, others are likely to end soon. */
  #endsAwaited = 0;
  #pauseMs = LEAST_BETWEEN_LOOKS_MS;
  #paused = false;
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(boss: PgBoss, name: string, log: Logger, options: JobStreamOptions) {
    this.#boss = boss;
    this.#name = name;
    this.#log = log;
    this.#options = options;
    this.#complete = createBatcher(
      async (jobs: readonly HeldJob[]) => {
        await boss.complete(name, jobs.map(claimOf));
        return jobs.map(() => undefined);
      },
      { maxConcurrency: 1, maxBatchSize: options.concurrency },
    );
  }

  start(): void {
    this.#heartbeat = setInterval(() => void this.#beat(), HEARTBEAT_EVERY_MS);
    this.#lookIn(0);
  }

  /** Called in the transaction that sends a job, so that the job need not wait for the next regular poll. */
  expect(): void {
    this.#soon = [...LOOKS_AFTER_SENDING_MS];
    this.#lookIn(0);
  }

  /** Takes no more jobs; running ones continue. */
  pause(): void {
    this.#paused = true;
    clearTimeout(this.#nextLook);
  }

  /** Waits for the running handlers, but no longer than the given time. */
  async stop(timeoutMs: number): Promise<void> {
    this.pause();
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, timeoutMs);
    // Jobs that a running fetch claims are not handed out again until their heartbeat is missed.
    const ended = this.#looked.then(() => Promise.all(this.#held.values()));
    await Promise.race([ended, late]);
    clearTimeout(timer);
    clearInterval(this.#heartbeat);
  }

  /** Schedules a fetch after this delay; an earlier scheduled one stays. */
  #lookIn(milliseconds: number): void {
    const at = performance.now() + milliseconds;
    if (this.#paused || this.#nextLookAt <= at) return;
    clearTimeout(this.#nextLook);
    this.#nextLookAt = at;
    this.#nextLook = setTimeout(() => {
      if (this.#looking) this.#lookAgain = true;
      else this.#looked = this.#apart(() => this.#look());
    }, milliseconds);
  }

  async #look(): Promise<void> {
    this.#looking = true;
    do {
      this.#lookAgain = false;
      this.#nextLookAt = Number.POSITIVE_INFINITY;
      const taken = await this.#take();
      // Jobs of a full group at the head of the queue may have hidden those of others.
      this.#lookIn(taken > 0 ? this.#pauseMs : (this.#soon.shift() ?? LOOK_EVERY_MS));
    } while (this.#lookAgain);
    this.#looking = false;
  }

  /** Fetches jobs for the free slots. @returns how many */
  async #take(): Promise<number> {
    const { concurrency, groupConcurrency } = this.#options;
    const room = concurrency - this.#held.size;
    if (this.#paused || room <= 0) return 0;
    const startedAt = performance.now();
    try {
      const jobs = await this.#boss.fetch<{ subjectId: string }>(this.#name, {
        batchSize: room,
        groupConcurrency,
      });
      for (const { id, retryCount, data } of jobs) {
        const job = { id, retryCount, subjectId: data.subjectId, lost: new AbortController() };
        this.#held.set(job, this.#run(job));
      }
      this.#endsAwaited = this.#held.size / 2;
      this.#pauseMs = Math.max(LEAST_BETWEEN_LOOKS_MS, (performance.now() - startedAt) / LOOKS_SHARE_OF_TIME);
      return jobs.length;
    } catch (error) {
      this.#log[logLevelOf(error, "error")]({ err: error, queue: this.#name }, "no jobs could be taken");
      return 0;
    }
  }

  async #run(job: HeldJob): Promise<void> {
    const { id, subjectId, retryCount: cameBack, lost } = job;
    try {
      await this.#options.run({ id, subjectId, signal: lost.signal, cameBack });
      await this.#complete(job);
    } catch (error) {
      this.#log[logLevelOf(error, "warn")](
        { err: error, queue: this.#name, jobId: id },
        "a job ended early and will come back",
      );
      // If this fails as well, the job comes back when its heartbeat is missed.
      await this.#boss
        .fail(this.#name, claimOf(job), asObject(error))
        .catch((failure) =>
          this.#log[logLevelOf(failure, "error")](
            { err: failure, queue: this.#name, jobId: id },
            "a job could not be handed back",
          ),
        );
    } finally {
      this.#held.delete(job);
    }
    // Fetching one job whenever one ends would cost as much per job as fetching many.
    this.#endsAwaited -= 1;
    this.#lookIn(this.#endsAwaited <= 0 ? 0 : this.#pauseMs);
  }

  /** Sends the heartbeats of running jobs, and aborts those that the queue has given to another process. */
  async #beat(): Promise<void> {
    const jobs = [...this.#held.keys()];
    if (jobs.length === 0) return;
    try {
      // The type lacks the response's ids of the jobs that are still active.
      const answer: { settled?: string[] } = await this.#boss.touch(this.#name, jobs.map(claimOf));
      const kept = new Set(answer.settled ?? jobs.map(({ id }) => id));
      for (const { id, lost } of jobs) {
        if (!kept.has(id)) lost.abort(new Error("the queue gave this job to another worker"));
      }
    } catch (error) {
      this.#log[logLevelOf(error, "warn")](
        { err: error, queue: this.#name },
        "the heartbeats of running jobs could not be sent",
      );
    }
  }
}

function claimOf({ id, retryCount }: HeldJob): { id: string; retryCount: number } {
  return { id, retryCount };
}

function asObject(error: unknown): object {
  return error instanceof Error ? error : { message: String(error) };
}
