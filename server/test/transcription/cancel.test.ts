import { SpeechError } from "@subtext/speech/errors";
import type { TranscribeResult } from "@subtext/speech/transcript";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { cancelTranscription } from "../../src/transcription/cancel.ts";
import { readCheckpoints } from "../../src/transcription/checkpoint-queries.ts";
import { reprocess } from "../../src/transcription/reprocess.ts";
import { RunningAttempts } from "../../src/transcription/running-attempts.ts";
import { FAKE_TRANSCRIPT } from "../support/fake-transcript.ts";
import { until } from "../support/service.ts";
import { type FakeRecognition, type PendingTranscription, shareAttempts } from "./share-attempts.ts";

const { service, pendingTranscription } = shareAttempts();

const CANCELED = { status: "FAILED", failure_code: "canceled" };
const untilAborted: FakeRecognition = ({ signal }) =>
  new Promise((_resolve, reject) => {
    signal.throwIfAborted();
    signal.addEventListener("abort", () => reject(signal.reason));
  });

async function cancel(
  { db, read }: PendingTranscription,
  { running = new RunningAttempts(db), audit = async () => {} } = {},
) {
  const { queue } = service.service.parts;
  const { id } = await read();
  return await cancelTranscription({ db, queue, clock: systemClock, running }, id, audit);
}

/** Lets the event loop turn this often, so that the cancellation meets each step of the completion. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
}

async function retry({ db, read }: PendingTranscription) {
  const { queue } = service.service.parts;
  return await reprocess({ db, queue, clock: systemClock }, (await read()).id);
}

/** Returns undefined if the job was removed. */
async function jobState({ db }: PendingTranscription, jobId: string): Promise<string | undefined> {
  const { rows } = await sql<{ state: string }>`select state from pgboss.job where id = ${jobId}`.execute(db);
  return rows[0]?.state;
}

describe("a waiting transcription that is canceled", () => {
  test("fails without an attempt, leaves the queue and sends the failed event", async () => {
    const pending = await pendingTranscription();
    const before = await pending.read();
    expect(await cancel(pending)).toMatchObject({ ...CANCELED, attempt: 0, remaining_seconds: null });
    expect(await jobState(pending, before.job_id)).toBeUndefined();
    expect(await pending.eventsOf()).toMatchObject([
      { type: "transcriptions.transcription.failed", detail: { error: { code: "canceled" } } },
    ]);
    const queue = await pending.db
      .selectFrom("environment_queue")
      .select("retag_from")
      .where("environment_id", "=", before.environment_id)
      .executeTakeFirstOrThrow();
    expect(queue.retag_from).not.toBeNull();
    expect(await pending.view()).toMatchObject({
      state: "failed",
      transcription: { failure: { code: "canceled" } },
    });
    // A worker may have got its job before.
    expect(await pending.run(async () => FAKE_TRANSCRIPT)).toMatchObject({ ...CANCELED, attempt: 0 });
  });

  test("is transcribed when it is retried", async () => {
    const pending = await pendingTranscription();
    const { id, created_at } = await cancel(pending);
    expect(await retry(pending)).toMatchObject({ id, created_at, status: "PENDING", failure_code: null });
    expect(await pending.run(async () => FAKE_TRANSCRIPT)).toMatchObject({ status: "COMPLETED", attempt: 1 });
  });

  test("stays as it is if the transaction fails", async () => {
    const pending = await pendingTranscription();
    const before = await pending.read();
    const audit = () => Promise.reject(new Error("the audit event could not be stored"));
    await expect(cancel(pending, { audit })).rejects.toThrow("could not be stored");
    expect(await pending.read()).toEqual(before);
    expect(await pending.eventsOf()).toEqual([]);
    expect(await jobState(pending, before.job_id)).toBe("created");
  });
});

describe("a running transcription that is canceled", () => {
  test.each(["the same process", "another process"])(
    "ends its attempt in %s, keeps the checkpoints, and continues from them",
    async (where) => {
      const pending = await pendingTranscription();
      const { db } = pending;
      const running = new RunningAttempts(db);
      const job = pending.jobOf(await pending.read());
      const begun = Promise.withResolvers<void>();
      const ends: string[] = [];
      const attempt = running.run(job, async (its) => {
        await pending.run(
          async (options) => {
            options.onCheckpoint!({ settledSeconds: 30, results: "recognized" });
            begun.resolve();
            return await untilAborted(options);
          },
          { job: its, onAttempt: ({ outcome }) => ends.push(outcome) },
        );
      });
      await begun.promise;
      const { id } = await pending.read();
      await until(async () => (await readCheckpoints(db, id)).length > 0);
      const canceler = where === "the same process" ? running : new RunningAttempts(db);
      expect(await cancel(pending, { running: canceler })).toMatchObject({ ...CANCELED, attempt: 1 });
      await attempt;
      expect(ends).toEqual(["dropped"]);
      expect(await pending.read()).toMatchObject(CANCELED);
      expect(await pending.eventsOf()).toHaveLength(1);
      expect((await pending.detail()).attempts).toMatchObject([
        { outcome: "failed", failure: { code: "canceled" } },
      ]);

      await retry(pending);
      let given: unknown;
      const row = await pending.run(async ({ checkpoints }) => {
        given = checkpoints;
        return FAKE_TRANSCRIPT;
      });
      expect(given).toEqual([{ settledSeconds: 30, results: "recognized" }]);
      expect(row).toMatchObject({ status: "COMPLETED", attempt: 2 });
      expect((await pending.detail()).attempts).toMatchObject([{}, { number: 2, begunBy: "reprocess" }]);
    },
  );

  const ends = [
    ["completes", async () => FAKE_TRANSCRIPT],
    ["is skipped", async () => ({ outcome: "skipped", reason: "no_audio_track", duration: 1 })],
    ["fails", () => Promise.reject(new SpeechError("undecodable_audio", "It is encrypted."))],
    ["returns", () => Promise.reject(new SpeechError("engine_hung", "No sign of life."))],
  ] as const satisfies [string, () => Promise<TranscribeResult>][];

  test.each(ends)("stays canceled if its attempt %s afterwards", async (_, end) => {
    const pending = await pendingTranscription();
    const outcomes: string[] = [];
    const row = await pending.run(
      async () => {
        await cancel(pending);
        return await end();
      },
      { onAttempt: ({ outcome }) => outcomes.push(outcome) },
    );
    expect(row).toMatchObject(CANCELED);
    expect(outcomes).toEqual(["dropped"]);
    expect(await pending.eventsOf()).toMatchObject([{ detail: { error: { code: "canceled" } } }]);
    // The canceled attempt must not disturb the next one either.
    await retry(pending);
    expect(await pending.run(async () => FAKE_TRANSCRIPT)).toMatchObject({ status: "COMPLETED", attempt: 2 });
  });

  test("or completed ends once, whichever is first", async () => {
    for (let round = 0; round < 6; round++) {
      const pending = await pendingTranscription();
      let canceling: Promise<unknown> = Promise.resolve();
      const row = await pending.run(async () => {
        canceling = turns(round * 15)
          .then(() => cancel(pending))
          .catch(({ code }) => code);
        return FAKE_TRANSCRIPT;
      });
      const refusal = await canceling;
      const isCanceled = row.status === "FAILED";
      if (isCanceled) expect(row).toMatchObject({ ...CANCELED, file_prefix: null });
      else expect([row.status, refusal]).toEqual(["COMPLETED", "transcription_finished"]);
      expect(await pending.read()).toEqual(row);
      expect(await pending.eventsOf()).toMatchObject([
        { type: `transcriptions.transcription.${isCanceled ? "failed" : "completed"}` },
      ]);
    }
  });
});

test("what has ended cannot be canceled", async () => {
  const pending = await pendingTranscription();
  await cancel(pending);
  await expect(cancel(pending)).rejects.toMatchObject({ code: "transcription_finished" });
  await retry(pending);
  await pending.run(async () => FAKE_TRANSCRIPT);
  await expect(cancel(pending)).rejects.toMatchObject({ code: "transcription_finished" });
  expect(await pending.read()).toMatchObject({ status: "COMPLETED" });
  const deps = { db: pending.db, queue: service.service.parts.queue, clock: systemClock };
  await expect(
    cancelTranscription({ ...deps, running: new RunningAttempts(pending.db) }, "transcription_unknown"),
  ).rejects.toMatchObject({ code: "transcription_not_found" });
});
