import { SpeechError } from "@subtext/speech/errors";
import type { TranscribeResult } from "@subtext/speech/transcript";
import { describe, expect, test } from "vitest";
import type { Tx } from "../../src/db/schema.ts";
import { AppError } from "../../src/lib/errors.ts";
import { reprocess } from "../../src/transcription/reprocess.ts";
import { breakingAtCommit } from "../support/breaking-database.ts";
import { FAKE_TRANSCRIPT } from "../support/fake-transcript.ts";
import { type FakeRecognition, shareAttempts } from "./share-attempts.ts";

const NO_AUDIO: TranscribeResult = { outcome: "skipped", reason: "no_audio_track", duration: 1 };

const { service, pendingTranscription } = shareAttempts();

describe("an attempt", () => {
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

  test("reports progress, and stops when it was replaced", async () => {
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
