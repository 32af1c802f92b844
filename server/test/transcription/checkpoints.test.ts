import type { Checkpoint } from "@subtext/speech/checkpoints/checkpoint";
import { SpeechError } from "@subtext/speech/errors";
import type { Speech } from "@subtext/speech/processes/process-pool";
import type { TranscribeResult } from "@subtext/speech/transcript";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { applyRetention } from "../../src/cleanup/retention.ts";
import type { Db } from "../../src/db/schema.ts";
import { changeEnvironment } from "../../src/environments/environments.ts";
import { newId } from "../../src/lib/ids.ts";
import { databaseUnavailable } from "../../src/lib/lost-connection.ts";
import type { JobTag } from "../../src/queue/fair-queueing.ts";
import { listAttempts } from "../../src/transcription/attempt-queries.ts";
import type { AttemptReport } from "../../src/transcription/attempt-report.ts";
import { saveCheckpoint } from "../../src/transcription/checkpoint-queries.ts";
import { reprocess } from "../../src/transcription/reprocess.ts";
import { type PipelineDeps, runTranscription } from "../../src/transcription/run.ts";
import { acceptUpload } from "../../src/uploads/accept-upload.ts";
import { FAKE_TRANSCRIPT } from "../support/fake-transcript.ts";
import { createTenant, MovableClock, shareService } from "../support/service.ts";

type TranscribeOptions = Parameters<Speech["transcribe"]>[1];
/** A fake engine, whose behavior and timing the test controls. */
type FakeRecognition = (options: TranscribeOptions) => Promise<TranscribeResult>;

const service = shareService({ start: false });

const checkpoint = (settledSeconds: number): Checkpoint => ({
  settledSeconds,
  results: `recognized ${settledSeconds}`,
});
const crash = () => new SpeechError("engine_crashed", "It ended.");

async function pendingTranscription({ sizeBytes = 1 } = {}) {
  const { database, queue, log, transcripts, recordings } = service.service.parts;
  const clock = new MovableClock();
  const db = database.kysely;
  await sql`delete from pgboss.job where name = 'transcribe'`.execute(db);
  const tenant = await createTenant(service);
  const videoId = newId("video");
  await db
    .insertInto("video")
    .values({
      id: videoId,
      environment_id: tenant.environmentId,
      metadata: "{}",
      size_bytes: sizeBytes,
      created_at: clock.now(),
    })
    .execute();
  await acceptUpload({ db, queue, clock }, { videoId, sizeBytes });
  const read = () =>
    db.selectFrom("transcription").selectAll().where("video_id", "=", videoId).executeTakeFirstOrThrow();
  const run = async (
    recognize: FakeRecognition,
    options: Partial<PipelineDeps & { shutdown: AbortSignal }> = {},
  ) => {
    const { id, job_id } = await read();
    const deps: PipelineDeps = {
      db,
      queue,
      log,
      clock,
      transcripts,
      // Nothing reads it.
      recordings: {
        ...recordings,
        open: async () => ({ path: "/none", release: async () => {} }),
      },
      maxDurationSeconds: 60,
      maxConcurrentPerEnvironment: null,
      isModelExpected: () => false,
      speech: { ...service.service.parts.speech, transcribe: (_path, options) => recognize(options) },
      ...options,
    };
    const { rows } = await sql<{ data: { tag: JobTag } }>`
      update pgboss.job set state = 'active' where name = 'transcribe' and id = ${job_id} returning data`.execute(
      db,
    );
    const job = { id: job_id, subjectId: id, tag: rows[0]!.data.tag, signal: new AbortController().signal };
    await runTranscription(deps, job, options.shutdown ?? new AbortController().signal);
    return await read();
  };
  /** End times of the stored checkpoints. */
  const stored = async () => {
    const { id } = await read();
    const rows = await db
      .selectFrom("transcription_checkpoint")
      .select("settled_seconds")
      .where("transcription_id", "=", id)
      .orderBy("attempt")
      .orderBy("number")
      .execute();
    return rows.map(({ settled_seconds }) => settled_seconds);
  };
  const untilStored = async (count: number) => {
    while ((await stored()).length < count) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  return { db, videoId, clock, read, run, stored, untilStored };
}

/** Writes these checkpoints, waits until they are stored, then continues as the test wants. */
function writing(pending: Pending, settled: readonly number[], then: FakeRecognition): FakeRecognition {
  return async (options) => {
    const before = (await pending.stored()).length;
    for (const seconds of settled) options.onCheckpoint!(checkpoint(seconds));
    await pending.untilStored(before + settled.length);
    return await then(options);
  };
}

type Pending = Awaited<ReturnType<typeof pendingTranscription>>;
const untilAborted: FakeRecognition = ({ signal }) =>
  new Promise((_resolve, reject) => {
    signal.throwIfAborted();
    signal.addEventListener("abort", () => reject(signal.reason));
  });
const settledOf = ({ checkpoints }: TranscribeOptions) =>
  checkpoints!.map(({ settledSeconds }) => settledSeconds).toSorted((a, b) => a - b);

test("a completion whose confirmation was lost is reported once", async () => {
  const pending = await pendingTranscription();
  let transactions = 0;
  // The second transaction is the completion; its connection breaks after the commit.
  const breaking = new Proxy(pending.db, {
    get(db, key) {
      if (key === "transaction" && ++transactions === 2) {
        return () => ({
          async execute(work: Parameters<ReturnType<Db["transaction"]>["execute"]>[0]) {
            await db.transaction().execute(work);
            throw databaseUnavailable(null);
          },
        });
      }
      const value: unknown = Reflect.get(db, key);
      return typeof value === "function" ? value.bind(db) : value;
    },
  });
  const reports: AttemptReport[] = [];
  const row = await pending.run(async () => FAKE_TRANSCRIPT, {
    db: breaking,
    onAttempt: (attempt) => reports.push(attempt),
  });
  expect(row).toMatchObject({ status: "COMPLETED", attempt: 1 });
  expect(reports).toMatchObject([{ outcome: "completed", transcript: { wordCount: 1 } }]);
});

test("a failure is reported whatever characters an engine's message contains", async () => {
  const pending = await pendingTranscription();
  const refusal = new SpeechError("engine_refused", "It said: \0 \ud800.");
  const row = await pending.run(() => Promise.reject(refusal));
  expect(row).toMatchObject({
    status: "FAILED",
    failure_code: "engine_refused",
    failure_message: "It said: \uFFFD \uFFFD.",
  });
});

describe("checkpoints of a recording", () => {
  test("are passed to the next attempt after a failure, a stop and a lost worker, and deleted on completion", async () => {
    const pending = await pendingTranscription();
    const { run, stored, read } = pending;
    const given: number[][] = [];
    const noting =
      (recognize: FakeRecognition): FakeRecognition =>
      (options) => {
        given.push(settledOf(options));
        return recognize(options);
      };
    await run(noting(writing(pending, [300, 600], () => Promise.reject(crash()))));
    const shutdown = new AbortController();
    await run(
      noting(
        writing(pending, [900], (options) => {
          shutdown.abort(new Error("stopping"));
          return untilAborted(options);
        }),
      ),
      { shutdown: shutdown.signal },
    );
    const asleep = Promise.withResolvers<TranscribeResult>();
    const first = run(noting(writing(pending, [1200], () => asleep.promise)));
    await pending.untilStored(4);
    const job = await read();
    expect(await run(noting(writing(pending, [1500], async () => FAKE_TRANSCRIPT)))).toMatchObject({
      status: "COMPLETED",
      job_id: job.job_id,
    });
    expect(await stored()).toEqual([]);
    asleep.resolve(FAKE_TRANSCRIPT);
    await first;
    expect(given).toEqual([[], [300, 600], [300, 600, 900], [300, 600, 900, 1200]]);
  });

  test("are passed on with the environment's vocabulary, which may invalidate them", async () => {
    const { db, videoId, run } = await pendingTranscription();
    const { environment_id } = await db
      .selectFrom("video")
      .select("environment_id")
      .where("id", "=", videoId)
      .executeTakeFirstOrThrow();
    await changeEnvironment(db, environment_id, { vocabulary: ["Subtext", "Anna Weber"] });
    let given: readonly string[] | undefined;
    await run(async ({ vocabulary }) => {
      given = vocabulary;
      return FAKE_TRANSCRIPT;
    });
    expect(given).toEqual(["Subtext", "Anna Weber"]);
  });

  test("are deleted when it is skipped", async () => {
    const pending = await pendingTranscription();
    const skip = async () => ({ outcome: "skipped", reason: "silent_audio_track", duration: 1 }) as const;
    expect(await pending.run(writing(pending, [300], skip))).toMatchObject({ status: "SKIPPED" });
    expect(await pending.stored()).toEqual([]);
  });

  test("are kept when it fails, and a manual retry continues from them", async () => {
    const pending = await pendingTranscription();
    const { db, read, run } = pending;
    const { queue } = service.service.parts;
    const refuse = () => Promise.reject(new SpeechError("engine_refused", "The key has expired."));
    expect(await run(writing(pending, [300], refuse))).toMatchObject({ status: "FAILED" });
    await reprocess({ db, queue, clock: pending.clock }, (await read()).id);
    // The retry gets further before it fails too.
    const given: number[][] = [];
    const further: FakeRecognition = (options) => {
      given.push(settledOf(options));
      return writing(pending, [600], refuse)(options);
    };
    expect(await run(further)).toMatchObject({ status: "FAILED", attempt: 2 });
    await reprocess({ db, queue, clock: pending.clock }, (await read()).id);
    await run(async (options) => {
      given.push(settledOf(options));
      return FAKE_TRANSCRIPT;
    });
    expect(given).toEqual([[300], [300, 600]]);
    expect(await pending.stored()).toEqual([]);
  });

  test("are discarded when an attempt that continued from them fails for good without getting further", async () => {
    const pending = await pendingTranscription();
    await pending.run(writing(pending, [300], () => Promise.reject(crash())));
    expect(await pending.run(() => Promise.reject(crash()))).toMatchObject({ status: "PENDING" });
    expect(await pending.stored()).toEqual([300]);
    expect(await pending.run(() => Promise.reject(crash()))).toMatchObject({ status: "FAILED" });
    expect(await pending.stored()).toEqual([]);
  });

  test("are discarded after too many lost workers", async () => {
    const pending = await pendingTranscription();
    await pending.run(writing(pending, [300], () => Promise.reject(crash())));
    const { id } = await pending.read();
    await pending.db.updateTable("transcription").set({ crash_count: 11 }).where("id", "=", id).execute();
    expect(await pending.run(async () => FAKE_TRANSCRIPT)).toMatchObject({ failure_code: "worker_lost" });
    expect(await pending.stored()).toEqual([]);
  });

  test("are deleted when retention deletes the recording, because nothing can be retried any more", async () => {
    const pending = await pendingTranscription();
    await pending.run(
      writing(pending, [300], () => Promise.reject(new SpeechError("engine_refused", "No."))),
    );
    const { environment_id } = await pending.read();
    await pending.db
      .updateTable("environment")
      .set({ retention_days: 1, retention_deletes: "recording" })
      .where("id", "=", environment_id)
      .execute();
    pending.clock.advance(2 * 86_400_000);
    const { recordings, transcripts, ownership, log } = service.service.parts;
    const deps = { db: pending.db, recordings, transcripts, ownership, log, clock: pending.clock };
    await applyRetention(deps, new AbortController().signal);
    expect(await pending.stored()).toEqual([]);
  });

  test("are deleted with their video", async () => {
    const pending = await pendingTranscription();
    await pending.run(writing(pending, [300], () => Promise.reject(crash())));
    const { id } = await pending.read();
    await pending.db.deleteFrom("video").where("id", "=", pending.videoId).execute();
    const left = pending.db
      .selectFrom("transcription_checkpoint")
      .selectAll()
      .where("transcription_id", "=", id);
    expect(await left.execute()).toEqual([]);
  });

  test("are not written by an attempt that was replaced, which then ends", async () => {
    const pending = await pendingTranscription();
    const asleep = Promise.withResolvers<void>();
    const first = pending.run(async (options) => {
      await asleep.promise;
      options.onCheckpoint!(checkpoint(300));
      return await untilAborted(options);
    });
    while ((await pending.read()).status !== "PROCESSING")
      await new Promise((resolve) => setTimeout(resolve, 5));
    const second = await pending.run(writing(pending, [600], () => Promise.reject(crash())));
    expect(second).toMatchObject({ status: "PENDING", attempt: 2 });
    asleep.resolve();
    await first;
    expect(await pending.stored()).toEqual([600]);
  });

  test("are not written once the transcription has ended", async () => {
    const pending = await pendingTranscription();
    await pending.run(async () => FAKE_TRANSCRIPT);
    const { id } = await pending.read();
    expect(
      await saveCheckpoint(pending.db, { transcriptionId: id, attempt: 1 }, 1, checkpoint(300)),
    ).toBeNull();
    expect(await pending.stored()).toEqual([]);
  });

  test("that cannot be written do not end the attempt", async () => {
    const pending = await pendingTranscription();
    const row = await pending.run(async ({ onCheckpoint }) => {
      // No database accepts this character.
      onCheckpoint!({ settledSeconds: 300, results: "\u0000" });
      return FAKE_TRANSCRIPT;
    });
    expect(row).toMatchObject({ status: "COMPLETED" });
  });
});

describe("failures and lost workers", () => {
  test("are counted from zero after each new checkpoint", async () => {
    const pending = await pendingTranscription();
    const { db, run, read } = pending;
    const fault = () => run(() => Promise.reject(crash()));
    await fault();
    expect(await fault()).toMatchObject({ status: "PENDING", failure_count: 2 });
    const { id } = await read();
    await db.updateTable("transcription").set({ crash_count: 10 }).where("id", "=", id).execute();
    // The failure arrives while the checkpoint is being stored.
    const advance: FakeRecognition = async ({ onCheckpoint }) => {
      onCheckpoint!(checkpoint(300));
      throw crash();
    };
    expect(await run(advance)).toMatchObject({ status: "PENDING", failure_count: 1, crash_count: 0 });
  });

  test("keep counting if the new checkpoint is not beyond the previous one", async () => {
    const pending = await pendingTranscription();
    const stuck = () => pending.run(writing(pending, [300], () => Promise.reject(crash())));
    await stuck();
    expect(await stuck()).toMatchObject({ status: "PENDING", failure_count: 2 });
    expect(await stuck()).toMatchObject({ status: "FAILED", failure_code: "engine_crashed" });
  });
});

describe("a long recording", () => {
  /** Writes a checkpoint after so many seconds of work. */
  const working =
    (pending: Pending, seconds: number, then: FakeRecognition): FakeRecognition =>
    async (options) => {
      options.onProgress?.({ done: 0, duration: 3600, remainingSeconds: null });
      pending.clock.advance(seconds * 1000);
      return await writing(pending, [600], then)(options);
    };
  /** Enqueues a video of this size; the estimated work is a second for each megabyte. */
  const enqueueOther = async ({ db, clock }: Pending, environmentId: string, sizeBytes: number) => {
    const { queue } = service.service.parts;
    const videoId = newId("video");
    await db
      .insertInto("video")
      .values({
        id: videoId,
        environment_id: environmentId,
        metadata: "{}",
        size_bytes: sizeBytes,
        created_at: clock.now(),
      })
      .execute();
    await acceptUpload({ db, queue, clock }, { videoId, sizeBytes });
    // Old enough that no idle worker is about to claim it.
    await sql`update pgboss.job set start_after = now() - interval '1 minute' where name = 'transcribe'`.execute(
      db,
    );
  };
  const environmentOf = async ({ read }: Pending) => (await read()).environment_id;
  const LONG = 3_600_000_000;
  const SHORT = 10_000_000;

  test("yields at the first checkpoint after a slice if a video of another environment waits", async () => {
    const pending = await pendingTranscription({ sizeBytes: LONG });
    await enqueueOther(pending, (await createTenant(service)).environmentId, LONG);
    const row = await pending.run(working(pending, 60, untilAborted));
    expect(row).toMatchObject({ status: "PENDING", failure_count: 0, crash_count: 0, failure_code: null });
    const [attempt] = await listAttempts(pending.db, row.id);
    expect(attempt).toMatchObject({ outcome: "yielded", failure_code: null, retry_at: null });
    expect(await claimOrder(pending.db)).toEqual([expect.any(String), row.id]);
    const done = await pending.run(async (options) => {
      expect(settledOf(options)).toEqual([600]);
      return FAKE_TRANSCRIPT;
    });
    expect(done).toMatchObject({ status: "COMPLETED", attempt: 2 });
  });

  test("yields to a shorter video of its own environment, but not to a long one", async () => {
    const pending = await pendingTranscription({ sizeBytes: LONG });
    const environmentId = await environmentOf(pending);
    await enqueueOther(pending, environmentId, LONG);
    const charged = await chargedSlices(pending);
    const slices = working(pending, 60, async (options) => {
      await untilCharged(pending, charged + 1);
      options.signal.throwIfAborted();
      await enqueueOther(pending, environmentId, SHORT);
      pending.clock.advance(60_000);
      return await writing(pending, [900], untilAborted)(options);
    });
    expect(await pending.run(slices)).toMatchObject({ status: "PENDING", attempt: 1 });
  });

  test("does not yield before it has used up its slice", async () => {
    const pending = await pendingTranscription({ sizeBytes: LONG });
    await enqueueOther(pending, (await createTenant(service)).environmentId, SHORT);
    const charged = await chargedSlices(pending);
    const row = await pending.run(working(pending, 59, async () => FAKE_TRANSCRIPT));
    expect(row).toMatchObject({ status: "COMPLETED", attempt: 1 });
    expect(await chargedSlices(pending)).toBe(charged);
  });

  test("works six times as long as its resumption took before it yields", async () => {
    const pending = await pendingTranscription({ sizeBytes: LONG });
    await enqueueOther(pending, (await createTenant(service)).environmentId, SHORT);
    const charged = await chargedSlices(pending);
    const slow: FakeRecognition = async (options) => {
      const repeated = { done: 240, duration: 3600, remainingSeconds: null };
      options.onProgress?.(repeated);
      pending.clock.advance(20_000);
      options.onProgress?.(repeated);
      // The first batch of new work takes long, but is not part of the cost of resuming.
      pending.clock.advance(100_000);
      options.onProgress?.({ done: 280, duration: 3600, remainingSeconds: 3600 });
      pending.clock.advance(15_000);
      return await writing(pending, [300], async ({ signal }) => {
        signal.throwIfAborted();
        expect(await chargedSlices(pending)).toBe(charged);
        pending.clock.advance(10_000);
        return await writing(pending, [600], untilAborted)(options);
      })(options);
    };
    expect(await pending.run(slow)).toMatchObject({ status: "PENDING", attempt: 1 });
  });

  test("is charged for each slice even if nobody waits", async () => {
    const pending = await pendingTranscription({ sizeBytes: LONG });
    const charged = await chargedSlices(pending);
    const row = await pending.run(
      working(pending, 60, async ({ signal }) => {
        await untilCharged(pending, charged + 1);
        signal.throwIfAborted();
        return FAKE_TRANSCRIPT;
      }),
    );
    expect(row).toMatchObject({ status: "COMPLETED", attempt: 1 });
  });
});

/** Finish tag of the environment, in slices of a minute. */
async function chargedSlices({ db, read }: Pending): Promise<number> {
  const { environment_id } = await read();
  const { finish_tag } = await db
    .selectFrom("environment_queue")
    .select("finish_tag")
    .where("environment_id", "=", environment_id)
    .executeTakeFirstOrThrow();
  return finish_tag / 60_000;
}

async function untilCharged(pending: Pending, slices: number): Promise<void> {
  while ((await chargedSlices(pending)) < slices) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Transcriptions in the order in which workers claim them. */
async function claimOrder(db: Pending["db"]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select data->>'subjectId' as id from pgboss.job where name = 'transcribe' and state < 'active'
    order by priority desc, created_on`.execute(db);
  return rows.map(({ id }) => id);
}
