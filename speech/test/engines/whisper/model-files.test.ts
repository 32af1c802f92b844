import { cp, mkdtemp, readFile, rename, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readWhisperModel } from "../../../src/engines/whisper/model-files.ts";
import { SpeechError } from "../../../src/errors.ts";
import { tinyWhisperModel } from "../../support/language-recordings.ts";
import {
  type MadeWhisperOptions,
  steps,
  writeMadeWhisper,
} from "../../support/synthetic-whisper/made-whisper.ts";

let work: string;
let folders = 0;
beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), "whisper-files-"));
});
afterAll(() => rm(work, { recursive: true }));

async function made(options: Partial<MadeWhisperOptions> = {}, name = `made-${folders++}`) {
  const folder = join(work, name);
  const vocabulary = await writeMadeWhisper(folder, { scripts: [{ says: steps([" hello"]) }], ...options });
  return { folder, vocabulary };
}

/** Of a model that is read in vain. */
async function refusal(folder: string, options?: { variant: string }): Promise<string> {
  try {
    await readWhisperModel(folder, options);
  } catch (error) {
    if (error instanceof SpeechError && error.code === "model_unusable") return error.message;
    return `not the error due: ${error}`;
  }
  return "no error";
}

describe("a Whisper export", () => {
  test("reports its window, its sizes and its tokens", async () => {
    const model = await readWhisperModel(tinyWhisperModel);
    expect(model).toMatchObject({
      name: "model",
      window: { seconds: 10, samples: 160_000, melFrames: 1_000, encoderFrames: 500 },
      melBins: 80,
      hopSamples: 160,
      fftSamples: 400,
      decoderLayers: 2,
      decoderHeads: 4,
      vocabularySize: 512,
      maxTokens: 96,
      alignmentHeads: [
        { layer: 1, head: 0 },
        { layer: 1, head: 1 },
      ],
      tokens: {
        start: 501,
        end: 500,
        transcribe: 507,
        noTimestamps: 511,
        noSpeech: 510,
        firstTimestamp: null,
      },
    });
    expect(model.tokens.languages).toEqual(
      new Map([
        ["es", 503],
        ["pt", 505],
        ["en", 502],
        ["fr", 504],
      ]),
    );
    expect(model.encoderPath).toBe(join(tinyWhisperModel, "encoder_model.onnx"));
  });

  test("may be large: 128 mel bins, a hundred languages, timestamps", async () => {
    const languages = Array.from({ length: 98 }, (_, index) =>
      String.fromCharCode(97 + Math.floor(index / 26), 97 + (index % 26)),
    ).filter((code) => code !== "jw" && code !== "yi");
    const { folder, vocabulary } = await made({ melBins: 128, languages: [...languages, "yue", "jw"] });
    const { melBins, window, tokens, tokenBytes } = await readWhisperModel(folder);
    expect([melBins, window.seconds, window.melFrames]).toEqual([128, 30, 3_000]);
    expect(tokens.languages.size).toBe(languages.length + 2);
    expect(tokens.languages.get("yue")).toBe(vocabulary.id("<|yue|>"));
    expect(tokens.languages.get("jv")).toBe(vocabulary.id("<|jw|>"));
    expect(tokens.firstTimestamp).toBe(vocabulary.id("<|0.00|>"));
    expect(tokenBytes[vocabulary.id("<|1.00|>")]).toBeNull();
    expect(tokenBytes[vocabulary.id(" hello")]).toEqual(new TextEncoder().encode(" hello"));
    expect(tokenBytes[vocabulary.id("\n")]).toEqual(Uint8Array.of(10));
  });

  test("of English only has no languages, though its vocabulary names them", async () => {
    const declared = await made({ englishOnly: true });
    const prompted = await made({
      generation: { is_multilingual: undefined, lang_to_id: undefined },
    });
    const { vocabulary } = prompted;
    await writeFile(
      join(prompted.folder, "config.json"),
      JSON.stringify({
        ...JSON.parse(await readFile(join(prompted.folder, "config.json"), "utf8")),
        forced_decoder_ids: [[1, vocabulary.id("<|notimestamps|>")]],
      }),
    );
    const named = await made(
      { generation: { is_multilingual: undefined, lang_to_id: undefined } },
      "tiny.en",
    );
    for (const { folder } of [declared, prompted, named]) {
      const { tokens } = await readWhisperModel(folder);
      expect([tokens.languages.size, tokens.transcribe]).toEqual([0, null]);
    }
  });

  test("of an early year states less, and the vocabulary reports the rest", async () => {
    const { folder, vocabulary } = await made({
      statesAlignmentHeads: false,
      config: { suppress_tokens: [3, -1, 10_000_000], begin_suppress_tokens: null },
      generation: {
        lang_to_id: undefined,
        task_to_id: undefined,
        no_timestamps_token_id: undefined,
        eos_token_id: [256 + 1],
      },
      preprocessor: { n_samples: undefined, nb_max_frames: undefined, feature_size: undefined },
    });
    // Two files with the vocabulary, its special tokens apart, without the timestamps.
    const tokenizer = JSON.parse(await readFile(join(folder, "tokenizer.json"), "utf8"));
    await rm(join(folder, "tokenizer.json"));
    await writeFile(join(folder, "vocab.json"), JSON.stringify(tokenizer.model.vocab));
    const added = (tokenizer.added_tokens as { id: number; content: string }[])
      .filter(({ content }) => !/\d\|>$/.test(content))
      .map(({ id, content }) => [content.replace("nospeech", "nocaptions"), id]);
    await writeFile(join(folder, "added_tokens.json"), JSON.stringify(Object.fromEntries(added)));

    const model = await readWhisperModel(folder);
    expect(model.alignmentHeads).toBeNull();
    expect([model.suppressed, model.suppressedAtBegin]).toEqual([[3], []]);
    expect(model.window).toMatchObject({ seconds: 30, melFrames: 3_000 });
    expect(model.tokens).toMatchObject({
      end: 257,
      transcribe: vocabulary.id("<|transcribe|>"),
      noTimestamps: vocabulary.id("<|notimestamps|>"),
      noSpeech: vocabulary.id("<|nospeech|>"),
      firstTimestamp: vocabulary.id("<|0.00|>"),
      previous: vocabulary.id("<|startofprev|>"),
    });
    expect([...model.tokens.languages.keys()]).toEqual(["en", "es", "pt"]);
  });

  test("keeps its graphs in either place, and the best variant is taken unless one is asked for", async () => {
    const { folder } = await made({ ending: "_fp16" });
    const encoder = async (options?: { variant: string }) =>
      (await readWhisperModel(folder, options)).encoderPath;
    expect(await encoder()).toBe(join(folder, "onnx/encoder_model_fp16.onnx"));
    await writeMadeWhisper(folder, { scripts: [{ says: [] }], graphFolder: "." });
    expect(await encoder()).toBe(join(folder, "encoder_model.onnx"));
    await writeMadeWhisper(folder, { scripts: [{ says: [] }], ending: "_quantized" });
    expect(await encoder()).toBe(join(folder, "onnx/encoder_model_quantized.onnx"));
    expect(await encoder({ variant: "fp16" })).toBe(join(folder, "onnx/encoder_model_fp16.onnx"));
    expect(await refusal(folder, { variant: "q4" })).toMatch(/no q4 encoder_model/);
    expect(await refusal(folder, { variant: "q3" })).toMatch(/Unknown variant q3/);
  });
});

describe("a model that cannot be used is determined by its file", () => {
  test("if one is missing", async () => {
    for (const file of ["config.json", "preprocessor_config.json", "onnx/decoder_model_merged.onnx"]) {
      const { folder } = await made();
      await rename(join(folder, file), join(folder, "elsewhere"));
      expect(await refusal(folder)).toContain(file.replace(/^onnx\/|\.onnx$/g, ""));
    }
    const { folder } = await made();
    await rm(join(folder, "tokenizer.json"));
    expect(await refusal(folder)).toContain("vocab.json is missing");
    expect(await refusal(join(work, "nowhere"))).toContain("config.json is missing");
  });

  test("if the decoder is split into one for the first step and one for the later ones", async () => {
    const { folder } = await made();
    const decoder = join(folder, "onnx/decoder_model_merged.onnx");
    await rename(decoder, join(folder, "onnx/decoder_model.onnx"));
    expect(await refusal(folder)).toMatch(/separate decoders for the first and the later steps/);
  });

  test("if one is empty, cut off or something else", async () => {
    for (const file of [
      "config.json",
      "generation_config.json",
      "tokenizer.json",
      "onnx/encoder_model.onnx",
    ]) {
      const { folder } = await made();
      await truncate(join(folder, file));
      expect(await refusal(folder)).toContain(file);
      await writeFile(join(folder, file), "version https://git-lfs.github.com/spec/v1\n");
      expect(await refusal(folder)).toContain(file);
    }
  });

  test("if two do not fit together", async () => {
    const wrong: [Partial<MadeWhisperOptions>, RegExp][] = [
      [{ preprocessor: { feature_size: 128 } }, /preprocessor_config.json has 128 mel bins/],
      [{ preprocessor: { nb_max_frames: 1_500 } }, /1500 frames/],
      [{ preprocessor: { sampling_rate: 8_000 } }, /sample rate of 8000 Hz/],
      [{ config: { vocab_size: "many" } }, /config.json sets vocab_size to "many"/],
      [{ config: { max_source_positions: 9_999 } }, /max_source_positions/],
      [{ generation: { alignment_heads: [[-1, 0]] } }, /alignment head \[-1,0\]/],
      [{ generation: { lang_to_id: { "<|en|>": -1 } } }, /language/],
      [{ generation: { lang_to_id: {} } }, /languages/],
    ];
    for (const [options, message] of wrong) {
      expect(await refusal((await made(options)).folder)).toMatch(message);
    }
  });

  test("if it is made to take all the memory, or time without end", async () => {
    const nested = (length: number) => `${"[".repeat(length)}${"]".repeat(length)}`;
    const one = async (file: string, from: string, to: string) => {
      const { folder } = await made({ generation: { made: 0 } });
      const path = join(folder, file);
      const text = await readFile(path, "utf8");
      expect(text).toContain(from);
      await writeFile(
        path,
        text.replace(from, () => to),
      );
      return await refusal(folder);
    };
    const texts: [string, string, string, RegExp][] = [
      ["config.json", '"vocab_size":', `"vocab_size":${nested(100_000)},"was":`, /vocab_size to a list/],
      ["config.json", '"vocab_size":', `"vocab_size":1e9,"was":`, /vocab_size to 1000000000/],
      ["config.json", "{", `{"a":"${"a".repeat(17e6)}",`, /config\.json cannot be read as JSON: it has 1/],
      [
        "generation_config.json",
        '"made":0',
        `"alignment_heads":[${nested(100_000)}]`,
        /alignment head a list/,
      ],
      ["generation_config.json", '"made":0', `"suppress_tokens":[${nested(100_000)}]`, /contains a list in/],
      ["tokenizer.json", '"vocab":{', `"vocab":{"${"a".repeat(100_000)}":1,`, /a token of 100000 characters/],
    ];
    for (const [file, from, to, message] of texts) expect(await one(file, from, to)).toMatch(message);

    const sizes: [Partial<MadeWhisperOptions>, RegExp][] = [
      [
        { preprocessor: { hop_length: 1, nb_max_frames: undefined } },
        /480000 frames of 400 samples and 80 mel bins/,
      ],
      [{ preprocessor: { n_fft: 16_381 } }, /spectrogram is implausible.* of 16381 samples/],
      [{ preprocessor: { n_samples: 400, nb_max_frames: undefined } }, /n_samples to 400/],
      [
        { config: { num_mel_bins: 4_000 }, preprocessor: { feature_size: undefined } },
        /num_mel_bins to 4000/,
      ],
      [{ config: { max_target_positions: 1_000_000 } }, /max_target_positions to 1000000/],
    ];
    for (const [options, message] of sizes)
      expect(await refusal((await made(options)).folder)).toMatch(message);
  });

  test("unless only some heads are outside of the decoder's layers, as in distilled models", async () => {
    const of = async (heads: number[][]) => {
      const { folder } = await made({ generation: { alignment_heads: heads } });
      return (await readWhisperModel(folder)).alignmentHeads;
    };
    expect(
      await of([
        [7, 0],
        [1, 1],
        [1, 19],
      ]),
    ).toEqual([{ layer: 1, head: 1 }]);
    expect(
      await of([
        [7, 0],
        [10, 17],
      ]),
    ).toBeNull();
  });

  test("unless it only says things twice", async () => {
    const heads = Array.from({ length: 10_000 }, () => [1, 0]);
    const { folder } = await made({ generation: { alignment_heads: heads, suppress_tokens: heads.flat() } });
    expect(await readWhisperModel(folder)).toMatchObject({
      alignmentHeads: [{ layer: 1, head: 0 }],
      suppressed: [1, 0],
    });
  });

  test("whatever is wrong with it", async () => {
    const { folder } = await made({ timestamps: false, windowSeconds: 2 });
    const files = ["config.json", "generation_config.json", "preprocessor_config.json", "tokenizer.json"];
    const texts = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
    const broken = join(work, "broken");
    await cp(folder, broken, { recursive: true });
    const anything = fc.oneof(
      fc.jsonValue(),
      fc.integer(),
      fc.constantFrom(null, -1, 0, 0.5, 1e9, 1e300, "", [], {}, [[]], [null]),
    );
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.nat(), anything, fc.boolean(), async (whichFile, place, value, isCut) => {
        const file = whichFile % files.length;
        const text = texts[file] as string;
        const changed = isCut
          ? text.slice(0, place % text.length)
          : JSON.stringify(withValue(JSON.parse(text), place, value));
        await writeFile(join(broken, files[file] as string), changed);
        expect(await refusal(broken)).toMatch(/^(The model file .*\.json|no error)/s);
        await writeFile(join(broken, files[file] as string), text);
      }),
      { numRuns: 300 },
    );
  });
});

/** The value with one of its nested parts replaced. */
function withValue(whole: unknown, place: number, value: unknown): unknown {
  if (typeof whole !== "object" || whole === null || Object.keys(whole).length === 0) return value;
  const keys = Object.keys(whole);
  const key = keys[place % keys.length] as string;
  const part = (whole as Record<string, unknown>)[key];
  const goesOn = Math.floor(place / keys.length) % 4 > 0;
  const replaced = goesOn ? withValue(part, Math.floor(place / keys.length / 4), value) : value;
  return Array.isArray(whole)
    ? whole.map((old, index) => (String(index) === key ? replaced : old))
    : { ...whole, [key]: replaced };
}
