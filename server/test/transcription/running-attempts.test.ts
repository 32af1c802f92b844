import { expect, onTestFinished, test, vi } from "vitest";
import { RunningAttempts } from "../../src/transcription/running-attempts.ts";
import { hangingDb } from "../support/hanging-db.ts";

test("an attempt waits for the result of a check before the next one, and is aborted if its job is not current", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "setInterval", "clearTimeout", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const { db, answer, queries } = hangingDb();
  const job = { id: "job", subjectId: "transcription", signal: new AbortController().signal };
  const aborted = new RunningAttempts(db).run(job, ({ signal }) => {
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
  });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(queries()).toBe(1);
  answer.resolve();
  await aborted;
});
