import type { PgBoss } from "pg-boss";
import type { Logger } from "pino";
import { createBatcher } from "../lib/batcher.ts";
import { logLevelOf } from "../lib/outages.ts";
import { Poller } from "../lib/poller.ts";
import type { JobTag } from "./fair-queueing.ts";
import type { JobHandler } from "./job.ts";

export interface JobData {
  subjectId: string;
  tag?: JobTag;
}

/** Time until the next fetch after one that failed. */
const RETRY_FETCH_MS = 500;
/** Minimum time between fetches during a backlog. Slow fetches increase it. */
const MIN_FETCH_INTERVAL_MS = 20;
const MAX_FETCH_TIME_SHARE = 0.2;
const HEARTBEAT_INTERVAL_MS = 3_000;

export interface JobStreamOptions {
  run: JobHandler;
  concurrency: number;
  /**
   * Maximum number of concurrent jobs of one group across all processes. Concurrent fetches can slightly exceed it.
   * Null for no limit, which makes fetches faster.
   */
  groupConcurrency: number | null;
}

interface ActiveJob {
  id: string;
  /** Distinguishes this claim of the job from later ones. */
  retryCount: number;
  data: JobData;
  lost: AbortController;
}

/**
 * Runs the jobs of one queue in this process. Fetches jobs for all free slots, and again as soon as slots become free.
 * pg-boss's own worker delivered a backlog ten times more slowly (decision 11).
 */
export class JobStream {
  readonly #boss: PgBoss;
  readonly #name: string;
  readonly #log: Logger;
  readonly #options: JobStreamOptions;
  readonly #onEmpty: () => void;
  readonly #complete: (job: ActiveJob) => Promise<void>;
  readonly #active = new Map<ActiveJob, Promise<void>>();
  readonly #fetches = new Poller(() => this.#fetch());
  /** Jobs that must end before the next immediate fetch, because one fetch can fill several slots. */
  #endsBeforeFetch = 0;
  #pauseMs = MIN_FETCH_INTERVAL_MS;
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #heartbeat: NodeJS.Timeout | undefined;

  /** @param onEmpty called after each fetch without jobs */
  constructor(
    boss: PgBoss,
    name: string,
    log: Logger,
    options: JobStreamOptions,
    onEmpty: () => void = () => {},
  ) {
    this.#boss = boss;
    this.#name = name;
    this.#log = log;
    this.#options = options;
    this.#onEmpty = onEmpty;
    this.#complete = createBatcher(
      async (jobs: readonly ActiveJob[]) => {
        await boss.complete(name, jobs.map(toClaim));
        return jobs.map(() => undefined);
      },
      { maxConcurrency: 1, maxBatchSize: options.concurrency },
    );
  }

  start(): void {
    this.#heartbeat = setInterval(() => void this.#sendHeartbeats(), HEARTBEAT_INTERVAL_MS);
    this.fetchSoon();
  }

  get hasFreeSlot(): boolean {
    return this.#active.size < this.#options.concurrency;
  }

  /** Call this when jobs may be due. Frequent calls cause few fetches. */
  fetchSoon(): void {
    this.#fetches.within(Math.max(0, this.#fetchedAt + this.#pauseMs - performance.now()));
  }

  /** Fetches no more jobs. Running ones continue. */
  pause(): void {
    void this.#fetches.stop();
  }

  async stop(timeoutMs: number): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, timeoutMs);
    // A fetch in progress may still claim jobs. Other processes get these only after a heartbeat timeout.
    const ended = this.#fetches.stop().then(() => Promise.all(this.#active.values()));
    await Promise.race([ended, late]);
    clearTimeout(timer);
    clearInterval(this.#heartbeat);
  }

  /** @returns milliseconds until the next fetch */
  async #fetch(): Promise<number> {
    if (!this.hasFreeSlot) return Number.POSITIVE_INFINITY;
    const { concurrency, groupConcurrency } = this.#options;
    const startedAt = performance.now();
    try {
      const jobs = await this.#boss.fetch<JobData>(this.#name, {
        batchSize: concurrency - this.#active.size,
        ...(groupConcurrency !== null && { groupConcurrency }),
      });
      for (const { id, retryCount, data } of jobs) {
        const job = { id, retryCount, data, lost: new AbortController() };
        this.#active.set(job, this.#run(job));
      }
      this.#fetchedAt = performance.now();
      this.#endsBeforeFetch = this.#active.size / 2;
      this.#pauseMs = Math.max(MIN_FETCH_INTERVAL_MS, (this.#fetchedAt - startedAt) / MAX_FETCH_TIME_SHARE);
      // Fetches again, because jobs of a full group may have hidden those of other groups.
      if (jobs.length > 0) return this.#pauseMs;
      this.#onEmpty();
      return Number.POSITIVE_INFINITY;
    } catch (error) {
      this.#log[logLevelOf(error, "error")]({ err: error, queue: this.#name }, "could not fetch jobs");
      return RETRY_FETCH_MS;
    }
  }

  async #run(job: ActiveJob): Promise<void> {
    const { id, data, retryCount, lost } = job;
    try {
      const { subjectId, tag = null } = data;
      await this.#options.run({ id, subjectId, tag, signal: lost.signal, retryCount });
      await this.#complete(job);
    } catch (error) {
      this.#log[logLevelOf(error, "warn")](
        { err: error, queue: this.#name, jobId: id },
        "a job ended early and will be retried",
      );
      // If this fails too, another worker gets the job after the heartbeat timeout.
      await this.#boss
        .fail(this.#name, toClaim(job), asObject(error))
        .catch((failure) =>
          this.#log[logLevelOf(failure, "error")](
            { err: failure, queue: this.#name, jobId: id },
            "could not hand a job back",
          ),
        );
    } finally {
      this.#active.delete(job);
    }
    // A fetch for one slot costs as much as a fetch for many, so the next fetch waits until more slots are free.
    this.#endsBeforeFetch -= 1;
    this.#fetches.within(this.#endsBeforeFetch <= 0 ? 0 : this.#pauseMs);
  }

  /** Sends heartbeats for running jobs, and aborts jobs that another process has claimed. */
  async #sendHeartbeats(): Promise<void> {
    const jobs = [...this.#active.keys()];
    if (jobs.length === 0) return;
    try {
      // The type lacks `settled`, the ids of jobs that are still active.
      const answer: { settled?: string[] } = await this.#boss.touch(this.#name, jobs.map(toClaim));
      const kept = new Set(answer.settled ?? jobs.map(({ id }) => id));
      for (const { id, lost } of jobs) {
        if (!kept.has(id)) lost.abort(new Error("the queue gave this job to another worker"));
      }
    } catch (error) {
      this.#log[logLevelOf(error, "warn")](
        { err: error, queue: this.#name },
        "could not send the heartbeats of running jobs",
      );
    }
  }
}

function toClaim({ id, retryCount }: ActiveJob): { id: string; retryCount: number } {
  return { id, retryCount };
}

function asObject(error: unknown): object {
  return error instanceof Error ? error : { message: String(error) };
}
