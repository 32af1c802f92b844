import { PgBoss } from "pg-boss";
import type { Parts } from "../../src/main.ts";
import {
  advanceVirtualTime,
  assignTag,
  type JobTag,
  removeQueuedJob,
} from "../../src/queue/fair-queueing.ts";
import { newJobId } from "../../src/queue/queue.ts";
import { enqueue } from "../../src/queue/transcription-jobs.ts";

export interface Claimed {
  id: string;
  environmentId: string;
  tag: JobTag;
}

/** Enqueues and claims jobs as the service does, but without transcriptions. */
export class QueueWorld {
  readonly #parts: Parts;
  readonly #boss: PgBoss;

  private constructor(parts: Parts, boss: PgBoss) {
    this.#parts = parts;
    this.#boss = boss;
  }

  static async open(parts: Parts): Promise<QueueWorld> {
    const boss = new PgBoss({ ...parts.database.boss, supervise: false, schedule: false, migrate: false });
    await boss.start();
    return new QueueWorld(parts, boss);
  }

  async close(): Promise<void> {
    await this.#boss.stop({ graceful: false, close: false });
  }

  get db() {
    return this.#parts.database.kysely;
  }

  async enqueue(environmentId: string, workSeconds: number): Promise<string> {
    const id = newJobId();
    await this.db.transaction().execute(async (tx) => {
      const { tag, priority } = await assignTag(tx, environmentId, { workSeconds });
      const job = { id, transcriptionId: "transcription_none", environmentId, tag, priority };
      await this.#parts.queue.sendTranscription(tx, job);
    });
    return id;
  }

  async claim(): Promise<Claimed | null> {
    const [job] = await this.#boss.fetch<{ tag: JobTag }>("transcribe", { includeMetadata: true });
    if (!job) return null;
    const { tag } = job.data;
    await this.db.transaction().execute((tx) => advanceVirtualTime(tx, tag));
    return { id: job.id, environmentId: job.groupId!, tag };
  }

  /** Requeues with the same tag, as after a short backoff. */
  async requeue({ environmentId, tag }: Claimed): Promise<string> {
    const jobId = newJobId();
    const { queue } = this.#parts;
    const job = { jobId, transcriptionId: "transcription_none", environmentId, tag };
    await this.db.transaction().execute((tx) => enqueue({ tx, queue }, job));
    return jobId;
  }

  async remove(environmentId: string, id: string): Promise<void> {
    await this.db.transaction().execute((tx) => removeQueuedJob(tx, environmentId, id));
  }

  async finishTag(environmentId: string): Promise<number> {
    const row = await this.db
      .selectFrom("environment_queue")
      .select("finish_tag")
      .where("environment_id", "=", environmentId)
      .executeTakeFirstOrThrow();
    return row.finish_tag;
  }

  async virtualTime(): Promise<number> {
    const row = await this.db.selectFrom("queue_clock").select("virtual_time").executeTakeFirstOrThrow();
    return row.virtual_time;
  }

  async environmentsInClaimOrder(): Promise<string[]> {
    const order: string[] = [];
    for (let claimed = await this.claim(); claimed; claimed = await this.claim())
      order.push(claimed.environmentId);
    return order;
  }
}
