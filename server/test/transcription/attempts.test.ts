import { randomUUID } from "node:crypto";
import { SpeechError } from "@subtext/speech/errors";
import type { TranscribeResult } from "@subtext/speech/transcript";
import { describe, expect, test } from "vitest";
import { AppError } from "../../src/lib/errors.ts";
import type { Job } from "../../src/queue/job.ts";
import { FAKE_TRANSCRIPT } from "../support/fake-transcript.ts";
import { type FakeRecognition, shareAttempts } from "./share-attempts.ts";

const { pendingTranscription } = shareAttempts();

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

  test("after a transient failure leaves no trace of it", async () => {
    const { run } = await pendingTranscription();
    await run(() => Promise.reject(new SpeechError("engine_hung", "No sign of life.")));
    expect(await run(async () => FAKE_TRANSCRIPT)).toMatchObject({
      status: "COMPLETED",
      failure_code: null,
      attempt: 2,
    });
  });

  test("that has a permanent failure fails without a retry", async () => {
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
      isModelExpected: true,
    });
    expect(await detail()).toMatchObject({
      retryAt: null,
      attempts: [{ outcome: "returned", failure: { code: "language_unsupported" } }],
    });
  });
});
