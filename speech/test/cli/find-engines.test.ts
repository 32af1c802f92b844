import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findEngines } from "../../src/cli/find-engines.ts";
import type { TranscribeSettings } from "../../src/cli/settings.ts";
import { describeMachine } from "../../src/models/measured-speed.ts";
import { BENCHMARK_SPEED } from "../../src/models/model-figures.ts";

const THREADS = 2;
const SLOW = 0.1;
const FAST = 10;

/**
 * A models folder with `whisper-small`, on a machine with this share of the speed of the benchmark's.
 * @param measured multiple of real time that transcriptions have reached with it
 */
async function modelsOn(share: number, measured: number | undefined): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "find-engines-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, "whisper-small"));
  await writeFile(join(folder, "whisper-small/config.json"), "{}");
  const machine = describeMachine(THREADS);
  const speed = { int8: BENCHMARK_SPEED.int8 * share, fp32: BENCHMARK_SPEED.fp32 * share };
  await writeFile(join(folder, "machine-speed.json"), JSON.stringify({ machine, speed }));
  if (measured !== undefined) {
    const work = { machine, speechSeconds: 600, workSeconds: 600 / measured };
    await writeFile(join(folder, "whisper-small/speed.json"), JSON.stringify(work));
  }
  return folder;
}

async function isEnglishBundled(
  share: number,
  priority: TranscribeSettings["priority"],
  measured?: number,
): Promise<boolean> {
  const { bundledTakesEnglish } = await findEngines({
    program: "subtext",
    calledAs: "subtext",
    engine: "auto",
    model: null,
    modelsFolder: await modelsOn(share, measured),
    configured: [],
    priority,
    threads: THREADS,
    memoryLimitBytes: 0,
    ffmpegPath: null,
    maxDurationSeconds: 60,
    quiet: true,
  });
  return bundledTakesEnglish;
}

test("the bundled engine recognizes clear English if the model is slow on this machine", async () => {
  expect(await isEnglishBundled(SLOW, "auto")).toBe(true);
  expect(await isEnglishBundled(FAST, "auto")).toBe(false);
});

test("the speed that transcriptions have reached counts instead of the estimate", async () => {
  expect(await isEnglishBundled(FAST, "auto", 3.9)).toBe(true);
  expect(await isEnglishBundled(SLOW, "auto", 4.1)).toBe(false);
});

test("the priority of the settings counts more than the speed of the machine", async () => {
  expect(await isEnglishBundled(SLOW, "quality")).toBe(false);
  expect(await isEnglishBundled(FAST, "speed")).toBe(true);
});
