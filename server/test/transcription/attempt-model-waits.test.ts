import { SpeechError } from "@subtext/speech/errors";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { wakeWaiting } from "../../src/transcription/wake-waiting.ts";
import { FAKE_TRANSCRIPT } from "../support/fake-transcript.ts";
import { type FakeRecognition, shareAttempts } from "./share-attempts.ts";

const { service, pendingTranscription } = shareAttempts();

describe("an attempt", () => {
  test("that finds another language waits for the model that is being downloaded, without counting a failure, and says so", async () => {
    const { run, read, eventsOf, view } = await pendingTranscription();
    expect(await view()).toMatchObject({ state: "pending", waitsFor: null });
    const french: FakeRecognition = () =>
      Promise.reject(new SpeechError("language_unsupported", "Not English."));
    for (let attempt = 1; attempt <= 5; attempt++) {
      expect(await run(french, { isModelExpected: true })).toMatchObject({
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

  test("that leaves the language undetermined waits for the model in the same way, and completes without one", async () => {
    const { run, eventsOf, view } = await pendingTranscription();
    const transcript = { ...FAKE_TRANSCRIPT, language: "und", engine: "moonshine-tiny" };
    for (const words of [[], transcript.words]) {
      const recognize = async () => ({ ...transcript, words });
      expect(await run(recognize, { isModelExpected: true })).toMatchObject({
        status: "PENDING",
        failure_count: 0,
        failure_code: "language_undetermined",
      });
      expect(await view()).toMatchObject({ state: "pending", waitsFor: "model" });
    }
    expect(await eventsOf()).toEqual([]);
    // The model was installed during the attempt, which could not use it.
    let looks = 0;
    const installed = await run(async () => transcript, { isModelExpected: () => ++looks <= 1 });
    expect(installed).toMatchObject({ status: "PENDING", failure_count: 0 });

    expect(await run(async () => transcript)).toMatchObject({
      status: "COMPLETED",
      language: "und",
      word_count: 1,
      failure_code: null,
    });
  });

  test.each([
    { language: "zxx", engine: "moonshine-tiny" },
    { language: "und", engine: "whisper-tiny" },
  ])("that finds $language with $engine does not wait for another model", async (found) => {
    const { run } = await pendingTranscription();
    const recognize: FakeRecognition = async () => ({ ...FAKE_TRANSCRIPT, ...found });
    expect(await run(recognize, { isModelExpected: true })).toMatchObject({ status: "COMPLETED", ...found });
  });

  test("that waits for a model gets a job as soon as the model is installed, and no second one later", async () => {
    const [first, second, broken] = await Promise.all([1, 2, 3].map(() => pendingTranscription()));
    const french: FakeRecognition = () =>
      Promise.reject(new SpeechError("language_unsupported", "Not English."));
    await first!.run(french, { isModelExpected: true });
    await second!.run(french, { isModelExpected: true });
    const fault = await broken!.run(() => Promise.reject(new SpeechError("engine_hung", "No sign of life.")));

    const { db } = first!;
    const { queue, log } = service.service.parts;
    await wakeWaiting({ db, queue, log }, new AbortController().signal);
    for (const { read, view } of [first!, second!]) {
      expect(await view()).toMatchObject({ state: "pending", waitsFor: null });
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
    const { job_id } = await run(french, { isModelExpected: () => ++looks <= 2 });
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
      const { job_id } = await run(french, { isModelExpected: true });
      const { rows } = await sql<{ startAfter: Date }>`
        select start_after as "startAfter" from pgboss.job where id = ${job_id}`.execute(db);
      waits.push(Math.floor((new Date(rows[0]!.startAfter).getTime() - before) / 10_000) * 10);
    }
    expect(waits).toEqual([10, 20, 40, 80, 160, 300, 300, 300]);
  });

  test("that has a failure that no model fixes does not wait for one", async () => {
    const { run } = await pendingTranscription();
    const broken: FakeRecognition = () => Promise.reject(new SpeechError("unreadable_media", "Zero bytes."));
    expect(await run(broken, { isModelExpected: true })).toMatchObject({ status: "FAILED" });
  });
});
