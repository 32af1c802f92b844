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
    /** Jobs of one environment at a time, in all processes; null for any number, which is cheaper to fetch. */
    groupConcurrency: number | null;
  };
  deliver: JobStreamOptions;
  index: { run: JobHandler; concurrency: number; groupConcurrency: null };
}

export type QueueName = keyof QueueHandlers;

/** A worker that is silent for so long is taken for dead; pg-boss allows no less. */
const HEARTBEAT_SECONDS = 10;

const QUEUES: Record<QueueName, { expireInSeconds: number }> = {
  // The longest recording on the slowest machine; a hung engine is noticed long before by its own limit.
  transcribe: { expireInSeconds: 86_399 },
  deliver: { expireInSeconds: 60 },
  index: { expireInSeconds: 3600 },
};

/** The durable queue, in the same database as the rows it is about, so that both commit together. */
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
      // How often dead workers are looked for: a pass happens at the slower of the two.
      superviseIntervalSeconds: 2,
      monitorIntervalSeconds: 2,
      // The embedded database cleans up after itself.
      monitorVacuum: kind === "postgres",
      reindex: kind === "postgres",
      schedule: false,
    });
    this.#boss.on("error", (error) =>
      log[logLevelOf(error, "error")]({ err: error }, "the queue met an error"),
    );
    this.#boss.on("warning", (warning) => log.warn({ warning }, "the queue warns"));
  }

  /** Makes the queue's own tables where they are missing. Call once, after the service's migrations. */
  async start(): Promise<void> {
    await this.#boss.start();
    for (const [name, { expireInSeconds }] of Object.entries(QUEUES)) {
      const options = {
        heartbeatSeconds: HEARTBEAT_SECONDS,
        expireInSeconds,
        // How often work is tried again is counted on the rows; a job comes back as often as workers die.
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
      // pg-boss reads a queue's settings at first use, past the caller's transaction, which on a database
      // with one connection would wait for ever. Read them now.
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
          // A job that comes back from a dead worker sends no notification.
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
      /** From now on by the database's clock, which decides when jobs are due: that of this process may be off. */
      delayMs?: number;
      /** Of one group, no more than some are worked on at a time; see `JobStreamOptions`. */
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

  /** Changes a job that waits, with the transaction. */
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

  /** Takes no more jobs; those that are running go on. */
  async pause(): Promise<void> {
    this.#deliveries?.pause();
    for (const name of Object.keys(QUEUES)) await this.#boss.offWork(name, { wait: false });
  }

  /** Waits for the handlers that are running; what has not ended within the time given comes back later. */
  async stop(timeoutMs: number): Promise<void> {
    await this.#deliveries?.stop(timeoutMs);
    await this.#boss.stop({ graceful: true, timeout: timeoutMs, close: true });
  }
}

export function newJobId(): string {
  return randomUUID();
}
