/** A model that can be installed by name. */
export interface KnownModel {
  /** Also the name of its folder: `whisper-small`. */
  name: string;
  /** Number of supported languages. */
  languageCount: number;
  /** SPDX identifier of the license of the weights. */
  license: string;
  /** Repository on the hub: `owner/name`. */
  repository: string;
  /** Branch, tag or commit; all files of a download come from the commit that it refers to at the start. */
  revision: string;
  /** Paths inside the repository and inside the model's folder. */
  files: readonly string[];
  /** Approximate download size, bytes; the hub states the exact one. */
  downloadBytes: number;
  /** Approximate memory of a process with this model, bytes. */
  memoryBytes: number;
  /** Whether the bundled English engine transcribes English about as well, many times as fast. */
  englishNoBetterThanBundled: boolean;
}

/**
 * The largest model that keeps up with speech on a few CPU cores: 244 million parameters, between 74 and 769
 * of its neighbors.
 */
export const DEFAULT_MODEL_NAME = "whisper-small";

const MB = 1e6;

/**
 * All files that the engine reads. `tokenizer.json` contains the vocabulary and the added tokens.
 *
 * The 8-bit files are those that the hub's ONNX community calls `_quantized`: signed weights, unsigned for
 * convolutions. `_int8` files have signed convolution weights, which onnxruntime does not support on CPUs,
 * and half-precision files are computed in single precision there, slower than those.
 */
const FILES = [
  "config.json",
  "generation_config.json",
  "preprocessor_config.json",
  "tokenizer.json",
  "onnx/encoder_model_quantized.onnx",
  "onnx/decoder_model_merged_quantized.onnx",
] as const;

/**
 * The Whisper models, smallest first. Exports whose names end in `_timestamped` output the cross-attention
 * that word times are computed from; for the other one it is added when the graph is loaded. OpenAI publishes
 * the weights under the MIT license. Which sizes were measured and which are estimates: `docs/models.md`.
 */
export const KNOWN_MODELS: readonly KnownModel[] = [
  {
    name: "whisper-tiny",
    languageCount: 99,
    license: "MIT",
    repository: "onnx-community/whisper-tiny_timestamped",
    revision: "main",
    files: FILES,
    downloadBytes: 43 * MB,
    memoryBytes: 400 * MB,
    englishNoBetterThanBundled: true,
  },
  {
    name: "whisper-base",
    languageCount: 99,
    license: "MIT",
    repository: "onnx-community/whisper-base_timestamped",
    revision: "main",
    files: FILES,
    downloadBytes: 82 * MB,
    memoryBytes: 600 * MB,
    englishNoBetterThanBundled: true,
  },
  {
    name: "whisper-small",
    languageCount: 99,
    license: "MIT",
    repository: "onnx-community/whisper-small_timestamped",
    revision: "main",
    files: FILES,
    downloadBytes: 252 * MB,
    memoryBytes: 1_100 * MB,
    englishNoBetterThanBundled: false,
  },
  {
    name: "whisper-medium",
    languageCount: 99,
    license: "MIT",
    repository: "onnx-community/whisper-medium_timestamped",
    revision: "main",
    files: FILES,
    downloadBytes: 780 * MB,
    memoryBytes: 2_400 * MB,
    englishNoBetterThanBundled: false,
  },
  {
    name: "whisper-large-v3-turbo",
    languageCount: 100,
    license: "MIT",
    repository: "onnx-community/whisper-large-v3-turbo_timestamped",
    revision: "main",
    files: FILES,
    downloadBytes: 1_085 * MB,
    memoryBytes: 2_600 * MB,
    englishNoBetterThanBundled: false,
  },
  {
    name: "whisper-large-v3",
    languageCount: 100,
    license: "MIT",
    repository: "Xenova/whisper-large-v3",
    revision: "main",
    files: FILES,
    downloadBytes: 1_563 * MB,
    memoryBytes: 4_500 * MB,
    englishNoBetterThanBundled: false,
  },
];

/** Returns undefined if there is no model of this name. */
export function knownModel(name: string): KnownModel | undefined {
  return KNOWN_MODELS.find((model) => model.name === name);
}
