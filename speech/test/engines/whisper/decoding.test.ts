import { mkdtemp, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { InferenceSession } from "onnxruntime-node";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Engine, RecognitionResult, RecognizeOptions } from "../../../src/engines/engine.ts";
import { createLogitsProcessor } from "../../../src/engines/whisper/logits-processors.ts";
import { openWhisper } from "../../../src/engines/whisper/whisper.ts";
import { SpeechError } from "../../../src/errors.ts";
import { chooseToken, seededRandom } from "../../../src/onnx/token-selection.ts";
import {
  type MadeStep,
  type MadeWhisperOptions,
  pitchOf,
  steps,
  writeMadeWhisper,
} from "../../support/synthetic-whisper/made-whisper.ts";

let folder: string;
const engines: Engine[] = [];
const { signal } = new AbortController();

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "subtext-made-whisper-"));
});

afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
  await rm(folder, { recursive: true });
});

async function made(options: MadeWhisperOptions): Promise<Engine> {
  await writeMadeWhisper(folder, options);
  const engine = await openWhisper({ folder, threads: 1 });
  engines.push(engine);
  return engine;
}

const utterance = (script = 0, scripts = 1, seconds = 3) => ({
  samples: pitchOf(script, scripts, seconds),
  start: 0,
});

async function recognizedBy(
  engine: Engine,
  options: Partial<RecognizeOptions> = {},
): Promise<RecognitionResult> {
  const [result] = await engine.recognize([utterance()], { signal, ...options });
  return result as RecognitionResult;
}

const textOf = (result: RecognitionResult | undefined) => result?.words.map(({ word }) => word).join(" ");
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "no error",
    (error) => (error instanceof SpeechError ? error.code : String(error)),
  );

const hello = steps([" Hello", " there", "."], 0.9);

describe("a text", () => {
  test("comes with the confidence of each word and of the whole text", async () => {
    const engine = await made({ scripts: [{ says: steps([" Hello", " there"], 0.6) }] });
    const result = await recognizedBy(engine);
    expect(result.words.map(({ word }) => word)).toEqual(["Hello", "there"]);
    for (const { confidence } of result.words) expect(confidence).toBeCloseTo(0.6, 2);
    expect(result.meanLogProbability).toBeCloseTo((2 * Math.log(0.6) + Math.log(0.99)) / 3, 2);
    expect(result.truncated).toBe(false);
  });

  test("is transcribed in the requested language, or else in the most likely one", async () => {
    const engine = await made({
      scripts: [
        { detects: { "<|pt|>": 0.6, "<|es|>": 0.3 }, says: steps([" Olá"]) },
        { says: steps([" Hola"]) },
      ],
      switches: { "<|es|>": 1 },
    });
    const tone = utterance(0, 2);
    const results = await engine.recognize([tone, tone, { ...tone }], {
      signal,
      languages: ["es", "es", null],
    });
    expect(results.map((result) => [result.language, textOf(result)])).toEqual([
      ["es", "Hola"],
      ["es", "Hola"],
      ["pt", "Olá"],
    ]);
    const [detected] = (await engine.detectLanguages?.([tone], signal)) ?? [];
    expect(detected?.get("pt")).toBeCloseTo(0.6 / 0.9, 1);
  });

  test("does not depend on the rest of the batch", async () => {
    const words = [" one", " two", " three", " four", " five"];
    const engine = await made({
      scripts: words.map((word, script) => ({ says: steps([word, ...words.slice(0, script)]) })),
    });
    const scripts = [3, 0, 4, 1, 1, 2, 0, 3, 4, 2, 4, 4, 0, 1, 2, 3, 3, 0, 1];
    const results = await engine.recognize(
      scripts.map((script, index) => utterance(script, words.length, 1 + (index % 4))),
      { signal },
    );
    expect(results.map(textOf)).toEqual(
      scripts.map((script) => [words[script], ...words.slice(0, script)].join("").trim()),
    );
  });

  test("comes from an English-only model without a language", async () => {
    const engine = await made({ englishOnly: true, promptTokens: 2, scripts: [{ says: hello }] });
    expect([engine.languages, engine.detectLanguages]).toEqual([["en"], undefined]);
    const result = await recognizedBy(engine, { languages: ["es"] });
    expect([textOf(result), result.language]).toEqual(["Hello there.", null]);
  });
});

test("the vocabulary precedes the prompt, and its spelling replaces a similar one", async () => {
  // The made decoder reads the script by position, so the three tokens `<|startofprev|> k.` skip three steps.
  const says = [" use", " kay", "<|endoftext|>", " use", " k", "<|endoftext|>"];
  const engine = await made({ scripts: [{ says: steps(says, 0.9) }] });
  expect(textOf(await recognizedBy(engine))).toBe("use kay");
  expect(textOf(await recognizedBy(engine, { vocabulary: ["k"] }))).toBe("use k");
  expect(textOf(await recognizedBy(engine, { vocabulary: ["q"] }))).toBe("use kay");
});

describe("a text longer than the token limit", () => {
  const words = Array.from({ length: 12 }, (_, index) => ` word${index}`);
  const end = [" the", " end"];
  /** Three seconds with the first text, then one with the second. */
  const samples = Float32Array.of(...pitchOf(0, 2, 3), ...pitchOf(1, 2, 1));
  const speech = { samples, start: 5 };
  const recognize = async (attention: "tensors" | "fused", first: MadeStep[], noSpeech = 0) => {
    const engine = await made({
      ...(attention === "fused" ? { attention, promptTokens: 3 } : {}),
      maxTokens: 14,
      scripts: [
        { says: first, ...(noSpeech > 0 && { detects: { "<|nospeech|>": noSpeech } }) },
        { says: steps(attention === "fused" ? ["<|0.00|>", ...end] : end) },
      ],
    });
    const [result] = await engine.recognize([speech], { signal, languages: ["es"] });
    return result as RecognitionResult;
  };

  test("continues from the last whole word", async () => {
    const result = await recognize(
      "tensors",
      words.map((token, index) => ({ token, at: 0.3 * (index + 1) })),
    );
    expect(textOf(result)).toBe([...words.slice(0, 9), ...end].join("").trim());
    expect([result.truncated, result.language]).toEqual([false, "es"]);
    for (const [index, { start }] of result.words.entries()) {
      expect(start).toBeGreaterThanOrEqual(result.words[index - 1]?.end ?? 5);
    }
  });

  test("continues from the last timestamp if the decoder shows no attention", async () => {
    const said = ["<|0.00|>", " one", " two", "<|1.00|>", "<|1.00|>", " three", "<|3.00|>", "<|3.00|>"];
    const result = await recognize("fused", steps([...said, ...words], 0.95));
    expect(textOf(result)).toBe("one two three the end");
    expect(result.truncated).toBe(false);
  });

  test("continues from the end of the last segment, even if the next one is said to begin later", async () => {
    const said = ["<|0.00|>", " one", " two", "<|2.20|>", "<|3.40|>", " three"];
    const result = await recognize("fused", steps([...said, ...words], 0.95));
    expect(textOf(result)).toBe("one two the end");
    expect(result.words.map(({ start }) => start >= 7.18)).toEqual([false, false, true, true]);
    expect(result.words[2]!.start).toBeLessThan(8);
  });

  test("is not continued where nobody speaks", async () => {
    const said = ["<|0.00|>", " one", " two", "<|2.20|>", "<|3.40|>", " three"];
    const result = await recognize("fused", steps([...said, ...words], 0.2), 0.8);
    expect(result.words).toEqual([]);
  });

  test("is not continued if it does not advance", async () => {
    const result = await recognize(
      "tensors",
      words.map((token) => ({ token, at: 0.1 })),
    );
    expect(textOf(result)).toBe(words.slice(0, 10).join("").trim());
    expect(result.truncated).toBe(true);
  });
});

describe("word times", () => {
  const says: MadeStep[] = [
    { token: " Hello", at: 0.5 },
    { token: " there", at: 1.1 },
    { token: " again", at: 1.9 },
    { token: "<|endoftext|>", at: 2.6 },
  ];

  test.each<[string, Partial<MadeWhisperOptions>]>([
    ["tensors inside the decoder", {}],
    ["outputs that it has already", { attention: "outputs" }],
    [
      "tensors that each branch names in its own way",
      {
        attentionName: (layer, branch) =>
          branch === "then"
            ? `/decoder/block.${layer}/layer.1/EncDecAttention/Softmax_output_0`
            : `/model/decoder/layers.${layer}/encoder_attn/Softmax_output_0`,
      },
    ],
    ["heads that its files do not state", { statesAlignmentHeads: false, layers: 4, heads: 3 }],
    ["half precision", { valueType: "float16" }],
    ["caches alone in half precision", { cacheType: "float16" }],
    ["an 8-bit output projection outside of the branches", { eightBitProjection: true }],
    ["positions as an input", { takesPositions: true }],
    [
      "heads of a teacher with more layers",
      {
        generation: {
          alignment_heads: [
            [7, 0],
            [10, 17],
          ],
        },
      },
    ],
    ["128 mel bins", { melBins: 128 }],
    ["a window of 10 s", { windowSeconds: 10 }],
  ])("come out of attention: %s", async (_, options) => {
    const engine = await made({ scripts: [{ says }], ...options });
    const { words } = await recognizedBy(engine);
    expect(words.map(({ word }) => word)).toEqual(["Hello", "there", "again"]);
    for (const [index, { start, end }] of words.entries()) {
      const at = says[index]?.at ?? 0;
      expect(start).toBeLessThanOrEqual(at + 0.03);
      expect(end).toBeGreaterThanOrEqual(at - 0.03);
    }
    expect(engine.warnings).toEqual([]);
  });

  test("come from timestamps if the decoder shows no attention, which it warns of", async () => {
    const engine = await made({
      attention: "fused",
      promptTokens: 3,
      scripts: [
        {
          says: steps(["<|0.40|>", " Hello", " there", "<|1.00|>", "<|2.00|>", " again", "<|2.40|>"], 0.95),
        },
      ],
    });
    expect(engine.warnings).toHaveLength(1);
    const { words } = await recognizedBy(engine);
    expect(words.map(({ word }) => word)).toEqual(["Hello", "there", "again"]);
    const [first, second, third] = words;
    expect(first?.start).toBeCloseTo(0.4, 1);
    expect(second?.end).toBeCloseTo(1, 1);
    expect(third?.start).toBeCloseTo(2, 1);
    expect(third?.end).toBeCloseTo(2.4, 1);
  });

  test("are shares of the utterance if there are no timestamps either", async () => {
    const engine = await made({ attention: "fused", timestamps: false, scripts: [{ says }] });
    const { words } = await recognizedBy(engine);
    let earliest = 0;
    for (const { start, end } of words) {
      expect(start).toBeGreaterThanOrEqual(earliest);
      expect(end - start).toBeGreaterThan(0.5);
      earliest = end;
    }
    expect(earliest).toBeLessThanOrEqual(3);
  });
});

describe("a bad result is decoded again with sampling", () => {
  const good = { says: [{ token: "<|notimestamps|>" }, ...steps([" well", " spoken", " indeed"], 0.9)] };
  /** The most likely first token, " uh", leads to a bad text; " well" leads to the good script. */
  const badlyThen = (rest: readonly MadeStep[]): MadeWhisperOptions => ({
    maxTokens: 250,
    scripts: [{ says: [{ token: " uh", probability: 0.5, others: { " well": 0.49 } }, ...rest] }, good],
    switches: { " well": 1 },
  });
  const low = async (options: MadeWhisperOptions) => {
    const engine = await made(options);
    const [result] = await engine.recognize([utterance(0, 2)], { signal });
    return result as RecognitionResult;
  };
  const message = " leave your message after the tone".split(/(?= )/);
  const looped = [...message, ...message, ...message.slice(0, 4)];
  /** As fast as the frames allow. */
  const fastSteps = (tokens: string[]): MadeStep[] =>
    tokens.map((token, index) => ({ token, probability: 0.95, at: 0.3 + 0.05 * index }));
  const phrase = Array.from({ length: 30 }, (_, index) => ` word${index}`);

  test.each<[string, MadeStep[]]>([
    ["unsure of itself", steps([" what", " is", " that", " there"], 0.05)],
    [
      "in a loop",
      steps(
        Array.from({ length: 40 }, () => " so"),
        0.95,
      ),
    ],
    ["in a phrase two and a half times in a second", fastSteps(looped)],
    ["repeating itself", steps([...phrase, ...phrase, ...phrase, ...phrase, ...phrase], 0.95)],
  ])("a text %s", async (_, rest) => {
    const result = await low(badlyThen(rest));
    expect(textOf(result)).toMatch(/spoken indeed$/);
    expect(await low(badlyThen(rest))).toEqual(result);
  });

  test("and the best result is used", async () => {
    const engine = await made({ scripts: [{ says: steps([" mumble", " on"], 0.2) }] });
    const result = await recognizedBy(engine);
    expect(textOf(result)).toBe("mumble on");
    expect(result.meanLogProbability).toBeCloseTo((2 * Math.log(0.2) + Math.log(0.99)) / 3, 2);
  });

  test("and a loop that remains is cut", async () => {
    const engine = await made({
      scripts: [
        {
          says: steps(
            Array.from({ length: 40 }, () => " so"),
            0.99,
          ),
        },
      ],
    });
    const result = await recognizedBy(engine);
    expect([textOf(result), result.truncated]).toEqual(["so", true]);
  });

  test("but not where nobody speaks", async () => {
    const detects = { "<|nospeech|>": 0.8 };
    const engine = await made({ scripts: [{ detects, says: steps([" mumble", " on"], 0.2) }] });
    const result = await recognizedBy(engine, { languages: ["en"] });
    expect(result.words).toEqual([]);
    expect(result.noSpeechProbability).toBeCloseTo(0.8, 2);
  });

  test("unless the model is confident about the words", async () => {
    const engine = await made({ scripts: [{ detects: { "<|nospeech|>": 0.8 }, says: hello }] });
    expect(textOf(await recognizedBy(engine))).toBe("Hello there.");
  });
});

test("a hundred languages are distinguished", async () => {
  const letters = [..."abcdefghij"];
  const languages = letters.flatMap((a) => letters.map((b) => `${a}${b}`));
  const engine = await made({
    languages,
    scripts: [{ detects: { "<|ji|>": 0.9 }, says: hello }],
    generation: { lang_to_id: undefined },
  });
  expect(engine.languages).toHaveLength(100);
  expect((await recognizedBy(engine)).language).toBe("yi");
});

describe("a model that is damaged", () => {
  test.each(["encoder_model", "decoder_model_merged"])("is reported: %s cut short", async (name) => {
    await writeMadeWhisper(folder, { scripts: [{ says: hello }] });
    await truncate(join(folder, "onnx", `${name}.onnx`), 300);
    expect(await codeOf(openWhisper({ folder, threads: 1 }))).toBe("model_unusable");
  });

  test("is reported: a decoder with an input of unknown meaning", async () => {
    await writeMadeWhisper(folder, { scripts: [{ says: hello }], takesPositions: true });
    const path = join(folder, "onnx", "decoder_model_merged.onnx");
    const decoder = await readFile(path, "latin1");
    await writeFile(path, decoder.replaceAll("cache_position", "other_position"), "latin1");
    await expect(openWhisper({ folder, threads: 1 })).rejects.toMatchObject({
      code: "model_unusable",
      message: expect.stringContaining("unknown inputs: other_position"),
    });
  });

  test("is reported: a vocabulary of another size", async () => {
    await writeMadeWhisper(folder, { scripts: [{ says: hello }], config: { vocab_size: 9_999 } });
    expect(await codeOf(openWhisper({ folder, threads: 1 }))).toBe("model_unusable");
  });

  test("is reported: heads of attention that the decoder does not have", async () => {
    const config = { decoder_attention_heads: 6 };
    const generation = { alignment_heads: [[1, 5]] };
    await writeMadeWhisper(folder, { scripts: [{ says: hello }], config, generation });
    expect(await codeOf(openWhisper({ folder, threads: 1 }))).toBe("model_unusable");
  });

  test.each<[string, rejected: string, other: string, sessions: number]>([
    ["encoder", "encoder_model", "decoder_model_merged", 1],
    ["decoder", "decoder_model_merged", "encoder_model", 2],
  ])("is not kept in memory if its %s is another graph", async (_, rejected, other, sessions) => {
    await writeMadeWhisper(folder, { scripts: [{ says: hello }] });
    const graph = await readFile(join(folder, "onnx", `${other}.onnx`));
    await writeFile(join(folder, "onnx", `${rejected}.onnx`), graph);
    const { prototype } = InferenceSession as unknown as { prototype: InferenceSession };
    const create = vi.spyOn(InferenceSession, "create");
    const release = vi.spyOn(prototype, "release");
    expect(await codeOf(openWhisper({ folder, threads: 1 }))).toBe("model_unusable");
    expect(create).toHaveBeenCalledTimes(sessions);
    expect(release).toHaveBeenCalledTimes(sessions);
    vi.restoreAllMocks();
  });

  test.each<[string, Partial<MadeWhisperOptions>]>([
    ["frames that its encoder does not give", { config: { max_source_positions: 1_400 } }],
    [
      "mel bins that its encoder does not take",
      { config: { num_mel_bins: 64 }, preprocessor: { feature_size: 64 } },
    ],
    ["probabilities that are no numbers", { scripts: [{ says: steps([" Hello"], Number.NaN) }] }],
  ])("is reported on first use: %s", async (_, options) => {
    const engine = await made({ scripts: [{ says: hello }], ...options });
    expect(await codeOf(engine.recognize([utterance()], { signal }))).toBe("model_unusable");
  });
});

test("stops between two steps when it is aborted", async () => {
  const engine = await made({ maxTokens: 250, scripts: [{ says: steps(Array(200).fill(" and"), 0.9) }] });
  const controller = new AbortController();
  const results = engine.recognize([utterance()], { signal: controller.signal });
  setImmediate(() => controller.abort(new Error("no longer wanted")));
  await expect(results).rejects.toThrow("no longer wanted");
});

test("timestamps come in pairs and in order, whatever the model predicts", () => {
  const [textTokens, end, noTimestamps, firstTimestamp, timestamps] = [20, 20, 25, 26, 60];
  const vocabularySize = firstTimestamp + timestamps;
  const rules = createLogitsProcessor(
    {
      vocabularySize,
      tokens: {
        ...{ start: 21, end, transcribe: 22, noTimestamps, noSpeech: 23, previous: 24 },
        firstTimestamp,
        languages: new Map(),
      },
      tokenBytes: Array.from({ length: vocabularySize }, (_, token) =>
        token < textTokens ? Uint8Array.of(65 + token) : null,
      ),
      suppressed: [3],
      suppressedAtBegin: [4, end],
    },
    true,
  );
  fc.assert(
    fc.property(fc.integer(), fc.double({ min: 0.1, max: 20, noNaN: true }), (seed, spread) => {
      const random = seededRandom(seed);
      const tokens: number[] = [];
      for (let chosen = -1; chosen !== end && tokens.length < 80; ) {
        const logits = Float32Array.from({ length: vocabularySize }, () => spread * random());
        rules(logits, tokens);
        chosen = chooseToken(logits, { temperature: 1, random }).token;
        if (chosen !== end) tokens.push(chosen);
      }
      const times = tokens.filter((token) => token >= firstTimestamp);
      expect(tokens[0]).toBeGreaterThanOrEqual(firstTimestamp);
      expect(tokens[0]).toBeLessThanOrEqual(firstTimestamp + 50);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      for (const [index, token] of tokens.entries()) {
        expect(token < textTokens ? token !== 3 : token >= firstTimestamp).toBe(true);
        const three = tokens.slice(index, index + 3).filter((next) => next >= firstTimestamp);
        expect(three.length).toBeLessThan(3);
      }
    }),
    { numRuns: 200 },
  );
});
