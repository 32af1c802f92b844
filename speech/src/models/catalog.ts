export interface KnownModel {
  /** Also the name of the folder: `whisper-small`. */
  name: string;
  languageCount: number;
  /** SPDX identifier of the license of the weights. */
  license: string;
  /** Repository on the hub: `owner/name`. */
  repository: string;
  /** Branch, tag or commit. It is resolved to a commit when a download starts. */
  revision: string;
  /** Paths inside the repository and inside the model's folder. */
  files: readonly string[];
  /** Approximate download size. */
  downloadBytes: number;
  /** Approximate memory of a process with this model. */
  memoryBytes: number;
  /** Whether the bundled engine transcribes English as accurately and many times faster. */
  englishNoBetterThanBundled: boolean;
}

/** The largest model that transcribes in real time on a few CPU cores. */
export const DEFAULT_MODEL_NAME = "whisper-small";

const MB = 1e6;

/**
 * All files that the engine reads. Of the 8-bit graphs, `_quantized` works best on CPUs: onnxruntime does not support the
 * signed convolution weights of `_int8`. Half precision would be converted to single precision, which is slower.
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
 * The Whisper models, smallest first. `_timestamped` exports output the cross-attention, from which word times are
 * computed. For other exports, the outputs are added when the graph is loaded. OpenAI publishes the weights under the MIT
 * license. `docs/models.md` explains which sizes were measured.
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

export function knownModel(name: string): KnownModel | undefined {
  return KNOWN_MODELS.find((model) => model.name === name);
}
