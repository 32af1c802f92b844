import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { addCrossAttentionOutputs } from "../src/onnx/cross-attention-outputs.ts";

/** The parts of transformers.js that the tests use. The type check runs without the package. */
interface Transformers {
  env: { allowRemoteModels: boolean; useFSCache: boolean; logLevel: number };
  Tensor: new (type: "float32" | "int64", data: Float32Array | BigInt64Array, dims: number[]) => Tensor;
  SuppressTokensLogitsProcessor: new (tokens: readonly number[]) => Processor;
  SuppressTokensAtBeginLogitsProcessor: new (tokens: readonly number[], begin: number) => Processor;
  WhisperTimeStampLogitsProcessor: new (
    config: { eos_token_id: number; no_timestamps_token_id: number; max_initial_timestamp_index: number },
    prompt: readonly number[],
  ) => Processor;
  WhisperFeatureExtractor: new (config: object) => (samples: Float32Array) => Promise<Features>;
  WhisperForConditionalGeneration: {
    from_pretrained(folder: string, options: { dtype: "fp32"; device: "auto" }): Promise<ReferenceModel>;
  };
}

interface Tensor {
  data: Float32Array;
  dims: number[];
  tolist(): unknown[];
}

type Processor = (tokens: bigint[][], logits: Tensor) => Tensor;

interface Features {
  input_features: Tensor;
}

interface Generated {
  sequences: Tensor;
  token_timestamps: Tensor;
}

interface ReferenceModel {
  (inputs: { input_features: Tensor; decoder_input_ids: Tensor }): Promise<{ logits: Tensor }>;
  generate(options: object): Promise<Generated | Tensor>;
}

// Both engines share one runtime, so differences in the results have other causes.
const runtime = createRequire(new URL("../src/", import.meta.url))("onnxruntime-node");
Object.assign(globalThis, { [Symbol.for("onnxruntime")]: runtime });

export const transformers = createRequire(import.meta.url)("@huggingface/transformers") as Transformers;
transformers.env.allowRemoteModels = false;
transformers.env.useFSCache = false;
transformers.env.logLevel = 40;

/** Runs a Whisper model with transformers.js. */
export class Reference {
  readonly #model: ReferenceModel;
  readonly #features: (samples: Float32Array) => Promise<Features>;
  readonly #prompt: (language: string) => number[];

  private constructor(
    model: ReferenceModel,
    features: (samples: Float32Array) => Promise<Features>,
    prompt: (language: string) => number[],
  ) {
    this.#model = model;
    this.#features = features;
    this.#prompt = prompt;
  }

  /**
   * @param folder contains a model, whose graphs are there or in `onnx/`
   * @param copy folder for a copy of the model whose decoder outputs its attention
   */
  static async open(folder: string, copy: string): Promise<Reference> {
    await cp(folder, copy, { recursive: true });
    const json = async (name: string) => JSON.parse(await readFile(join(copy, name), "utf8"));
    const [config, generation, preprocessor] = [
      await json("config.json"),
      await json("generation_config.json"),
      await json("preprocessor_config.json"),
    ];
    await writeFile(join(copy, "config.json"), JSON.stringify({ ...config, is_encoder_decoder: true }));
    await mkdir(join(copy, "onnx"), { recursive: true });
    for (const name of ["encoder_model.onnx", "decoder_model_merged.onnx"]) {
      const graph = await readFile(join(copy, "onnx", name)).catch(() => readFile(join(copy, name)));
      const changed = name.startsWith("decoder") ? addCrossAttentionOutputs(graph) : graph;
      await writeFile(join(copy, "onnx", name), changed);
    }
    return new Reference(
      await transformers.WhisperForConditionalGeneration.from_pretrained(copy, {
        dtype: "fp32",
        device: "auto",
      }),
      new transformers.WhisperFeatureExtractor(preprocessor),
      (language) => [
        generation.decoder_start_token_id,
        generation.lang_to_id[`<|${language}|>`],
        generation.task_to_id.transcribe,
        generation.no_timestamps_token_id,
      ],
    );
  }

  /** Returns the most likely tokens after the prompt, including the end token, and the start of each in seconds. */
  async transcribe(samples: Float32Array, language: string) {
    const generated = (await this.#model.generate({
      inputs: (await this.#features(samples)).input_features,
      language,
      task: "transcribe",
      return_token_timestamps: true,
      num_frames: Math.ceil(samples.length / 320),
    })) as Generated;
    const withoutPrompt = (values: Tensor) =>
      (values.tolist()[0] as (number | bigint)[]).map(Number).slice(this.#prompt(language).length);
    return {
      tokens: withoutPrompt(generated.sequences),
      starts: withoutPrompt(generated.token_timestamps),
    };
  }

  /** Returns the most likely text and timestamp tokens after the prompt. */
  async transcribeWithTimestamps(samples: Float32Array, language: string, maxTokens: number) {
    const generated = (await this.#model.generate({
      inputs: (await this.#features(samples)).input_features,
      language,
      task: "transcribe",
      return_timestamps: true,
      max_new_tokens: maxTokens,
    })) as Tensor;
    return (generated.tolist()[0] as bigint[]).map(Number).slice(this.#prompt(language).length - 1);
  }

  /** Returns the logits after each token, `[tokens, vocabulary]`, computed in one run without a key-value cache. */
  async logits(samples: Float32Array, tokens: readonly number[]): Promise<Float32Array[]> {
    const { input_features } = await this.#features(samples);
    const ids = new transformers.Tensor("int64", BigInt64Array.from(tokens, BigInt), [1, tokens.length]);
    const { logits } = await this.#model({ input_features, decoder_input_ids: ids });
    const size = logits.dims[2]!;
    return tokens.map((_, index) => logits.data.slice(index * size, (index + 1) * size));
  }

  prompt(language: string): number[] {
    return this.#prompt(language);
  }
}
