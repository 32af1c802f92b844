import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readWhisperModel, type WhisperModel } from "../src/engines/whisper/model-files.ts";
import { openWhisper } from "../src/engines/whisper/whisper.ts";
import { wordsOfTokens } from "../src/engines/whisper/words-of-tokens.ts";
import { chooseToken, SAMPLING_TEMPERATURES, seededRandom } from "../src/onnx/token-selection.ts";
import { type MadeStep, pitchOf, writeMadeWhisper } from "../test/support/synthetic-whisper/made-whisper.ts";
import { logProbabilities, Reference } from "./transformers.ts";

const { signal } = new AbortController();
const LANGUAGE = "es";
/** Words of random letters, in the order of their tokens. */
const TEXTS = randomWords(120);
let work: string;

beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), "subtext-sampling-"));
});

afterAll(() => rm(work, { recursive: true }));

/** What kind of text the model writes. */
type Kind = "confident" | "improbable" | "repetitive" | "no speech";

interface Attempt {
  temperature: number;
  tokens: number[];
  meanLogProbability: number;
  compressionRatio: number;
}

describe("temperature fallback over generated graphs", () => {
  const reached = new Set<number | null>();

  test.each<[Kind, number[]]>([
    ["confident", [1, 2]],
    ["improbable", [1, 2, 3]],
    ["repetitive", [3, 6, 9, 10, 12, 13]],
    ["no speech", [1, 2]],
  ])("decodes %s text at the same temperatures, with the same result", async (kind, seeds) => {
    for (const seed of seeds) {
      const { engine, model, reference } = await both(kind, seed);
      const samples = pitchOf(0, 1, 12);
      const { accepted, attempts, noSpeechProbability } = await referenceFallback(reference, model, samples);
      const [result] = await engine.recognize([{ samples, start: 0 }], { signal, languages: [LANGUAGE] });
      await engine.close();
      // OpenAI's decoder returns the last attempt if all have failed. The engine returns the most probable of the best.
      const expected = accepted ?? mostProbable(attempts);
      reached.add(accepted?.temperature ?? null);
      expect(result!.noSpeechProbability).toBeCloseTo(noSpeechProbability, 5);
      expect(result!.meanLogProbability).toBeCloseTo(expected.meanLogProbability, 3);
      const isSilent = noSpeechProbability > 0.6 && expected.meanLogProbability < -1;
      const words = isSilent ? [] : wordsOfTokens(expected.tokens, model.tokenBytes, LANGUAGE);
      expect(result!.words.map(({ word }) => word)).toEqual(words.map(({ text }) => text));
    }
  });

  test("results were compared at temperature 0, at higher ones, and after all attempts failed", () => {
    expect(reached).toEqual(new Set([0, 0.2, 0.4, 0.6, null]));
  });
});

test("tokens are drawn with their probabilities at the temperature, in any order", async () => {
  const { engine, model, reference } = await both("improbable", 9);
  await engine.close();
  const samples = pitchOf(0, 1, 12);
  const prompt = reference.prompt(LANGUAGE);
  const logits = (await reference.logits(samples, prompt)).at(-1)!;
  for (const temperature of SAMPLING_TEMPERATURES) {
    const random = seededRandom(Math.round(1000 * temperature));
    const expected = logProbabilities(
      logits.map((logit) => logit / temperature),
      () => true,
    );
    const draws = 4_000;
    const counts = new Map<number, number>();
    for (let draw = 0; draw < draws; draw++) {
      const { token } = chooseToken(logits, { temperature, random });
      counts.set(token, (counts.get(token) ?? 0) + 1);
    }
    for (let token = 0; token < model.vocabularySize; token++) {
      const share = Math.exp(expected[token]!);
      const deviation = Math.sqrt((share * (1 - share)) / draws);
      expect(Math.abs((counts.get(token) ?? 0) / draws - share)).toBeLessThanOrEqual(5 * deviation + 1e-3);
    }
  }
});

/** The rules of OpenAI's `decode_with_fallback`, with the texts of transformers.js. */
async function referenceFallback(reference: Reference, model: WhisperModel, samples: Float32Array) {
  const prompt = reference.prompt(LANGUAGE);
  const isText = (token: number) => model.tokenBytes[token] !== null || token === model.tokens.end;
  const [atStart] = await reference.logits(samples, prompt.slice(0, 1));
  const noSpeechProbability = Math.exp(logProbabilities(atStart!, () => true)[model.tokens.noSpeech!]!);
  const attempts: Attempt[] = [];
  for (const temperature of [0, ...SAMPLING_TEMPERATURES]) {
    const tokens = await reference.sample(samples, LANGUAGE, temperature);
    const logits = await reference.logits(samples, [...prompt, ...tokens.slice(0, -1)]);
    const chosen = tokens.map(
      (token, step) => logProbabilities(logits[prompt.length - 1 + step]!, isText)[token]!,
    );
    const bytes = Buffer.concat(tokens.map((token) => model.tokenBytes[token] ?? new Uint8Array(0)));
    const attempt = {
      temperature,
      tokens,
      meanLogProbability: chosen.reduce((sum, each) => sum + each, 0) / chosen.length,
      compressionRatio: bytes.length / deflateSync(bytes).length,
    };
    attempts.push(attempt);
    // Near the limit, the ratios of characters and of bytes may be on different sides.
    expect(Math.abs(attempt.compressionRatio - 2.4)).toBeGreaterThan(0.09);
    const failed = attempt.compressionRatio > 2.4 || attempt.meanLogProbability < -1;
    const isSilent = noSpeechProbability > 0.6 && attempt.meanLogProbability < -1;
    if (!failed || isSilent) return { accepted: attempt, attempts, noSpeechProbability };
  }
  return { accepted: null, attempts, noSpeechProbability };
}

function mostProbable(attempts: readonly Attempt[]): Attempt {
  const failures = ({ compressionRatio, meanLogProbability }: Attempt) =>
    Number(compressionRatio > 2.4) + Number(meanLogProbability < -1);
  return attempts.reduce((best, each) => {
    const fewer = failures(each) - failures(best);
    return fewer < 0 || (fewer === 0 && each.meanLogProbability > best.meanLogProbability) ? each : best;
  });
}

/**
 * The sampler of the reference draws from the tokens in the order of their probabilities, and the engine in the order of
 * their numbers. Both orders are the same here, so the same random numbers draw the same tokens.
 */
function scriptOf(kind: Kind, seed: number): MadeStep[] {
  const random = seededRandom(seed);
  const shares = {
    confident: [0.8, 0.15, 0.05],
    improbable: [0.28, 0.26, 0.24, 0.22],
    repetitive: [0.6, 0.4],
    "no speech": [0.28, 0.26, 0.24, 0.22],
  }[kind];
  const texts = Array.from({ length: 40 }, (_, step) => {
    const first = kind === "repetitive" && step < 12 + 2 * seed ? step % 3 : Math.floor(random() * 30);
    const rest = shares.slice(1).map((_share, index) => 30 + 30 * index + Math.floor(random() * 30));
    const [token, ...others] = [first, ...rest].map((index) => TEXTS[index]!);
    return {
      token: token!,
      probability: shares[0]!,
      at: 0.15 + 0.29 * step,
      others: Object.fromEntries(others.map((text, index) => [text, shares[index + 1]!])),
    };
  });
  return [...texts, { token: "<|endoftext|>", probability: 1 }];
}

function randomWords(count: number): string[] {
  const random = seededRandom(0);
  const letter = () => String.fromCharCode(97 + Math.floor(26 * random()));
  return Array.from({ length: count }, () => ` ${Array.from({ length: 5 }, letter).join("")}`);
}

async function both(kind: Kind, seed: number) {
  const folder = join(work, `${kind}-${seed}`);
  const says = scriptOf(kind, seed);
  await writeMadeWhisper(folder, {
    attention: "outputs",
    maxTokens: 64,
    windowSeconds: 12,
    scripts: [{ ...(kind === "no speech" && { detects: { "<|nospeech|>": 0.7 } }), says }],
    writtenTokens: TEXTS.map((text) => text.replace(" ", "\u0120")),
  });
  return {
    model: await readWhisperModel(folder),
    engine: await openWhisper({ folder, threads: 1 }),
    reference: await Reference.open(folder, `${folder}-reference`),
  };
}
