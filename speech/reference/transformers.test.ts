import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Engine } from "../src/engines/engine.ts";
import { LogMel } from "../src/engines/whisper/log-mel.ts";
import { createLogitsProcessor } from "../src/engines/whisper/logits-processors.ts";
import { readWhisperModel, type WhisperModel } from "../src/engines/whisper/model-files.ts";
import { openWhisper } from "../src/engines/whisper/whisper.ts";
import { wordsOfTokens } from "../src/engines/whisper/words-of-tokens.ts";
import { seededRandom } from "../src/onnx/token-selection.ts";
import { tinyWhisperModel } from "../test/support/language-recordings.ts";
import { quantile } from "../test/support/spoken.ts";
import { type MadeStep, pitchOf, writeMadeWhisper } from "../test/support/synthetic-whisper/made-whisper.ts";
import { logProbabilities, Reference, transformers } from "./transformers.ts";

const { signal } = new AbortController();
let work: string;

beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), "subtext-reference-"));
});

afterAll(() => rm(work, { recursive: true }));

interface Clip {
  language: string;
  samples: Float32Array;
}

/** Speech in four languages, clean and noisy. */
async function readClips(): Promise<Clip[]> {
  const folder = fileURLToPath(new URL("../test/tiny-whisper/fixtures/", import.meta.url));
  const names = (await readdir(folder)).filter((file) => file.endsWith(".wav") && !file.includes("None"));
  return await Promise.all(
    names.map(async (name) => {
      const file = await readFile(join(folder, name));
      const pcm = file.subarray(file.indexOf("data") + 8);
      const samples = Float32Array.from(
        { length: pcm.length >> 1 },
        (_, i) => pcm.readInt16LE(2 * i) / 32_768,
      );
      return { language: name.split("_")[1]!, samples };
    }),
  );
}

function farthest(a: ArrayLike<number>, b: ArrayLike<number>): number {
  expect(a.length).toBe(b.length);
  return Array.from(a).reduce((most, value, index) => Math.max(most, Math.abs(value - b[index]!)), 0);
}

describe("log-mel features", () => {
  const random = seededRandom(1);
  test.each<[string, (sample: number) => number, number]>([
    ["noise", () => random() - 0.5, 31],
    ["a sweep", (sample) => 0.3 * Math.sin(sample ** 2 * 1e-6), 30],
    ["a faint tone", (sample) => 1e-4 * Math.sin(sample / 9), 4.3],
    ["a click", (sample) => (sample === 400 ? 1 : 0), 0.1],
    ["silence", () => 0, 2],
  ])("of %s equal those of the reference", async (_, sample, seconds) => {
    const samples = Float32Array.from({ length: Math.round(16_000 * seconds) }, (__, index) => sample(index));
    const window = { seconds: 30, samples: 480_000, melFrames: 3_000, encoderFrames: 1_500 };
    for (const melBins of [80, 128]) {
      const extract = new transformers.WhisperFeatureExtractor({
        ...{ feature_size: melBins, sampling_rate: 16_000, n_fft: 400, hop_length: 160 },
        ...{ n_samples: window.samples, nb_max_frames: window.melFrames },
      });
      const { input_features } = await extract(samples.slice(0, window.samples));
      const own = new LogMel({ melBins, hopSamples: 160, fftSamples: 400, window }).compute(samples);
      expect(farthest(own, input_features.data)).toBeLessThan(1e-5);
    }
  });
});

describe("a trained model", () => {
  let clips: Clip[];
  let model: WhisperModel;
  let engine: Engine;
  let reference: Reference;

  beforeAll(async () => {
    clips = await readClips();
    model = await readWhisperModel(tinyWhisperModel);
    engine = await openWhisper({ folder: tinyWhisperModel, threads: 1 });
    reference = await Reference.open(tinyWhisperModel, join(work, "trained"));
  });

  afterAll(() => engine.close());

  const recognized = () =>
    engine.recognize(
      clips.map(({ samples }) => ({ samples, start: 0 })),
      { signal, languages: clips.map(({ language }) => language) },
    );

  test("reports the same probabilities of languages", async () => {
    const detected = await engine.detectLanguages!(
      clips.map(({ samples }) => ({ samples, start: 0 })),
      signal,
    );
    const { languages, start } = model.tokens;
    const ids = [...languages.values()];
    for (const [index, { samples }] of clips.entries()) {
      const [logits] = await reference.logits(samples, [start]);
      const expected = logProbabilities(logits!, (token) => ids.includes(token));
      for (const [language, token] of languages) {
        expect(detected[index]!.get(language)).toBeCloseTo(Math.exp(expected[token]!), 4);
      }
    }
  });

  test("recognizes the same words with the same probability", async () => {
    const results = await recognized();
    for (const [index, { samples, language }] of clips.entries()) {
      const { tokens } = await reference.transcribe(samples, language);
      const words = wordsOfTokens(tokens, model.tokenBytes, language);
      expect(results[index]!.words.map(({ word }) => word)).toEqual(words.map(({ text }) => text));

      const prompt = reference.prompt(language);
      const logits = await reference.logits(samples, [...prompt, ...tokens.slice(0, -1)]);
      const isText = (token: number) => model.tokenBytes[token] !== null || token === model.tokens.end;
      const chosen = tokens.map(
        (token, step) => logProbabilities(logits[prompt.length - 1 + step]!, isText)[token]!,
      );
      const mean = chosen.reduce((sum, logarithm) => sum + logarithm, 0) / chosen.length;
      expect(results[index]!.meanLogProbability).toBeCloseTo(mean, 2);
    }
  });

  test("places words where dynamic time warping over the same heads places them", async () => {
    const results = await recognized();
    const differences: number[] = [];
    for (const [index, { samples, language }] of clips.entries()) {
      const { tokens, starts } = await reference.transcribe(samples, language);
      const words = wordsOfTokens(tokens, model.tokenBytes, language);
      for (const [wordIndex, { firstToken }] of words.entries()) {
        // The path of the reference cannot begin with a pause, so its first time is always 0.
        if (firstToken < 2) continue;
        // The reference reports the times of the step that reads a token. The step before produced the token.
        differences.push(Math.abs(results[index]!.words[wordIndex]!.start - starts[firstToken - 1]!));
      }
    }
    expect(differences.length).toBeGreaterThan(50);
    expect(quantile(differences, 0.5)).toBeLessThanOrEqual(0.02);
    expect(quantile(differences, 0.9)).toBeLessThanOrEqual(0.06);
  });
});

describe("logits processors", () => {
  const [end, start, noTimestamps, firstTimestamp, vocabularySize] = [20, 21, 25, 26, 126];
  const model = {
    vocabularySize,
    tokens: {
      ...{ start, end, transcribe: 22, noTimestamps, noSpeech: 23, previous: 24 },
      firstTimestamp,
      languages: new Map<string, number>(),
    },
    tokenBytes: Array.from({ length: vocabularySize }, (_, token) =>
      token < end ? Uint8Array.of(65 + token) : null,
    ),
    suppressed: [3, 8],
    suppressedAtBegin: [4, end],
  };
  const [control, prompt] = [
    [21, 22, 23, 24, 25],
    [21, 22],
  ];
  const random = fc.record({
    seed: fc.integer(),
    spread: fc.double({ min: 0.1, max: 20, noNaN: true }),
    length: fc.integer({ min: 0, max: 12 }),
  });
  /**
   * Returns whether OpenAI's decoder forbids a timestamp: timestamps increase, and the first is within 1 s. The reference
   * lacks these rules.
   */
  const isOutOfTime = (token: number, tokens: readonly number[]) => {
    if (token < firstTimestamp) return false;
    if (tokens.length === 0) return token > firstTimestamp + 50;
    const last = tokens.findLast((each) => each >= firstTimestamp) ?? firstTimestamp;
    const pairIsOpen =
      tokens.length >= 2 && tokens.at(-1)! >= firstTimestamp && tokens.at(-2)! < firstTimestamp;
    return pairIsOpen ? token < last : token <= last;
  };

  test.each([true, false])("allow the same tokens (timestamps: %s)", (timestamps) => {
    const processLogits = createLogitsProcessor(model, timestamps);
    const processors = [
      new transformers.SuppressTokensLogitsProcessor([...model.suppressed, ...control]),
      new transformers.SuppressTokensAtBeginLogitsProcessor(model.suppressedAtBegin, prompt.length),
      ...(timestamps
        ? [
            new transformers.WhisperTimeStampLogitsProcessor(
              {
                eos_token_id: end,
                no_timestamps_token_id: noTimestamps,
                max_initial_timestamp_index: 50,
              },
              prompt,
            ),
          ]
        : []),
    ];
    fc.assert(
      fc.property(random, ({ seed, spread, length }) => {
        const next = seededRandom(seed);
        const tokens: number[] = [];
        while (tokens.length <= length) {
          const logits = Float32Array.from({ length: vocabularySize }, (_, token) =>
            timestamps && isOutOfTime(token, tokens) ? Number.NEGATIVE_INFINITY : spread * next(),
          );
          const expected = logits.slice();
          const before = [...prompt, ...tokens].map(BigInt);
          const tensor = new transformers.Tensor("float32", expected, [1, vocabularySize]);
          for (const process of processors) process([before], tensor);
          processLogits(logits, tokens);
          expect(Array.from(logits)).toEqual(Array.from(tensor.data));
          const allowed = [...logits.keys()].filter((token) => Number.isFinite(logits[token]!));
          const chosen = allowed[Math.floor(next() * allowed.length)]!;
          if (chosen === end) break;
          tokens.push(chosen);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe("generated graphs", () => {
  const texts = [" one", " two", " three", " four", " five", " six", ",", "."];
  const maxTokens = 40;

  /** Returns random tokens, some of them suppressed, in segments between timestamps. */
  function randomSteps(seed: number, timestamps: boolean): MadeStep[] {
    const random = seededRandom(seed);
    const pick = () => texts[Math.floor(random() * texts.length)]!;
    const says: MadeStep[] = [];
    for (let segment = 1; segment <= 4; segment++) {
      for (let count = 2 + Math.floor(4 * random()); count > 0; count--) {
        const [token, second] = [pick(), pick()];
        says.push({ token, probability: 0.6, others: second === token ? {} : { [second]: 0.3 } });
      }
      if (!timestamps) continue;
      // If all timestamps together are more likely than any other token, a timestamp must be chosen.
      const time = `<|${(segment + random()).toFixed(1)}0|>`;
      says.push({ token: pick(), probability: 0.35, others: { [time]: 0.3 } });
      says.push({ token: pick(), probability: 0.5, others: { [time]: 0.4 } });
    }
    return says;
  }

  test.each([1, 2, 3, 4, 5, 6, 7, 8])("without timestamps give the same tokens (seed %i)", async (seed) => {
    const { engine, reference, model, language } = await both(seed, false);
    const samples = pitchOf(0, 1, 5);
    const { tokens } = await reference.transcribe(samples, language);
    const [result] = await engine.recognize([{ samples, start: 0 }], { signal, languages: [language] });
    await engine.close();
    const words = wordsOfTokens(tokens, model.tokenBytes, language);
    expect(words.length).toBeGreaterThan(4);
    expect(result!.words.map(({ word }) => word)).toEqual(words.map(({ text }) => text));
  });

  test.each([11, 12, 13, 14, 15, 16, 17, 18])(
    "with timestamps give the same tokens (seed %i)",
    async (seed) => {
      const { engine, reference, model, language } = await both(seed, true);
      const samples = pitchOf(0, 1, 20);
      const tokens = await reference.transcribeWithTimestamps(samples, language, maxTokens - 3);
      const [result] = await engine.recognize([{ samples, start: 0 }], { signal, languages: [language] });
      await engine.close();
      expect(tokens.filter((token) => token >= model.tokens.firstTimestamp!).length).toBeGreaterThan(2);
      const words = wordsOfTokens(tokens, model.tokenBytes, language);
      expect(result!.words.map(({ word }) => word)).toEqual(words.map(({ text }) => text));
    },
  );

  async function both(seed: number, timestamps: boolean) {
    const folder = join(work, `generated-${seed}`);
    const options = {
      maxTokens,
      // Without attention outputs, the engine decodes with timestamps.
      ...(timestamps ? { attention: "fused" as const, promptTokens: 3 } : { attention: "outputs" as const }),
      scripts: [{ says: randomSteps(seed, timestamps) }],
    };
    const vocabulary = await writeMadeWhisper(folder, options);
    const generation = {
      suppress_tokens: [vocabulary.id(" four")],
      begin_suppress_tokens: [vocabulary.id(" two"), vocabulary.id("<|endoftext|>")],
    };
    await writeMadeWhisper(folder, { ...options, generation });
    return {
      model: await readWhisperModel(folder),
      engine: await openWhisper({ folder, threads: 1 }),
      reference: await Reference.open(folder, `${folder}-reference`),
      language: "es",
    };
  }
});
