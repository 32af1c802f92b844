import { createHash, randomUUID } from "node:crypto";
import { type ConstructorOptions, fromKysely, PgBoss, type Db as QueueDatabase } from "pg-boss";
import type { Logger } from "pino";
import type { Tx } from "../db/schema.ts";
import { logLevelOf } from "../lib/outages.ts";
import { Poller } from "../lib/poller.ts";
import type { JobTag } from "./fair-queueing.ts";
import { type JobData, JobStream, type JobStreamOptions } from "./job-stream.ts";

interface TaggedJob {
  id: string;
  transcriptionId: string;
  environmentId: string;
  tag: JobTag;
  priority: number;
  delayMs?: number | null;
}

export const QUEUE_NAMES = ["transcribe", "deliver", "index", "announce", "bulk", "poster"] as const;
export type QueueName = (typeof QUEUE_NAMES)[number];

/** A worker without a heartbeat for this time counts as lost. pg-boss allows no shorter time. */
const HEARTBEAT_SECONDS = 10;

const QUEUES: Record<QueueName, { expireInSeconds: number }> = {
  // Enough for the longest recording on the slowest machine. Other timeouts detect a hung engine much earlier.
  transcribe: { expireInSeconds: 86_399 },
  deliver: { expireInSeconds: 60 },
  index: { expireInSeconds: 3600 },
  announce: { expireInSeconds: 60 },
  // Enough for the deletion of hundreds of thousands of videos.
  bulk: { expireInSeconds: 86_399 },
  // Enough to download a recording.
  poster: { expireInSeconds: 3600 },
};

/** pg-boss sends the name of a queue on this channel when a job is due. */
const CHANNEL = `pgboss_${createHash("sha224").update("pgboss").digest("hex").slice(0, 24)}`;
/** Maximum time between polls, because notifications are missed if their connection breaks unnoticed. */
const MAX_POLL_MS = 10_000;
/** Polling interval while a due job cannot be fetched, or if notifications are unavailable. */
const MIN_POLL_MS = 500;

/** A durable queue in the same database as the rows of its jobs, so that both commit together. */
export class Queue {
  readonly #boss: PgBoss;
  readonly #log: Logger;
  readonly #create: boolean;
  readonly #streams = new Map<string, JobStream>();
  /** Polls for delayed jobs, because pg-boss sends no notification when they become due. */
  readonly #dueJobs = new Poller(() => this.#fetchDueJobs());
  readonly #lostJobs = new Poller(() => this.#returnLostJobs());
  #notifications: { close(): Promise<void> } | null = null;

  /** @param create false for commands, which neither create nor maintain the queue's tables */
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
      // pg-boss's own supervision writes to the database even if nothing happens. `#returnLostJobs` calls it when
      // necessary.
      supervise: false,
      monitorIntervalSeconds: 2,
      // Interval at which pg-boss builds indexes after its own upgrade.
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

  /** Creates missing tables. Call this once, after the service's migrations. */
  async start(): Promise<void> {
    await this.#boss.start();
    for (const [name, { expireInSeconds }] of Object.entries(QUEUES)) {
      const options = {
        heartbeatSeconds: HEARTBEAT_SECONDS,
        expireInSeconds,
        // Rows count failures and limit their retries. pg-boss retries a job whenever its worker crashes.
        retryLimit: 1000,
        retryDelay: 1,
        retryBackoff: true,
        retryDelayMax: 60,
        // pg-boss would delete jobs that wait longer, but a row waits for its job during any backlog.
        retentionSeconds: 10 * 365 * 86_400,
        deleteAfterSeconds: 3600,
        notify: true,
      };
      if (this.#create) {
        await this.#boss.createQueue(name, options);
        // `createQueue` does not change an existing queue.
        await this.#boss.updateQueue(name, options);
      }
      // pg-boss loads a queue's settings on first use, outside the caller's transaction. With a single connection, that
      // would deadlock, so this loads them now.
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
        "could not listen for notifications; the queue will poll instead",
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

  /** @returns milliseconds until the next poll: until the next heartbeat timeout or the maximum interval */
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

  /** Requeues jobs of lost workers, deletes old jobs and warns about large tables. */
  async supervise(): Promise<void> {
    await this.#boss.supervise();
  }

  /** Enqueues a job. It exists if and only if the transaction commits. */
  async send(
    tx: Tx,
    name: Exclude<QueueName, "transcribe">,
    job: {
      id: string;
      subjectId: string;
      /** A delay instead of a time, because the database's clock decides when jobs are due. */
      delayMs?: number;
      /** Groups limit concurrency; see `JobStreamOptions`. */
      group?: string;
      /** Jobs with a higher priority come first. Default: 0. */
      priority?: number;
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
        ...(job.priority !== undefined && { priority: job.priority }),
      },
    );
    this.#fetchWhenDue(job.delayMs);
  }

  /** Use the functions in `transcription-jobs.ts` instead. */
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

  async pause(): Promise<void> {
    for (const stream of this.#streams.values()) stream.pause();
    await Promise.all([this.#dueJobs.stop(), this.#lostJobs.stop()]);
  }

  /** Waits for running jobs until the timeout. Unfinished jobs are retried later. */
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

/**
 * Returns the milliseconds until the first waiting job of each queue is due. Queues without waiting jobs have no entry.
 */
async function msUntilDue(db: QueueDatabase, names: readonly string[]): Promise<Map<string, number>> {
  const { rows } = await db.executeSql(
    `select name, due_in_ms from unnest($1::text[]) as queue (name) cross join lateral (
       select extract(epoch from min(start_after) - clock_timestamp())::float8 * 1000 as due_in_ms
       from pgboss.job where job.name = queue.name and state < 'active' and not blocked
     ) as waiting
     where due_in_ms is not null`,
    [names],
  );
  return new Map(rows.map(({ name, due_in_ms }) => [name, due_in_ms]));
}

/**
 * Returns the milliseconds until the first running job counts as lost, unless its worker sends another heartbeat.
 * @returns null if no job is running
 */
async function msUntilLost(db: QueueDatabase, names: readonly string[]): Promise<number | null> {
  const { rows } = await db.executeSql(
    `select extract(epoch from min(least(
       heartbeat_on + heartbeat_seconds * interval '1 second', started_on + expire_seconds * interval '1 second'
     )) - clock_timestamp())::float8 * 1000 as lost_in_ms
     from pgboss.job where name = any($1::text[]) and state = 'active'`,
    [names],
  );
  return rows[0].lost_in_ms;
}
