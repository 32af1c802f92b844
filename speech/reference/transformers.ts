import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { addCrossAttentionOutputs } from "../src/onnx/cross-attention-outputs.ts";
import { seededRandom } from "../src/onnx/token-selection.ts";

/** The parts of transformers.js that the tests use. The type check runs without the package. */
interface Transformers {
  env: { allowRemoteModels: boolean; useFSCache: boolean; logLevel: number };
  random: { Random: { prototype: { _int32(): number } } };
  Tensor: new (type: "float32" | "int64", data: Float32Array | BigInt64Array, dims: number[]) => Tensor;
  SuppressTokensLogitsProcessor: new (tokens: readonly number[]) => Processor;
  SuppressTokensAtBeginLogitsProcessor: new (tokens: readonly number[], begin: number) => Processor;
  WhisperTimeStampLogitsProcessor: new (
    config: { eos_token_id: number; no_timestamps_token_id: number; max_initial_timestamp_index: number },
    prompt: readonly number[],
  ) => Processor;
  WhisperFeatureExtractor: new (config: object) => (samples: Float32Array) => Promise<Features>;
  WhisperTokenizer: new (tokenizer: object, config: object) => object;
  AutomaticSpeechRecognitionPipeline: new (
    parts: object,
  ) => (
    samples: Float32Array,
    options: { language: string; return_timestamps: "word" },
  ) => Promise<{ chunks: { text: string; timestamp: [number, number | null] }[] }>;
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

interface Preprocessor {
  hop_length: number;
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

/** Runs a function while the random numbers of transformers.js are those of the engine. */
async function withRandomNumbers<T>(seed: number, run: () => Promise<T>): Promise<T> {
  const { prototype } = transformers.random.Random;
  const original = prototype._int32;
  const next = seededRandom(seed);
  let low: number | null = null;
  // The generator makes one number of the highest 27 bits of one integer and the highest 26 bits of the next.
  prototype._int32 = () => {
    if (low !== null) {
      const second = low;
      low = null;
      return second;
    }
    const bits = next() * 2 ** 32;
    low = (bits % 32) * 2 ** 27;
    return bits;
  };
  try {
    return await run();
  } finally {
    prototype._int32 = original;
  }
}

/** Runs a Whisper model with transformers.js. */
export class Reference {
  readonly #model: ReferenceModel;
  readonly #features: (samples: Float32Array) => Promise<Features>;
  readonly #folder: string;
  readonly #preprocessor: Preprocessor;
  readonly #prompt: (language: string) => number[];

  private constructor(
    folder: string,
    model: ReferenceModel,
    preprocessor: Preprocessor,
    prompt: (language: string) => number[],
  ) {
    this.#model = model;
    this.#folder = folder;
    this.#preprocessor = preprocessor;
    const features = new transformers.WhisperFeatureExtractor(preprocessor);
    const computed = new WeakMap<Float32Array, Promise<Features>>();
    this.#features = (samples) => {
      const known = computed.get(samples) ?? features(samples);
      computed.set(samples, known);
      return known;
    };
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
      copy,
      await transformers.WhisperForConditionalGeneration.from_pretrained(copy, {
        dtype: "fp32",
        device: "auto",
      }),
      preprocessor,
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

  /** Returns the words of the pipeline with `return_timestamps: "word"`, and their starts in seconds. */
  async transcribeWords(samples: Float32Array, language: string) {
    const tokenizer = JSON.parse(await readFile(join(this.#folder, "tokenizer.json"), "utf8"));
    const features = await this.#features(samples);
    const pipeline = new transformers.AutomaticSpeechRecognitionPipeline({
      task: "automatic-speech-recognition",
      model: this.#model,
      tokenizer: new transformers.WhisperTokenizer(
        {
          normalizer: null,
          pre_tokenizer: null,
          post_processor: null,
          decoder: { type: "ByteLevel" },
          ...tokenizer,
        },
        {},
      ),
      processor: Object.assign(async () => features, { feature_extractor: { config: this.#preprocessor } }),
    });
    const { chunks } = await pipeline(samples, { language, return_timestamps: "word" });
    return chunks.map(({ text, timestamp }) => ({ text, start: timestamp[0] }));
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

  /**
   * Returns the text and timestamp tokens of audio of any length, in windows. Each window begins where the last complete
   * segment of the window before ends. Timestamps count from the start of the audio.
   */
  async transcribeWindows(samples: Float32Array, language: string): Promise<number[]> {
    const frames = samples.length / this.#preprocessor.hop_length;
    const features = new transformers.WhisperFeatureExtractor({
      ...this.#preprocessor,
      n_samples: samples.length,
      nb_max_frames: frames,
    });
    const generated = (await this.#model.generate({
      inputs: (await features(samples)).input_features,
      language,
      task: "transcribe",
      return_timestamps: true,
    })) as Tensor;
    return (generated.tolist()[0] as bigint[]).map(Number).slice(this.#prompt(language).length - 1, -1);
  }

  /**
   * Returns the tokens after the prompt, including the end token. Above temperature 0, they are drawn with the engine's
   * random numbers.
   */
  async sample(samples: Float32Array, language: string, temperature: number): Promise<number[]> {
    const { input_features } = await this.#features(samples);
    const generated = await withRandomNumbers(Math.round(10 * temperature), () =>
      this.#model.generate({
        inputs: input_features,
        language,
        task: "transcribe",
        ...(temperature > 0 && { do_sample: true, temperature, top_k: 0 }),
      }),
    );
    return ((generated as Tensor).tolist()[0] as bigint[]).map(Number).slice(this.#prompt(language).length);
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

/** Returns the natural logarithms of the probabilities after other tokens are suppressed. */
export function logProbabilities(logits: Float32Array, isAllowed: (token: number) => boolean): Float64Array {
  const allowed = Float64Array.from(logits, (logit, token) =>
    isAllowed(token) ? logit : Number.NEGATIVE_INFINITY,
  );
  const highest = Math.max(...allowed);
  const sum = allowed.reduce((total, logit) => total + Math.exp(logit - highest), 0);
  return allowed.map((logit) => logit - highest - Math.log(sum));
}
