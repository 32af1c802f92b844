import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SpeechError } from "@subtext/speech/errors";
import type { Speech } from "@subtext/speech/processes/process-pool";
import type { TranscribeResult } from "@subtext/speech/transcript";
import { sql } from "kysely";
import { beforeAll, describe, expect, test } from "vitest";
import type { VideoPageView } from "../../src/admin/contract/video.ts";
import type { VideoDetailView } from "../../src/admin/contract/video-detail.ts";
import { sweep } from "../../src/cleanup/sweep.ts";
import type { Db, Tx } from "../../src/db/schema.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { AppError } from "../../src/lib/errors.ts";
import { newId } from "../../src/lib/ids.ts";
import type { Job } from "../../src/queue/job.ts";
import { openDiskRecordingStore } from "../../src/storage/disk/disk-recording-store.ts";
import {
  type DiskTranscriptStore,
  openDiskTranscriptStore,
} from "../../src/storage/disk/disk-transcript-store.ts";
import type { AttemptReport } from "../../src/transcription/attempt-report.ts";
import { reprocess } from "../../src/transcription/reprocess.ts";
import { type PipelineDeps, runTranscription } from "../../src/transcription/run.ts";
import { wakeWaiting } from "../../src/transcription/wake-waiting.ts";
import { acceptUpload } from "../../src/uploads/accept-upload.ts";
import { sendAsCommandLine } from "../admin/operator-requests.ts";
import { breakingAtCommit } from "../support/breaking-database.ts";
import { FAKE_TRANSCRIPT } from "../support/fake-transcript.ts";
import { createTenant, shareService } from "../support/service.ts";

/** A fake engine, whose behavior and timing the test controls. */
type FakeRecognition = (options: Parameters<Speech["transcribe"]>[1]) => Promise<TranscribeResult>;

const NO_AUDIO: TranscribeResult = { outcome: "skipped", reason: "no_audio_track", duration: 1 };

const service = shareService({ start: false });
let folder: string;
let transcripts: DiskTranscriptStore;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "subtext-test-"));
  transcripts = await openDiskTranscriptStore({
    folder: join(folder, "files"),
    baseUrl: "http://x",
    secret: Buffer.alloc(32),
  });
  return () => rm(folder, { recursive: true, force: true });
});

async function pendingTranscription() {
  const { database, queue } = service.service.parts;
  const db = database.kysely;
  const tenant = await createTenant(service);
  const videoId = newId("video");
  await db
    .insertInto("video")
    .values({
      id: videoId,
      environment_id: tenant.environmentId,
      metadata: "{}",
      size_bytes: 1,
      created_at: new Date(),
    })
    .execute();
  const recordings = await openDiskRecordingStore(join(folder, "uploads"));
  await writeFile(join(folder, "uploads", videoId), "x");
  await acceptUpload({ db, queue, clock: systemClock }, { videoId, sizeBytes: 1 });

  const read = () =>
    db.selectFrom("transcription").selectAll().where("video_id", "=", videoId).executeTakeFirstOrThrow();
  const jobOf = (row: { id: string; job_id: string }): Job => ({
    id: row.job_id,
    subjectId: row.id,
    signal: new AbortController().signal,
  });
  const run = async (
    recognize: FakeRecognition,
    options: {
      job?: Job;
      db?: Db;
      shutdown?: AbortSignal;
      modelIsComing?: boolean | (() => boolean);
      onAttempt?: (attempt: AttemptReport) => void;
    } = {},
  ) => {
    const deps: PipelineDeps = {
      db: options.db ?? db,
      queue,
      recordings,
      transcripts,
      clock: systemClock,
      log: service.service.parts.log,
      maxDurationSeconds: 60,
      maxConcurrentPerEnvironment: null,
      ...(options.onAttempt && { onAttempt: options.onAttempt }),
      modelIsComing: () => {
        const { modelIsComing = false } = options;
        return typeof modelIsComing === "function" ? modelIsComing() : modelIsComing;
      },
      speech: { ...service.service.parts.speech, transcribe: (_path, options) => recognize(options) },
    };
    const row = await read();
    const job = options.job ?? jobOf(row);
    await runTranscription(deps, job, options.shutdown ?? new AbortController().signal);
    return await read();
  };
  const eventsOf = async () => {
    const { id } = await read();
    return await db.selectFrom("event").selectAll().where("transcription_id", "=", id).execute();
  };
  const files = async () => {
    const { id } = await read();
    return await Array.fromAsync(transcripts.list(`transcripts/${id}/`));
  };
  /** The video as the dashboard shows it. */
  const view = async () => {
    const { environmentId } = tenant;
    const page = await sendAsCommandLine(service, `/environments/${environmentId}/videos`);
    return page.json<VideoPageView>().data[0];
  };
  /** The video as its own page shows it. */
  const detail = async () => {
    const path = `/environments/${tenant.environmentId}/videos/${videoId}`;
    return (await sendAsCommandLine(service, path)).json<VideoDetailView>().transcription!;
  };
  return { run, read, jobOf, eventsOf, files, view, detail, db, recordings };
}

describe("an attempt", () => {
  test("that succeeds completes the transcription with one event, three files and their confidences", async () => {
    const { run, eventsOf, files } = await pendingTranscription();
    const row = await run(async () => FAKE_TRANSCRIPT);
    expect(row).toMatchObject({ status: "COMPLETED", attempt: 1, word_count: 1, language: "en" });
    expect(await eventsOf()).toMatchObject([{ type: "transcriptions.transcription.completed" }]);
    expect((await files()).map((key) => key.split("/").at(-1)).toSorted()).toEqual([
      "confidence.json",
      "transcript.json",
      "transcript.txt",
      "transcript.vtt",
    ]);
  });

  test("by a job that the row does not reference does nothing", async () => {
    const { run, read } = await pendingTranscription();
    const { id } = await read();
    const stale: Job = { id: randomUUID(), subjectId: id, signal: new AbortController().signal };
    const row = await run(() => Promise.reject(new Error("must not be transcribed")), { job: stale });
    expect(row).toMatchObject({ status: "PENDING", attempt: 0 });
  });

  test("of a job that already completed does nothing", async () => {
    const { run, jobOf, read, eventsOf } = await pendingTranscription();
    const job = jobOf(await read());
    await run(async () => FAKE_TRANSCRIPT, { job });
    const row = await run(() => Promise.reject(new Error("must not be transcribed")), { job });
    expect(row).toMatchObject({ status: "COMPLETED", attempt: 1 });
    expect(await eventsOf()).toHaveLength(1);
  });

  test("that wakes up after its successor has finished overwrites nothing", async () => {
    const { run, read, jobOf, eventsOf, files } = await pendingTranscription();
    const job = jobOf(await read());
    const asleep = Promise.withResolvers<TranscribeResult>();
    const first = run(() => asleep.promise, { job });
    while ((await read()).status !== "PROCESSING") await new Promise((resolve) => setTimeout(resolve, 5));
    // The queue assumed that the first worker was lost and gave the same job to a second one.
    const second = await run(async () => FAKE_TRANSCRIPT, { job });
    expect(second).toMatchObject({ status: "COMPLETED", attempt: 2, crash_count: 1 });
    const lines = service
      .logged()
      .split("\n")
      .filter((line) => line.includes(second.id));
    expect(lines.find((line) => line.includes('"lostAttempt":1'))).toMatch(/"level":"warn".*"workersLost":1/);

    asleep.resolve({ ...FAKE_TRANSCRIPT, words: [], language: "zxx" });
    expect(await first).toMatchObject({ status: "COMPLETED", attempt: 2, word_count: 1, language: "en" });
    expect(await eventsOf()).toHaveLength(1);
    expect((await files()).filter((key) => key.includes("/2/"))).toHaveLength(4);
  });

  test("that has a transient failure is retried after a delay, for three attempts in all", async () => {
    const { run, eventsOf } = await pendingTranscription();
    const crash: FakeRecognition = () => Promise.reject(new SpeechError("engine_crashed", "It ended."));
    expect(await run(crash)).toMatchObject({
      status: "PENDING",
      attempt: 1,
      failure_count: 1,
      failure_code: "engine_crashed",
    });
    expect(await run(crash)).toMatchObject({ status: "PENDING", attempt: 2, failure_count: 2 });
    expect(await run(crash)).toMatchObject({ status: "FAILED", attempt: 3, failure_code: "engine_crashed" });
    expect(await eventsOf()).toMatchObject([
      {
        type: "transcriptions.transcription.failed",
        detail: { error: { code: "engine_crashed", message: "It ended." }, duration: null },
      },
    ]);
  });

  test.each(["storage_unavailable", "storage_full", "service_unavailable"] as const)(
    "that finds %s is retried as long as that lasts, without counting a failure",
    async (code) => {
      const { run } = await pendingTranscription();
      const away: FakeRecognition = () => Promise.reject(new AppError(code, "It is away."));
      for (let attempt = 1; attempt <= 5; attempt++) {
        expect(await run(away)).toMatchObject({
          status: "PENDING",
          attempt,
          failure_count: 0,
          failure_code: null,
        });
      }
      expect(await run(async () => FAKE_TRANSCRIPT)).toMatchObject({ status: "COMPLETED", failure_count: 0 });
    },
  );

  test("that finds another language waits for the model that is being downloaded, without counting a failure, and says so", async () => {
    const { run, read, eventsOf, view } = await pendingTranscription();
    expect(await view()).toMatchObject({ state: "pending", waitsFor: null });
    const french: FakeRecognition = () =>
      Promise.reject(new SpeechError("language_unsupported", "Not English."));
    for (let attempt = 1; attempt <= 5; attempt++) {
      expect(await run(french, { modelIsComing: true })).toMatchObject({
        status: "PENDING",
        attempt,
        failure_count: 0,
        failure_code: "language_unsupported",
      });
      expect(await view()).toMatchObject({ state: "pending", waitsFor: "model" });
    }
    expect(await run(french)).toMatchObject({ status: "FAILED", failure_code: "language_unsupported" });
    expect(await read()).toMatchObject({ attempt: 6 });
    expect(await eventsOf()).toHaveLength(1);
    expect(await view()).toMatchObject({ state: "failed", waitsFor: null });
  });

  test("that waits for a model gets a job as soon as the model is installed, and no second one later", async () => {
    const [first, second, broken] = await Promise.all([1, 2, 3].map(() => pendingTranscription()));
    const french: FakeRecognition = () =>
      Promise.reject(new SpeechError("language_unsupported", "Not English."));
    await first!.run(french, { modelIsComing: true });
    await second!.run(french, { modelIsComing: true });
    const fault = await broken!.run(() => Promise.reject(new SpeechError("engine_hung", "No sign of life.")));

    const { db } = first!;
    const { queue, log } = service.service.parts;
    await wakeWaiting({ db, queue, log }, new AbortController().signal);
    for (const { read } of [first!, second!]) {
      const { job_id } = await read();
      const { rows } = await sql<{ due: boolean }>`
        select start_after <= now() as due from pgboss.job where id = ${job_id}`.execute(db);
      expect(rows).toEqual([{ due: true }]);
    }
    expect((await broken!.read()).job_id).toBe(fault.job_id);
    expect(await first!.run(async () => FAKE_TRANSCRIPT)).toMatchObject({
      status: "COMPLETED",
      failure_code: null,
    });
  });

  test("that ends while the model is being installed does not wait for it any longer", async () => {
    const { run, db } = await pendingTranscription();
    const french: FakeRecognition = () =>
      Promise.reject(new SpeechError("language_unsupported", "Not English."));
    let looks = 0;
    // The download runs when the attempt begins and when it is settled, and is done after that.
    const { job_id } = await run(french, { modelIsComing: () => ++looks <= 2 });
    const { rows } = await sql<{ due: boolean }>`
      select start_after <= now() as due from pgboss.job where id = ${job_id}`.execute(db);
    expect(rows).toEqual([{ due: true }]);
  });

  test("that waits long for a model is retried less and less often, because each retry costs as much as a transcription", async () => {
    const { run, db } = await pendingTranscription();
    const french: FakeRecognition = () =>
      Promise.reject(new SpeechError("language_unsupported", "Not English."));
    const waits: number[] = [];
    for (let attempt = 1; attempt <= 8; attempt++) {
      const before = Date.now();
      const { job_id } = await run(french, { modelIsComing: true });
      const { rows } = await sql<{ startAfter: Date }>`
        select start_after as "startAfter" from pgboss.job where id = ${job_id}`.execute(db);
      waits.push(Math.floor((new Date(rows[0]!.startAfter).getTime() - before) / 10_000) * 10);
    }
    expect(waits).toEqual([10, 20, 40, 80, 160, 300, 300, 300]);
  });

  test("that has a failure that no model fixes does not wait for one", async () => {
    const { run } = await pendingTranscription();
    const broken: FakeRecognition = () => Promise.reject(new SpeechError("unreadable_media", "Zero bytes."));
    expect(await run(broken, { modelIsComing: true })).toMatchObject({ status: "FAILED" });
  });

  test("after a transient failure leaves no trace of it", async () => {
    const { run } = await pendingTranscription();
    await run(() => Promise.reject(new SpeechError("engine_hung", "No sign of life.")));
    expect(await run(async () => FAKE_TRANSCRIPT)).toMatchObject({
      status: "COMPLETED",
      failure_code: null,
      attempt: 2,
    });
  });

  test("that has a permanent failure fails at once", async () => {
    const { run } = await pendingTranscription();
    const row = await run(() => Promise.reject(new SpeechError("undecodable_audio", "It is encrypted.")));
    expect(row).toMatchObject({ status: "FAILED", attempt: 1, failure_message: "It is encrypted." });
  });

  test("that has an internal error does not reveal it", async () => {
    const { run } = await pendingTranscription();
    const row = await run(() => Promise.reject(new Error("select secret from /etc/passwd")));
    expect(row).toMatchObject({ status: "PENDING", failure_code: "internal_error" });
    expect(row.failure_message).not.toContain("secret");
  });

  test("that is stopped by a shutdown is handed back without counting a failure", async () => {
    const { run } = await pendingTranscription();
    const shutdown = new AbortController();
    const stopped = await run(
      async ({ signal }) => {
        shutdown.abort(new Error("stopping"));
        throw signal.reason;
      },
      { shutdown: shutdown.signal },
    );
    expect(stopped).toMatchObject({ status: "PENDING", failure_count: 0, crash_count: 0 });
    expect(await run(async () => FAKE_TRANSCRIPT)).toMatchObject({ status: "COMPLETED" });
  });

  test("that another replaced while the database was unavailable counts as no crash, because its worker is alive", async () => {
    const { run, read, jobOf, detail } = await pendingTranscription();
    const job = jobOf(await read());
    const asleep = Promise.withResolvers<TranscribeResult>();
    // It may reject before the first attempt awaits it.
    asleep.promise.catch(() => {});
    const first = run(() => asleep.promise, { job });
    while ((await read()).status !== "PROCESSING") await new Promise((resolve) => setTimeout(resolve, 5));
    const successor = Promise.withResolvers<TranscribeResult>();
    const second = run(() => successor.promise, { job });
    while ((await read()).attempt !== 2) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await read()).toMatchObject({ status: "PROCESSING", crash_count: 1 });

    asleep.reject(new AppError("service_unavailable", "The database does not answer now."));
    expect(await first).toMatchObject({ status: "PROCESSING", attempt: 2, crash_count: 0, failure_count: 0 });
    successor.resolve(FAKE_TRANSCRIPT);
    expect(await second).toMatchObject({ status: "COMPLETED", attempt: 2, crash_count: 0 });
    expect(await detail()).toMatchObject({
      attempts: [
        { outcome: "returned", failure: { code: "service_unavailable" } },
        { outcome: "completed", failure: null },
      ],
    });
  });

  test("whose end cannot be stored is settled when the database is back, without counting a crash", async () => {
    const { run, read, jobOf, db } = await pendingTranscription();
    const job = jobOf(await read());
    let isAway = false;
    let refused = 0;
    const away = () => {
      refused += 1;
      return Promise.reject(new AppError("service_unavailable", "The database does not answer now."));
    };
    // Simulates an outage, because the test database cannot be stopped.
    const awayForAWhile = new Proxy(db, {
      get: (real, name) => {
        if (isAway && name === "transaction") return () => ({ execute: away });
        const part: unknown = Reflect.get(real, name);
        return typeof part === "function" ? part.bind(real) : part;
      },
    });
    const first = run(
      async () => {
        isAway = true;
        return FAKE_TRANSCRIPT;
      },
      { job, db: awayForAWhile },
    );
    while (refused === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const successor = Promise.withResolvers<TranscribeResult>();
    const second = run(() => successor.promise, { job });
    while ((await read()).attempt !== 2) await new Promise((resolve) => setTimeout(resolve, 5));
    isAway = false;
    expect(await first).toMatchObject({ status: "PROCESSING", attempt: 2, crash_count: 0 });
    successor.resolve(FAKE_TRANSCRIPT);
    expect(await second).toMatchObject({ status: "COMPLETED", attempt: 2, crash_count: 0 });
  });

  describe("whose last commit succeeds although the connection breaks before the response", () => {
    const moves = [
      ["completed", "COMPLETED", async () => FAKE_TRANSCRIPT],
      ["skipped", "SKIPPED", async () => NO_AUDIO],
      ["failed", "FAILED", () => Promise.reject(new SpeechError("undecodable_audio", "It is encrypted."))],
      ["returned", "PENDING", () => Promise.reject(new SpeechError("engine_hung", "No sign of life."))],
    ] as const satisfies [string, string, FakeRecognition][];

    test.each(moves)("is reported as %s, and nothing happens twice", async (outcome, status, recognize) => {
      const { run, db, eventsOf, detail } = await pendingTranscription();
      const reports: string[] = [];
      // The first transaction is the claim.
      const row = await run(recognize, {
        db: breakingAtCommit(db, "after", { skip: 1 }),
        onAttempt: (report) => reports.push(report.outcome),
      });
      expect(row).toMatchObject({ status, attempt: 1, crash_count: 0 });
      expect(reports).toEqual([outcome]);
      expect(await eventsOf()).toHaveLength(status === "PENDING" ? 0 : 1);
      expect((await detail()).attempts).toMatchObject([{ outcome }]);
    });

    test.each(moves)(
      "is not reported as %s if another attempt took over in the meantime, and no worker was lost",
      async (_outcome, _status, recognize) => {
        const { run, db, read, jobOf, eventsOf, detail } = await pendingTranscription();
        const job = jobOf(await read());
        const successor = Promise.withResolvers<TranscribeResult>();
        let second: Promise<unknown> | undefined;
        const meanwhile = async () => {
          second = run(() => successor.promise, { job });
          while ((await read()).attempt !== 2) await new Promise((resolve) => setTimeout(resolve, 5));
        };
        const late = breakingAtCommit(db, "before", { skip: 1 });
        const overtaken = new Proxy(late, {
          get: (target, name) =>
            name !== "transaction"
              ? Reflect.get(target, name, target)
              : () => ({
                  execute: (work: (tx: Tx) => Promise<unknown>) =>
                    late
                      .transaction()
                      .execute(work)
                      .catch(async (error) => {
                        await meanwhile();
                        throw error;
                      }),
                }),
        });
        expect(await run(recognize, { job, db: overtaken })).toMatchObject({
          status: "PROCESSING",
          attempt: 2,
          crash_count: 0,
        });
        successor.resolve(FAKE_TRANSCRIPT);
        await second;
        expect(await read()).toMatchObject({ status: "COMPLETED", attempt: 2, crash_count: 0 });
        expect(await eventsOf()).toHaveLength(1);
        expect((await detail()).attempts).toMatchObject([{ outcome: "returned" }, { outcome: "completed" }]);
      },
    );
  });

  test("after more lost workers than could be chance fails permanently", async () => {
    const { run, read, jobOf, db } = await pendingTranscription();
    const row = await read();
    await db
      .updateTable("transcription")
      .set({ status: "PROCESSING", crash_count: 10 })
      .where("id", "=", row.id)
      .execute();
    expect(await run(async () => FAKE_TRANSCRIPT, { job: jobOf(row) })).toMatchObject({
      status: "FAILED",
      failure_code: "worker_lost",
    });
  });

  test("after lost workers and a reprocess may lose as many workers again", async () => {
    const { run, read, jobOf, db } = await pendingTranscription();
    const { queue, clock } = service.service.parts;
    const loseWorkers = async (losses: number) => {
      const { id } = await read();
      await db
        .updateTable("transcription")
        .set({ status: "PROCESSING", crash_count: losses, failure_count: losses })
        .where("id", "=", id)
        .execute();
      return await run(async () => FAKE_TRANSCRIPT, { job: jobOf(await read()) });
    };
    expect(await loseWorkers(10)).toMatchObject({ status: "FAILED", failure_code: "worker_lost" });
    expect(await reprocess({ db, queue, clock }, (await read()).id)).toMatchObject({
      crash_count: 0,
      failure_count: 0,
    });
    expect(await loseWorkers((await read()).crash_count)).toMatchObject({
      status: "COMPLETED",
      crash_count: 1,
    });
    await expect(reprocess({ db, queue, clock }, (await read()).id)).rejects.toMatchObject({
      code: "transcription_not_failed",
    });
  });

  test("keeps the files that it is writing during a sweep", async () => {
    const { run, files, recordings, db } = await pendingTranscription();
    const { queue, clock, log, ownership } = service.service.parts;
    const deps = { db, queue, clock, log, recordings, transcripts, ownership, uploadExpiryMs: 3_600_000 };
    const put = transcripts.put;
    transcripts.put = async (key, content) => {
      await put(key, content);
      await sweep(deps, { strays: true, signal: new AbortController().signal });
    };
    try {
      expect(await run(async () => FAKE_TRANSCRIPT)).toMatchObject({ status: "COMPLETED" });
    } finally {
      transcripts.put = put;
    }
    expect(await files()).toHaveLength(4);
  });

  test("reports progress, and stops when it learns that it was replaced", async () => {
    const { run, read, db } = await pendingTranscription();
    await run(async ({ signal, onProgress }) => {
      onProgress?.({ done: 15, duration: 60, remainingSeconds: 1 });
      while ((await read()).progress === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      expect(await read()).toMatchObject({ progress: 0.25, remaining_seconds: 1, duration: 60 });
      const { id } = await read();
      await db.updateTable("transcription").set({ attempt: 7 }).where("id", "=", id).execute();
      onProgress?.({ done: 30, duration: 60, remainingSeconds: 1 });
      await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      return FAKE_TRANSCRIPT;
    });
    expect(await read()).toMatchObject({ status: "PROCESSING", attempt: 7, progress: 0.25 });
  });
});

describe("the history of a transcription", () => {
  const crash: FakeRecognition = () => Promise.reject(new SpeechError("engine_crashed", "It ended."));

  test("has the outcome and reason of every attempt, and when the next one may begin", async () => {
    const { run, read, jobOf, detail } = await pendingTranscription();
    expect(await detail()).toMatchObject({
      attempts: [],
      timeline: [{ step: "uploaded" }, { step: "queued" }],
    });
    await run(crash);
    const { attempts, retryAt, timeline } = await detail();
    expect(Date.parse(retryAt!)).toBe(Date.parse(attempts[0]!.endedAt!) + 5_000);
    expect(timeline.map(({ step }) => step)).toEqual(["uploaded", "queued"]);
    expect(timeline[1]!.at).toBe(attempts[0]!.endedAt);

    const shutdown = new AbortController();
    const stopped: FakeRecognition = async ({ signal }) => {
      shutdown.abort(new Error("stopping"));
      throw signal.reason;
    };
    await run(stopped, { shutdown: shutdown.signal });
    const job = jobOf(await read());
    const asleep = Promise.withResolvers<TranscribeResult>();
    const first = run(() => asleep.promise, { job });
    while ((await read()).status !== "PROCESSING") await new Promise((resolve) => setTimeout(resolve, 5));
    expect((await detail()).attempts.at(-1)).toMatchObject({ number: 3, outcome: null, endedAt: null });
    await run(async () => FAKE_TRANSCRIPT, { job });
    asleep.resolve(FAKE_TRANSCRIPT);
    await first;
    expect((await detail()).attempts).toMatchObject([
      {
        number: 1,
        begunBy: "upload",
        outcome: "returned",
        failure: { code: "engine_crashed", message: "It ended." },
      },
      { number: 2, begunBy: "retry", outcome: "handed_back", failure: null },
      { number: 3, begunBy: "resumption", outcome: "lost", failure: null },
      { number: 4, begunBy: "retry", outcome: "completed", failure: null },
    ]);
  });

  test("has the reason of a wait for a model, but no time, because the model decides it", async () => {
    const { run, detail } = await pendingTranscription();
    await run(() => Promise.reject(new SpeechError("language_unsupported", "Not English.")), {
      modelIsComing: true,
    });
    expect(await detail()).toMatchObject({
      retryAt: null,
      attempts: [{ outcome: "returned", failure: { code: "language_unsupported" } }],
    });
  });
});

describe("the waveform of a recording", () => {
  const WAVEFORM = { duration: 1, whole: true, peaksPerSecond: 10, peaks: "AAAAAAAAAAAAAA==", speech: [] };
  const names = (keys: string[]) => keys.map((key) => key.split("/").slice(-2).join("/"));
  const decodedThen =
    (then: FakeRecognition): FakeRecognition =>
    async (options) => {
      options.onWaveform?.(WAVEFORM);
      return await then(options);
    };
  const unsupported = decodedThen(() =>
    Promise.reject(new SpeechError("language_unsupported", "Not English.")),
  );

  async function sweptFiles(pending: Awaited<ReturnType<typeof pendingTranscription>>): Promise<string[]> {
    const { queue, clock, log, ownership } = service.service.parts;
    const { db, recordings, files } = pending;
    const deps = { db, queue, clock, log, recordings, transcripts, ownership, uploadExpiryMs: 3_600_000 };
    await sweep(deps, { strays: true, signal: new AbortController().signal });
    return names(await files());
  }

  test("is kept if the transcription fails, also by the sweep, until another attempt has its own", async () => {
    const pending = await pendingTranscription();
    const { run, detail, db, read } = pending;
    const { queue, clock } = service.service.parts;
    const swept = () => sweptFiles(pending);
    expect(await run(unsupported)).toMatchObject({ status: "FAILED" });
    expect(await swept()).toEqual(["1/waveform.json"]);
    const steps = (await detail()).timeline.map(({ step }) => step);
    expect(steps).toEqual(["uploaded", "queued", "started", "decoded", "failed"]);

    await reprocess({ db, queue, clock }, (await read()).id);
    expect(await swept()).toEqual(["1/waveform.json"]);
    await run(decodedThen(async () => FAKE_TRANSCRIPT));
    expect((await swept()).filter((name) => name.endsWith("waveform.json"))).toEqual(["2/waveform.json"]);
  });

  test("is absent while a retry is due, and the transcription succeeds even if it cannot be stored", async () => {
    const { run, files, read } = await pendingTranscription();
    await run(decodedThen(() => Promise.reject(new SpeechError("engine_crashed", "It ended."))));
    expect(await files()).toEqual([]);
    const put = transcripts.put;
    transcripts.put = async (key, content) => {
      if (key.endsWith("waveform.json")) throw new Error("The disk is full.");
      await put(key, content);
    };
    try {
      await run(decodedThen(async () => FAKE_TRANSCRIPT));
    } finally {
      transcripts.put = put;
    }
    expect(await read()).toMatchObject({ status: "COMPLETED", waveform_prefix: null });
  });

  test("whose stored file was not confirmed is swept, but not the files beside it", async () => {
    const pending = await pendingTranscription();
    const put = transcripts.put;
    transcripts.put = async (key, content) => {
      await put(key, content);
      if (key.endsWith("waveform.json")) throw new Error("The answer was lost.");
    };
    try {
      await pending.run(decodedThen(async () => FAKE_TRANSCRIPT));
    } finally {
      transcripts.put = put;
    }
    expect(await pending.read()).toMatchObject({ status: "COMPLETED", waveform_prefix: null });
    const before = names(await pending.files());
    expect(before).toContain("1/waveform.json");
    expect(await sweptFiles(pending)).toEqual(before.filter((name) => name !== "1/waveform.json"));
  });
});
