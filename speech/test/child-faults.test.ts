import { expect, test } from "vitest";
import { createSpeech } from "../src/child/supervise.ts";
import type { EngineParts } from "../src/engines/open-engines.ts";
import { SpeechError } from "../src/errors.ts";
import { descendantsRunning } from "./processes.ts";

const BUNDLED: EngineParts = { bundled: true, multilingual: null, bundledTakesEnglish: false, remedy: "" };
const job = { maxDurationSeconds: 60, signal: new AbortController().signal };

function open(parts: () => EngineParts) {
  return createSpeech({
    parts,
    processes: 1,
    threads: 1,
    memoryLimitBytes: 1_500_000_000,
    heartbeatTimeoutMs: 30_000,
  });
}

test("where there is no engine to choose, every job is told so, and none waits for the one before", async () => {
  const speech = open(() => {
    throw new SpeechError("model_not_found", "There is no multilingual model.");
  });
  await expect(speech.transcribe("/none.wav", job)).rejects.toMatchObject({ code: "model_not_found" });
  await expect(speech.transcribe("/none.wav", job)).rejects.toMatchObject({ code: "model_not_found" });
  await speech.close();
});

test("a job that was just begun starts no process after closing", async () => {
  const speech = open(() => BUNDLED);
  const outcome = speech.transcribe("/none.wav", job).catch((error: unknown) => error);
  const description = speech.describe().catch((error: unknown) => error);
  await speech.close();
  expect(await outcome).toMatchObject({ message: "Speech is closed." });
  expect(await description).toMatchObject({ message: "Speech is closed." });
  expect(descendantsRunning(process.pid, "child/main.ts")).toEqual([]);
});
