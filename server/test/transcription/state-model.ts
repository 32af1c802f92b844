import type { Checkpoint } from "@subtext/speech/checkpoints/checkpoint";
import { SpeechError } from "@subtext/speech/errors";
import type { Speech } from "@subtext/speech/processes/process-pool";
import type { TranscribeResult } from "@subtext/speech/transcript";
import { sql } from "kysely";
import { sweepLostJobs } from "../../src/cleanup/reconcile-jobs.ts";
import type { TranscriptionRow } from "../../src/db/tables/transcriptions.ts";
import type { EventDetail } from "../../src/db/tables/webhooks.ts";
import type { Clock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import type { Parts } from "../../src/main.ts";
import type { JobTag } from "../../src/queue/fair-queueing.ts";
import type { Job } from "../../src/queue/job.ts";
import { maintainQueue } from "../../src/queue/queue-maintenance.ts";
import type { RecordingStore } from "../../src/storage/recording-store.ts";
import { cancelTranscription } from "../../src/transcription/cancel.ts";
import { reprocess } from "../../src/transcription/reprocess.ts";
import { runTranscription } from "../../src/transcription/run.ts";
import { RunningAttempts } from "../../src/transcription/running-attempts.ts";
import { wakeWaiting } from "../../src/transcription/wake-waiting.ts";
import { acceptUpload } from "../../src/uploads/accept-upload.ts";
import { deleteVideo } from "../../src/videos/delete-video.ts";
import { FAKE_TRANSCRIPT } from "../support/fake-transcript.ts";

/** How an attempt can be made to end. */
export const ENDS = ["complete", "skip", "fail", "fault", "language", "hand back", "yield"] as const;
export type End = (typeof ENDS)[number];

/** An attempt that a worker runs, or one whose worker does not know yet that it has been replaced. */
export interface Running {
  transcriptionId: string;
  attempt: number;
  jobId: string;
  end(how: End): Promise<void>;
}

export interface SeenAttempt {
  number: number;
  outcome: string | null;
  failure_code: string | null;
}

export interface SeenEvent {
  type: string;
  detail: EventDetail;
}

export interface WaitingJob {
  id: string;
  due: boolean;
}

/** More than any world needs: each round ends one attempt. */
const MAX_ROUNDS = 500;

/**
 * The service's own functions in an environment that the test controls: which worker gets which job and when, which
 * lease is lost, how the recognition ends, and the time.
 */
export class StateWorld {
  readonly running: Running[] = [];
  readonly environmentIds: string[];
  readonly cap: number | null;
  readonly #parts: Parts;
  readonly #attempts: RunningAttempts;
  #offsetMs = 0;
  readonly #clock: Clock = { now: () => new Date(Date.now() + this.#offsetMs) };

  constructor(parts: Parts, environmentIds: string[], cap: number | null) {
    this.#parts = parts;
    this.environmentIds = environmentIds;
    this.cap = cap;
    this.#attempts = new RunningAttempts(parts.database.kysely);
  }

  get #db() {
    return this.#parts.database.kysely;
  }

  now(): Date {
    return this.#clock.now();
  }

  /** Offset of all workers' clocks; the database's clock is not changed. */
  advance(seconds: number): void {
    this.#offsetMs += seconds * 1000;
  }

  /** Time passes for waiting jobs and for all workers. */
  async pass(seconds: number): Promise<void> {
    this.advance(seconds);
    await sql`update transcription set due_at = due_at - ${seconds} * interval '1 second'
      where status = 'PENDING'`.execute(this.#db);
  }

  async rows(): Promise<Map<string, TranscriptionRow>> {
    const rows = await this.#db.selectFrom("transcription").selectAll().orderBy("id").execute();
    return new Map(rows.map((row) => [row.id, row]));
  }

  /** All jobs that a worker has or may still get. */
  async livingJobs(): Promise<Set<string>> {
    const { rows } = await sql<{ id: string }>`select id from pgboss.job
      where name = 'transcribe' and state in ('created', 'retry', 'active')`.execute(this.#db);
    return new Set(rows.map(({ id }) => id));
  }

  async waitingJobs(): Promise<WaitingJob[]> {
    const { rows } = await sql<WaitingJob>`
      select id, start_after <= ${this.now()}::timestamptz as due from pgboss.job
      where name = 'transcribe' and state in ('created', 'retry') order by id`.execute(this.#db);
    return rows;
  }

  /** Start tags of live jobs, by their transcriptions' ids. */
  async startTags(): Promise<Map<string, number>> {
    const { rows } = await sql<{ id: string; start: number }>`
      select transcription.id, (data->'tag'->>'start')::bigint as start
      from pgboss.job join transcription on job_id = job.id
      where name = 'transcribe' and state <= 'active'`.execute(this.#db);
    return new Map(rows.map(({ id, start }) => [id, start]));
  }

  async virtualTime(): Promise<number> {
    const row = await this.#db.selectFrom("queue_clock").select("virtual_time").executeTakeFirstOrThrow();
    return row.virtual_time;
  }

  async attemptsOf(id: string): Promise<SeenAttempt[]> {
    return await this.#db
      .selectFrom("transcription_attempt")
      .select(["number", "outcome", "failure_code"])
      .where("transcription_id", "=", id)
      .orderBy("number")
      .execute();
  }

  async eventsOf(id: string): Promise<SeenEvent[]> {
    return await this.#db
      .selectFrom("event")
      .select(["type", "detail"])
      .where("transcription_id", "=", id)
      .execute();
  }

  async upload(environmentId: string): Promise<void> {
    const videoId = newId("video");
    await this.#db
      .insertInto("video")
      .values({
        id: videoId,
        environment_id: environmentId,
        metadata: "{}",
        size_bytes: 1,
        created_at: this.now(),
      })
      .execute();
    await acceptUpload(
      { db: this.#db, queue: this.#parts.queue, clock: this.#clock },
      { videoId, sizeBytes: 1 },
    );
  }

  /** A worker gets the job. Resolves when its attempt has started, or when it has found nothing to do. */
  async take(jobId: string): Promise<void> {
    const { rows } = await sql<{ subjectId: string; tag: JobTag; claim: number }>`
      update pgboss.job set state = 'active', retry_count = retry_count + 1
      where name = 'transcribe' and id = ${jobId} and state in ('created', 'retry')
      returning data->>'subjectId' as "subjectId", data->'tag' as tag, retry_count as claim`.execute(
      this.#db,
    );
    const [taken] = rows;
    if (!taken) return;
    const { subjectId, tag } = taken;
    const job: Job = { id: jobId, subjectId, tag, signal: new AbortController().signal };
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const shutdown = new AbortController();
    const { promise: result, resolve, reject } = Promise.withResolvers<TranscribeResult>();
    let isModelExpected = false;
    let running: Running | undefined;
    const { transcripts, queue, log } = this.#parts;
    const deps = {
      db: this.#db,
      queue,
      transcripts,
      log,
      clock: this.#clock,
      maxDurationSeconds: 60,
      maxConcurrentPerEnvironment: this.cap,
      isModelExpected: () => isModelExpected,
      recordings: fakeSources,
      /** A fake engine, which ends as the test decides. */
      speech: {
        transcribe: async (_path: string, options: Parameters<Speech["transcribe"]>[1]) => {
          const hold = await this.#holdOf(jobId);
          // The real engine's first report ends the cost of resuming, which sets the length of a slice.
          options.onProgress?.({ done: 0, duration: null, remainingSeconds: null });
          running = {
            ...hold,
            jobId,
            end: async (how) => {
              this.#leave(running!);
              if (how === "complete") resolve(FAKE_TRANSCRIPT);
              else if (how === "skip") {
                resolve({
                  outcome: "skipped",
                  reason: "no_audio_track",
                  duration: null,
                } as unknown as TranscribeResult);
              } else if (how === "fail") reject(new SpeechError("undecodable_audio", "It is encrypted."));
              else if (how === "fault") reject(new SpeechError("engine_crashed", "It ended."));
              else if (how === "language") {
                isModelExpected = true;
                reject(new SpeechError("language_unsupported", "Not English."));
              } else if (how === "yield") {
                await this.#enqueueDecoy();
                options.onProgress?.({ done: 1, duration: null, remainingSeconds: null });
                // More than a slice of work, however long it took to get here.
                this.advance(100_000);
                options.onCheckpoint?.(FAKE_STRETCH);
              } else {
                shutdown.abort(new Error("stopping"));
                reject(shutdown.signal.reason);
              }
              await ended;
            },
          };
          this.running.push(running);
          options.signal?.addEventListener("abort", () => reject(options.signal?.reason));
          begin();
          return await result;
        },
      } as unknown as Speech,
    };
    const ended = this.#attempts
      .run(job, async (its) => await runTranscription(deps, its, shutdown.signal))
      .then(async () => await this.#finishJob(jobId, taken.claim))
      .finally(() => running && this.#leave(running));
    await Promise.race([begun, ended]);
  }

  /** A job of another environment without a transcription, which comes first. */
  async #enqueueDecoy(): Promise<void> {
    await sql`insert into pgboss.job (name, data, priority, group_id, start_after)
      values ('transcribe', '{"subjectId": ""}', 1000000, 'decoy', now() - interval '1 minute')`.execute(
      this.#db,
    );
  }

  /** Once or twice: two callers may end it at the same time. */
  #leave(running: Running): void {
    const place = this.running.indexOf(running);
    if (place >= 0) this.running.splice(place, 1);
  }

  async #holdOf(jobId: string): Promise<{ transcriptionId: string; attempt: number }> {
    const row = await this.#db
      .selectFrom("transcription")
      .select(["id as transcriptionId", "attempt"])
      .where("job_id", "=", jobId)
      .where("status", "=", "PROCESSING")
      .executeTakeFirstOrThrow();
    return row;
  }

  /** Like pg-boss, which ignores the completion of a job that another worker has taken since. */
  async #finishJob(jobId: string, claim: number): Promise<void> {
    await sql`update pgboss.job set state = 'completed'
      where id = ${jobId} and state = 'active' and retry_count = ${claim}`.execute(this.#db);
  }

  /** The queue considers the worker lost and releases its job, but the worker does not know. */
  async loseLease({ jobId }: Running): Promise<void> {
    await sql`update pgboss.job set state = 'retry' where id = ${jobId} and state = 'active'`.execute(
      this.#db,
    );
  }

  /** The queue loses a job, and the sweep runs. */
  async forget(jobId: string): Promise<void> {
    await sql`delete from pgboss.job where id = ${jobId} and state in ('created', 'retry')`.execute(this.#db);
    await this.sweep();
  }

  async sweep(): Promise<void> {
    const { queue, log } = this.#parts;
    const deps = { db: this.#db, queue, log, clock: this.#clock };
    const { signal } = new AbortController();
    await sweepLostJobs(deps, signal);
    await maintainQueue(deps, signal);
  }

  async modelArrives(): Promise<void> {
    const { queue, log } = this.#parts;
    await wakeWaiting({ db: this.#db, queue, log }, new AbortController().signal);
  }

  async reprocess({ id }: TranscriptionRow): Promise<void> {
    await reprocess({ db: this.#db, queue: this.#parts.queue, clock: this.#clock }, id).catch((error) => {
      if (!["transcription_not_failed", "transcription_not_found"].includes(error.code)) throw error;
    });
  }

  async cancel({ id }: TranscriptionRow): Promise<void> {
    const deps = { db: this.#db, queue: this.#parts.queue, clock: this.#clock, running: this.#attempts };
    await cancelTranscription(deps, id).catch((error) => {
      if (!["transcription_finished", "transcription_not_found"].includes(error.code)) throw error;
    });
  }

  async delete({ environment_id: environmentId, video_id: videoId }: TranscriptionRow): Promise<void> {
    const { transcripts, log } = this.#parts;
    await deleteVideo(
      {
        db: this.#db,
        transcripts,
        log,
        recordings: fakeSources,
        running: this.#attempts,
        locker: fakeLocker,
      },
      { environmentId, videoId },
    );
  }

  /** Runs until everything has ended. */
  async drain(): Promise<void> {
    for (let rounds = 0; rounds < MAX_ROUNDS; rounds++) {
      for (const running of [...this.running]) await running.end("complete");
      this.advance(3600);
      const waiting = await this.waitingJobs();
      const [job] = waiting;
      if (!job) return;
      await this.take(job.id);
    }
    throw new Error("the work does not end");
  }

  /** Resets the database for another world. */
  async clear(): Promise<void> {
    for (const running of [...this.running]) await running.end("complete");
    await sql`delete from pgboss.job where name = 'transcribe'`.execute(this.#db);
    await sql`delete from video`.execute(this.#db);
  }
}

const FAKE_STRETCH: Checkpoint = { settledSeconds: 1, results: "" };
/** No test here reads a recording. */
const fakeSources = {
  open: async () => ({ path: "/nowhere", release: async () => {} }),
  remove: async () => {},
} as unknown as RecordingStore;
const fakeLocker = { newLock: () => ({ lock: async () => {}, unlock: async () => {} }) } as never;
