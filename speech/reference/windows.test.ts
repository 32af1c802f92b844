import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readWhisperModel } from "../src/engines/whisper/model-files.ts";
import { openWhisper } from "../src/engines/whisper/whisper.ts";
import { wordsOfTokens } from "../src/engines/whisper/words-of-tokens.ts";
import { seededRandom } from "../src/onnx/token-selection.ts";
import { type MadeStep, pitchOf, writeMadeWhisper } from "../test/support/synthetic-whisper/made-whisper.ts";
import { Reference } from "./transformers.ts";

const { signal } = new AbortController();
const RATE = 16_000;
const WINDOW_SECONDS = 6;
const WINDOWS = 4;
const LANGUAGE = "es";
const MAX_TOKENS = 48;
const TEXTS = [" one", " two", " three", " four", " five", " six", " seven", " eight", " nine", " ten"];
let work: string;

beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), "subtext-windows-"));
});

afterAll(() => rm(work, { recursive: true }));

/** Text between timestamps, in seconds of the audio. */
interface Segment {
  start: number;
  end: number;
  text: string[];
}

test.each([1, 2, 3, 4])("windows of complete texts contain the same segments (seed %i)", async (seed) => {
  const random = seededRandom(seed);
  const scripts = Array.from({ length: WINDOWS }, () => ({ says: segmentSteps(random, WINDOW_SECONDS) }));
  const { engine, reference, model } = await both(`complete-${seed}`, scripts);
  const samples = joined(scripts.map((_, index) => pitchOf(index, WINDOWS, WINDOW_SECONDS)));
  const segments = segmentsOf(await reference.transcribeWindows(samples, LANGUAGE), model);
  const windows = scripts.map((_, index) => ({
    samples: samples.subarray(index * WINDOW_SECONDS * RATE, (index + 1) * WINDOW_SECONDS * RATE),
    start: index * WINDOW_SECONDS,
  }));
  const results = await engine.recognize(windows, { signal, languages: windows.map(() => LANGUAGE) });
  await engine.close();
  expect(segments.length).toBeGreaterThan(WINDOWS);
  expectSegments(
    results.flatMap(({ words }) => words),
    segments,
  );
});

test.each([11, 12, 13, 14, 15, 16])(
  "recognition continues at the end of the last segment if the text reaches the token limit (seed %i)",
  async (seed) => {
    const random = seededRandom(seed);
    const firstSeconds = 2.2 + 1.5 * random();
    const [, second] = [0, 1].map(() => segmentSteps(random, WINDOW_SECONDS - firstSeconds));
    const scripts = [{ says: endlessSteps(random, firstSeconds) }, { says: second! }];
    const { engine, reference, model } = await both(`limit-${seed}`, scripts);
    // The first pitch lasts until the second window begins. It is louder, so it selects the script of the first window.
    const samples = joined([
      pitchOf(0, 2, firstSeconds).map((sample) => 1.5 * sample),
      pitchOf(1, 2, WINDOW_SECONDS - firstSeconds).map((sample) => 0.02 * sample),
    ]);
    const segments = segmentsOf(await reference.transcribeWindows(samples, LANGUAGE), model);
    const [result] = await engine.recognize([{ samples, start: 0 }], { signal, languages: [LANGUAGE] });
    await engine.close();
    expect(segments.some(({ start }) => start >= firstSeconds - 0.02)).toBe(true);
    expectSegments(result!.words, segments);
  },
);

/** Expects the words of the segments in order, each inside its segment. */
function expectSegments(words: readonly { word: string; start: number; end: number }[], segments: Segment[]) {
  expect(words.map(({ word }) => word)).toEqual(segments.flatMap(({ text }) => text));
  const spans = segments.flatMap(({ start, end, text }) => text.map(() => ({ start, end })));
  for (const [index, { start, end }] of words.entries()) {
    expect(start).toBeGreaterThanOrEqual(spans[index]!.start - 0.021);
    expect(end).toBeLessThanOrEqual(spans[index]!.end + 0.021);
  }
}

/** Segments with random words that end with a timestamp, at most a second before the end. */
function segmentSteps(random: () => number, seconds: number): MadeStep[] {
  const says: MadeStep[] = [];
  let at = 0;
  while (at < seconds - 1) {
    const end = Math.min(seconds - 0.2, at + 0.8 + random());
    says.push(timestamp(at), ...words(random, 2 + Math.floor(3 * random())), timestamp(end));
    at = end + (random() < 0.5 ? 0 : 0.1);
  }
  return says;
}

/** Two segments up to a time, then text without an end. */
function endlessSteps(random: () => number, seconds: number): MadeStep[] {
  const middle = seconds / 2;
  const gap = random() < 0.5 ? 0 : 0.2;
  return [
    ...[timestamp(0), ...words(random, 3), timestamp(middle)],
    ...[timestamp(middle + gap), ...words(random, 4), timestamp(seconds)],
    ...[timestamp(seconds + gap), ...words(random, MAX_TOKENS)],
  ];
}

function words(random: () => number, count: number): MadeStep[] {
  return Array.from({ length: count }, () => ({ token: TEXTS[Math.floor(random() * TEXTS.length)]! }));
}

function timestamp(seconds: number): MadeStep {
  return { token: `<|${(Math.round(seconds * 50) / 50).toFixed(2)}|>` };
}

function joined(parts: readonly Float32Array[]): Float32Array {
  const samples = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    samples.set(part, at);
    at += part.length;
  }
  return samples;
}

type Model = Awaited<ReturnType<typeof readWhisperModel>>;

function segmentsOf(tokens: readonly number[], { tokens: { firstTimestamp }, tokenBytes }: Model): Segment[] {
  const segments: Segment[] = [];
  let start: number | null = null;
  let text: number[] = [];
  for (const token of tokens) {
    if (token < firstTimestamp!) {
      text.push(token);
      continue;
    }
    const time = (token - firstTimestamp!) / 50;
    if (text.length > 0 && start !== null) {
      const spelled = wordsOfTokens(text, tokenBytes, LANGUAGE);
      segments.push({ start, end: time, text: spelled.map((word) => word.text) });
    }
    [start, text] = [time, []];
  }
  return segments;
}

async function both(name: string, scripts: { says: MadeStep[] }[]) {
  const folder = join(work, name);
  await writeMadeWhisper(folder, {
    // Without attention outputs, the engine decodes with timestamps.
    ...{ attention: "fused", promptTokens: 3, windowSeconds: WINDOW_SECONDS, maxTokens: MAX_TOKENS },
    scripts,
  });
  return {
    model: await readWhisperModel(folder),
    engine: await openWhisper({ folder, threads: 1 }),
    reference: await Reference.open(folder, `${folder}-reference`),
  };
}
