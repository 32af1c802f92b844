import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openWhisper } from "../src/engines/whisper/whisper.ts";
import { seededRandom } from "../src/onnx/token-selection.ts";
import { quantile } from "../test/support/spoken.ts";
import { type MadeStep, pitchOf, writeMadeWhisper } from "../test/support/synthetic-whisper/made-whisper.ts";
import { Reference } from "./transformers.ts";

const { signal } = new AbortController();
const LANGUAGE = "es";
const TEXTS = [" one", " two", " three", " four", " five", " six", " seven", " eight", " nine", " ten"];
let work: string;

beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), "subtext-word-times-"));
});

afterAll(() => rm(work, { recursive: true }));

test("word times are where the reference's word timestamps are, and where the attention moves to the next word", async () => {
  const differences: number[] = [];
  const errors: number[] = [];
  for (const seed of [1, 2, 3, 4, 5, 6]) {
    const { folder, centers, seconds } = await writeModel(seed);
    const samples = pitchOf(0, 1, seconds);
    const reference = await Reference.open(folder, `${folder}-reference`);
    const expected = await reference.transcribeWords(samples, LANGUAGE);
    const engine = await openWhisper({ folder, threads: 1 });
    const [result] = await engine.recognize([{ samples, start: 0 }], { signal, languages: [LANGUAGE] });
    await engine.close();
    expect(result!.words.map(({ word }) => word)).toEqual(expected.map(({ text }) => text.trim()));
    for (const [index, { start }] of result!.words.entries()) {
      if (index === 0) continue;
      // The reference reports the times of the step that reads a token. The step before produced the token.
      differences.push(Math.abs(start - expected[index - 1]!.start));
      errors.push(Math.abs(start - (centers[index - 1]! + centers[index]!) / 2));
    }
  }
  expect(differences.length).toBeGreaterThan(100);
  expect(quantile(differences, 0.5)).toBeLessThanOrEqual(0.021);
  expect(quantile(differences, 0.9)).toBeLessThanOrEqual(0.021);
  expect(quantile(errors, 0.9)).toBeLessThanOrEqual(0.021);
});

/** Writes a model whose attention rests on the middle of each word. */
async function writeModel(seed: number) {
  const random = seededRandom(seed);
  const centers: number[] = [];
  let at = 0;
  const words = Array.from({ length: 24 }, (): MadeStep => {
    const duration = 0.12 + 0.5 * random();
    centers.push(Math.round(50 * (at + duration / 2)) / 50);
    at += duration;
    return { token: TEXTS[Math.floor(random() * TEXTS.length)]!, at: centers.at(-1)! };
  });
  const seconds = Math.ceil(at);
  const folder = join(work, `model-${seed}`);
  await writeMadeWhisper(folder, {
    ...{ attention: "outputs", maxTokens: 64, promptTokens: 3 },
    windowSeconds: seconds,
    // The reference decodes with timestamps and the engine without them.
    scripts: [
      {
        says: [
          { token: "<|0.00|>", at: 0 },
          ...words,
          { token: `<|${at.toFixed(0)}.00|>`, at },
          { token: "<|endoftext|>", at },
        ],
      },
      { says: [words[0]!, ...words, { token: "<|endoftext|>", at }] },
    ],
    switches: { "<|notimestamps|>": 1 },
    config: { median_filter_width: 7 },
  });
  return { folder, centers, seconds };
}
