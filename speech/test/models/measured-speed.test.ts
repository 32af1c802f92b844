import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { describeMachine, readMeasuredSpeed, recordSpeed } from "../../src/models/measured-speed.ts";
import type { Transcript } from "../../src/transcript.ts";
import { emptyStore, MODEL, pull, startHub, temporaryFolder } from "../support/model-pulls.ts";

const THREADS = 2;

async function installed() {
  const store = await emptyStore();
  const hub = await startHub();
  await pull(store, hub);
  const { folder } = await store.find(MODEL.name);
  return { store, hub, folder };
}

/** A recording that engines transcribed in turn. */
function transcript(
  speechSeconds: number,
  workSeconds: number,
  engines: string[] = [MODEL.name],
): Transcript {
  const segment = { start: 0, end: 1, language: "es", probability: 1, words: 1 };
  return {
    outcome: "transcribed",
    words: [],
    language: "es",
    duration: 10 * speechSeconds,
    speechSeconds,
    languageSegments: engines.map((engine) => ({ ...segment, engine })),
    engine: engines[0] ?? MODEL.name,
    decoder: "ffmpeg",
    audioTrack: null,
    incomplete: false,
    stages: { probe: 0, decode: 0, voiceActivity: 0, engine: workSeconds, total: 2 * workSeconds },
  };
}

test("the speed is the seconds of speech per second of work, after two minutes of speech", async () => {
  const { folder } = await installed();
  await recordSpeed(folder, THREADS, transcript(100, 20));
  expect(await readMeasuredSpeed(folder, THREADS)).toBeNull();
  await recordSpeed(folder, THREADS, transcript(100, 30));
  expect((await readMeasuredSpeed(folder, THREADS))?.realTime).toBeCloseTo(4);
});

test("the last hour of speech counts", async () => {
  const { folder } = await installed();
  for (let hours = 0; hours < 20; hours++) await recordSpeed(folder, THREADS, transcript(3_600, 3_600));
  expect((await readMeasuredSpeed(folder, THREADS))?.realTime).toBeCloseTo(1);
  await recordSpeed(folder, THREADS, transcript(3_600, 600));
  expect((await readMeasuredSpeed(folder, THREADS))?.realTime).toBeCloseTo(7_200 / 4_200);
});

test("a model that was fast enough for English stays so until it is slower than 3.5 × real time", async () => {
  const { folder } = await installed();
  const choices: (boolean | undefined)[] = [];
  for (const speed of [3.6, 4.1, 3.6, 3.4, 3.6]) {
    await recordSpeed(folder, THREADS, transcript(360_000, 360_000 / speed));
    choices.push((await readMeasuredSpeed(folder, THREADS))?.isFastEnough);
  }
  expect(choices).toEqual([false, true, true, false, false]);
});

test("recordings that say little about the model are ignored", async () => {
  const { folder } = await installed();
  const ignored = [
    transcript(19, 1_000),
    transcript(600, 1, [MODEL.name, "moonshine-tiny"]),
    transcript(600, 1, []),
    transcript(600, 0),
    { outcome: "skipped", reason: "no_audio_track", duration: 600 } as const,
  ];
  for (const result of ignored) await recordSpeed(folder, THREADS, result);
  expect(await readdir(folder)).not.toContain("speed.json");
});

test("a model that was not installed from a hub is not measured", async () => {
  const folder = await temporaryFolder();
  await recordSpeed(folder, THREADS, transcript(600, 100, [basename(folder)]));
  expect(await readdir(folder)).toEqual([]);
});

test("each machine measures for itself, and a damaged file counts as none", async () => {
  const { folder } = await installed();
  const path = join(folder, "speed.json");
  await recordSpeed(folder, THREADS, transcript(600, 100));
  expect(await readMeasuredSpeed(folder, THREADS + 1)).toBeNull();
  await recordSpeed(folder, THREADS + 1, transcript(600, 60));
  expect((await readMeasuredSpeed(folder, THREADS + 1))?.realTime).toBeCloseTo(10);
  expect(JSON.parse(await readFile(path, "utf8"))).toMatchObject({ machine: describeMachine(THREADS + 1) });
  await writeFile(path, '{"machine":');
  expect(await readMeasuredSpeed(folder, THREADS)).toBeNull();
  await recordSpeed(folder, THREADS, transcript(600, 200));
  expect((await readMeasuredSpeed(folder, THREADS))?.realTime).toBeCloseTo(3);
});

test("a measured model is still undamaged, and loses its speed if it is installed again", async () => {
  const { store, hub, folder } = await installed();
  await recordSpeed(folder, THREADS, transcript(600, 100));
  expect(await store.verify(MODEL.name, new AbortController().signal)).toEqual([]);
  expect(await store.list()).toMatchObject([{ state: "installed" }]);
  await rm(join(folder, "config.json"));
  await pull(store, hub);
  expect(await readMeasuredSpeed(folder, THREADS)).toBeNull();
});
