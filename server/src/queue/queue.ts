import { createHash, randomUUID } from "node:crypto";
import { type ConstructorOptions, fromKysely, PgBoss } from "pg-boss";
import type { Logger } from "pino";
import type { Tx } from "../db/schema.ts";
import { logLevelOf } from "../lib/outages.ts";
import { Poller } from "../lib/poller.ts";
import { msUntilDue, msUntilLost } from "./due-job-queries.ts";
import type { JobTag } from "./fair-queueing.ts";
import { type JobData, JobStream, type JobStreamOptions } from "./job-stream.ts";

interface TaggedJob {
  id: string;
  transcriptionId: string;
  environmentId: string;
  tag: JobTag;
  priority: number;
  /** See `send`. */
  delayMs?: number | null;
}

export type QueueName = "transcribe" | "deliver" | "index";

/** A worker whose last heartbeat is older than this counts as lost. This is the minimum that pg-boss allows. */
const HEARTBEAT_SECONDS = 10;

const QUEUES: Record<QueueName, { expireInSeconds: number }> = {
  // Enough for the longest recording on the slowest machine. A hung engine times out much earlier.
  transcribe: { expireInSeconds: 86_399 },
  deliver: { expireInSeconds: 60 },
  index: { expireInSeconds: 3600 },
};

/** The channel on which pg-boss notifies of jobs that are due; the payload is the name of the queue. */
const CHANNEL = `pgboss_${createHash("sha224").update("pgboss").digest("hex").slice(0, 24)}`;
/**
 * The longest time between two polls for jobs that no notification announces. Notifications are also missed if the
 * connection that receives them breaks and nobody notices.
 */
const MAX_POLL_MS = 10_000;
/** Polling interval while a due job cannot be fetched, and without notifications. */
const MIN_POLL_MS = 500;

/** The durable queue, in the same database as the rows that its jobs refer to, so that both commit together. */
export class Queue {
  readonly #boss: PgBoss;
  readonly #log: Logger;
  readonly #create: boolean;
  readonly #streams = new Map<string, JobStream>();
  /** Delayed jobs send no notification when they become due. */
  readonly #dueJobs = new Poller(() => this.#fetchDueJobs());
  /** Nor do jobs that return from a lost worker. */
  readonly #lostJobs = new Poller(() => this.#returnLostJobs());
  #notifications: { close(): Promise<void> } | null = null;

  /** @param create false for commands, which require the queue's tables to exist and run no maintenance */
  constructor(
    database: ConstructorOptions,
    kind: "embedded" | "postgres",
    log: Logger,
    { create = true }: { create?: boolean } = {},
  ) {
    this.#log = log;
    this.#create = create;
    this.#boss = new PgBoss({
      ...database,
      migrate: create,
      createSchema: create,
      // Its timers write to the database even if nothing happens; see `supervise` and `#returnLostJobs`.
      supervise: false,
      monitorIntervalSeconds: 2,
      // Builds indexes after an update of pg-boss, one at a time.
      bamIntervalSeconds: 3600,
      // The embedded database has its own maintenance.
      monitorVacuum: kind === "postgres",
      reindex: kind === "postgres",
      schedule: false,
    });
    this.#boss.on("error", (error) =>
      log[logLevelOf(error, "error")]({ err: error }, "the queue reported an error"),
    );
    this.#boss.on("warning", (warning) => log.warn({ warning }, "the queue reported a warning"));
  }

  /** Creates the queue's tables if they are missing. Call it once, after the service's migrations. */
  async start(): Promise<void> {
    await this.#boss.start();
    for (const [name, { expireInSeconds }] of Object.entries(QUEUES)) {
      const options = {
        heartbeatSeconds: HEARTBEAT_SECONDS,
        expireInSeconds,
        // Rows count their retries. A job is only retried if its worker crashes, however often.
        retryLimit: 1000,
        retryDelay: 1,
        retryBackoff: true,
        retryDelayMax: 60,
        // A row waits for its job, however long the backlog is.
        retentionSeconds: 10 * 365 * 86_400,
        deleteAfterSeconds: 3600,
        notify: true,
      };
      if (this.#create) {
        await this.#boss.createQueue(name, options);
        // `createQueue` does not change an existing queue.
        await this.#boss.updateQueue(name, options);
      }
      // pg-boss reads a queue's settings at first use, outside the caller's transaction. With a single connection, that
      // would deadlock, so it reads them now.
      await this.#boss.findJobs(name, { id: randomUUID() });
    }
  }

  async work(handlers: Record<QueueName, JobStreamOptions>): Promise<void> {
    for (const [name, options] of Object.entries(handlers)) {
      const onEmpty = () => this.#dueJobs.within(MIN_POLL_MS);
      const stream = new JobStream(this.#boss, name, this.#log, options, onEmpty);
      this.#streams.set(name, stream);
    }
    const fetchAll = () => {
      for (const stream of this.#streams.values()) stream.fetchSoon();
    };
    try {
      const onNotification = (name: string) => this.#streams.get(name)?.fetchSoon();
      this.#notifications = await this.#boss.getDb().listen!(CHANNEL, onNotification, fetchAll);
    } catch (error) {
      this.#log[logLevelOf(error, "warn")](
        { err: error },
        "the queue polls, because it cannot receive notifications",
      );
    }
    for (const stream of this.#streams.values()) stream.start();
    this.#lostJobs.within(0);
  }

  /** @returns milliseconds until the next poll */
  async #fetchDueJobs(): Promise<number> {
    const names = [...this.#streams].filter(([, { hasFreeSlot }]) => hasFreeSlot).map(([name]) => name);
    try {
      const due = await msUntilDue(this.#boss.getDb(), names);
      for (const [name, dueInMs] of due) if (dueInMs <= 0) this.#streams.get(name)?.fetchSoon();
      const longest = this.#notifications === null ? MIN_POLL_MS : MAX_POLL_MS;
      return Math.max(MIN_POLL_MS, Math.min(longest, ...due.values()));
    } catch (error) {
      this.#log[logLevelOf(error, "error")]({ err: error }, "could not find due jobs");
      return MIN_POLL_MS;
    }
  }

  /** @returns milliseconds until the next poll, or until the next heartbeat timeout if that is sooner */
  async #returnLostJobs(): Promise<number> {
    try {
      const lossInMs = await msUntilLost(this.#boss.getDb(), Object.keys(QUEUES));
      if (lossInMs !== null && lossInMs <= 0) {
        await this.supervise();
        this.#dueJobs.within(0);
      }
      return Math.max(MIN_POLL_MS, Math.min(HEARTBEAT_SECONDS * 1000, lossInMs ?? Infinity));
    } catch (error) {
      this.#log[logLevelOf(error, "error")]({ err: error }, "could not find lost jobs");
      return MIN_POLL_MS;
    }
  }

  /** Returns the jobs of lost workers to the queue, deletes old jobs, and warns about growing tables. */
  async supervise(): Promise<void> {
    await this.#boss.supervise();
  }

  /** Enqueues a job in the transaction: the job exists if and only if the transaction commits. */
  async send(
    tx: Tx,
    name: Exclude<QueueName, "transcribe">,
    job: {
      id: string;
      subjectId: string;
      /** A delay and not a time, because the database's clock decides when jobs are due. */
      delayMs?: number;
      /** The concurrency of each group is limited; see `JobStreamOptions`. */
      group?: string;
    },
  ): Promise<void> {
    await this.#boss.send(
      name,
      { subjectId: job.subjectId },
      {
        id: job.id,
        db: fromKysely(tx),
        ...(job.delayMs !== undefined && job.delayMs > 0 && { startAfter: job.delayMs / 1000 }),
        ...(job.group && { group: { id: job.group } }),
      },
    );
    this.#fetchWhenDue(job.delayMs);
  }

  /** Enqueues a transcription; see `transcription-jobs.ts`. */
  async sendTranscription(tx: Tx, { id, transcriptionId, tag, delayMs, ...job }: TaggedJob): Promise<void> {
    const data: JobData = { subjectId: transcriptionId, tag };
    await this.#boss.send("transcribe", data, {
      id,
      db: fromKysely(tx),
      priority: job.priority,
      group: { id: job.environmentId },
      ...(delayMs && delayMs > 0 && { startAfter: delayMs / 1000 }),
    });
    this.#fetchWhenDue(delayMs);
  }

  /** Changes a waiting job in the transaction. */
  async updateTranscription(tx: Tx, { id, transcriptionId, tag, delayMs, ...job }: TaggedJob): Promise<void> {
    const data: JobData = { subjectId: transcriptionId, tag };
    await this.#boss.update("transcribe", data, {
      id,
      db: fromKysely(tx),
      priority: job.priority,
      group: { id: job.environmentId },
      ...(delayMs != null && { startAfter: delayMs / 1000 }),
    });
    this.#fetchWhenDue(delayMs);
  }

  #fetchWhenDue(delayMs: number | null | undefined): void {
    if (this.#streams.size > 0 && delayMs && delayMs > 0) this.#dueJobs.within(delayMs);
  }

  /** Takes no more jobs; running ones continue. */
  async pause(): Promise<void> {
    for (const stream of this.#streams.values()) stream.pause();
    await Promise.all([this.#dueJobs.stop(), this.#lostJobs.stop()]);
  }

  /** Waits for the running handlers until the timeout. Unfinished jobs are handed out again later. */
  async stop(timeoutMs: number): Promise<void> {
    await this.pause();
    await Promise.all([...this.#streams.values()].map((stream) => stream.stop(timeoutMs)));
    await this.#notifications?.close();
    await this.#boss.stop({ graceful: true, timeout: timeoutMs, close: true });
  }
}

export function newJobId(): string {
  return randomUUID();
}
