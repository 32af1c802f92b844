import { randomUUID } from "node:crypto";
import { type ConstructorOptions, fromKysely, PgBoss } from "pg-boss";
import type { Logger } from "pino";
import type { Tx } from "../db/schema.ts";
import { logLevelOf } from "../lib/outages.ts";
import type { JobTag } from "./fair-queueing.ts";
import type { JobHandler } from "./job.ts";
import { JobStream, type JobStreamOptions } from "./job-stream.ts";

interface JobData {
  subjectId: string;
  tag?: JobTag;
}

interface TaggedJob {
  id: string;
  transcriptionId: string;
  environmentId: string;
  tag: JobTag;
  priority: number;
  /** As for `send`. */
  delayMs?: number | null;
}

interface QueueHandlers {
  transcribe: {
    run: JobHandler;
    concurrency: number;
    /** Concurrent jobs of one environment in all processes; null for no limit, which is cheaper to fetch. */
    groupConcurrency: number | null;
  };
  deliver: JobStreamOptions;
  index: { run: JobHandler; concurrency: number; groupConcurrency: null };
}

export type QueueName = keyof QueueHandlers;

/** A worker without a heartbeat for this long is considered lost; this is the minimum of pg-boss. */
const HEARTBEAT_SECONDS = 10;

const QUEUES: Record<QueueName, { expireInSeconds: number }> = {
  // The longest recording on the slowest machine; a hung engine reaches its own timeout much earlier.
  transcribe: { expireInSeconds: 86_399 },
  deliver: { expireInSeconds: 60 },
  index: { expireInSeconds: 3600 },
};

/** The durable queue, in the same database as the rows that its jobs refer to, so that both commit together. */
export class Queue {
  readonly #boss: PgBoss;
  readonly #log: Logger;
  #deliveries: JobStream | undefined;

  readonly #create: boolean;

  /** @param create false for commands: then the queue's tables must exist, and no maintenance runs */
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
      supervise: create,
      useListenNotify: true,
      // How often lost workers are detected: the slower of the two intervals applies.
      superviseIntervalSeconds: 2,
      monitorIntervalSeconds: 2,
      // The embedded database has its own maintenance.
      monitorVacuum: kind === "postgres",
      reindex: kind === "postgres",
      schedule: false,
    });
    this.#boss.on("error", (error) =>
      log[logLevelOf(error, "error")]({ err: error }, "the queue met an error"),
    );
    this.#boss.on("warning", (warning) => log.warn({ warning }, "the queue warns"));
  }

  /** Creates the queue's own tables if they are missing. Call it once, after the service's migrations. */
  async start(): Promise<void> {
    await this.#boss.start();
    for (const [name, { expireInSeconds }] of Object.entries(QUEUES)) {
      const options = {
        heartbeatSeconds: HEARTBEAT_SECONDS,
        expireInSeconds,
        // Rows count the retries; a job comes back as often as its workers crash.
        retryLimit: 1000,
        retryDelay: 1,
        retryBackoff: true,
        retryDelayMax: 60,
        // A backlog may be long, and a row waits for its job.
        retentionSeconds: 10 * 365 * 86_400,
        deleteAfterSeconds: 3600,
        notify: true,
      };
      if (this.#create) {
        await this.#boss.createQueue(name, options);
        // Creating an existing queue changes nothing.
        await this.#boss.updateQueue(name, options);
      }
      // pg-boss reads a queue's settings at first use, outside the caller's transaction. With only one connection that
      // would wait forever, so they are read now.
      await this.#boss.findJobs(name, { id: randomUUID() });
    }
  }

  async work({ deliver, ...handlers }: QueueHandlers): Promise<void> {
    this.#deliveries = new JobStream(this.#boss, "deliver", this.#log, deliver);
    this.#deliveries.start();
    for (const [name, { run, concurrency, groupConcurrency }] of Object.entries(handlers)) {
      await this.#boss.work<JobData>(
        name,
        {
          localConcurrency: concurrency,
          ...(groupConcurrency !== null && { groupConcurrency }),
          pollingIntervalSeconds: 0.5,
          // A job that returns from a lost worker sends no notification.
          notifyPollingIntervalSeconds: 0.5,
          heartbeatRefreshSeconds: 3,
        },
        async ([job]) => {
          if (!job) return;
          try {
            const { id, data, signal, retryCount: cameBack } = job;
            await run({ id, subjectId: data.subjectId, tag: data.tag ?? null, signal, cameBack });
          } catch (error) {
            this.#log[logLevelOf(error, "warn")](
              { err: error, queue: name, jobId: job.id },
              "a job ended early and will come back",
            );
            throw error;
          }
        },
      );
    }
  }

  /** Enqueues with the transaction: the job exists if and only if the transaction commits. */
  async send(
    tx: Tx,
    name: Exclude<QueueName, "transcribe">,
    job: {
      id: string;
      subjectId: string;
      /** The delay starts now by the database's clock, which decides when jobs are due; this process's clock may be wrong. */
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
    if (name === "deliver") this.#deliveries?.expect();
  }

  /** As `send`; see `transcription-jobs.ts`. */
  async sendTranscription(tx: Tx, { id, transcriptionId, tag, delayMs, ...job }: TaggedJob): Promise<void> {
    const data: JobData = { subjectId: transcriptionId, tag };
    await this.#boss.send("transcribe", data, {
      id,
      db: fromKysely(tx),
      priority: job.priority,
      group: { id: job.environmentId },
      ...(delayMs && delayMs > 0 && { startAfter: delayMs / 1000 }),
    });
  }

  /** Changes a waiting job, within the transaction. */
  async updateTranscription(tx: Tx, { id, transcriptionId, tag, delayMs, ...job }: TaggedJob): Promise<void> {
    const data: JobData = { subjectId: transcriptionId, tag };
    await this.#boss.update("transcribe", data, {
      id,
      db: fromKysely(tx),
      priority: job.priority,
      group: { id: job.environmentId },
      ...(delayMs != null && { startAfter: delayMs / 1000 }),
    });
  }

  /** Takes no more jobs; running ones continue. */
  async pause(): Promise<void> {
    this.#deliveries?.pause();
    for (const name of Object.keys(QUEUES)) await this.#boss.offWork(name, { wait: false });
  }

  /** Waits for the running handlers; what has not ended within the given time is handed out again later. */
  async stop(timeoutMs: number): Promise<void> {
    await this.#deliveries?.stop(timeoutMs);
    await this.#boss.stop({ graceful: true, timeout: timeoutMs, close: true });
  }
}

export function newJobId(): string {
  return randomUUID();
}
