/** A model that can be had by its name. */
export interface KnownModel {
  /** What people call it, and the name of its folder: `whisper-small`. */
  name: string;
  /** How many languages it writes down. */
  languageCount: number;
  /** SPDX identifier of what the weights may be used under. */
  licence: string;
  /** Where the hub keeps it: `owner/name`. */
  repository: string;
  /** Branch, tag or commit; what it stands for when a download begins is what all files are taken from. */
  revision: string;
  /** Paths inside the repository, and inside the model's folder. */
  files: readonly string[];
  /** About how much is downloaded, in bytes; what the hub says counts. */
  downloadBytes: number;
  /** About how much memory a process takes that hears with it, in bytes. */
  memoryBytes: number;
  /** Whether the bundled English engine hears English about as well, many times as fast. */
  englishNoBetterThanBundled: boolean;
}

/**
 * The largest one that still keeps up with speech on a few processor cores: 244 million parameters, against 74 of
 * the next smaller and 769 of the next larger one.
 */
export const DEFAULT_MODEL_NAME = "whisper-small";

const MB = 1e6;

/**
 * Everything that the engine reads. `tokenizer.json` holds the vocabulary and the added tokens as well.
 *
 * The 8-bit files are the ones that the hub's ONNX community calls `_quantized`: signed weights, unsigned where
 * there are convolutions. `_int8` files have signed convolution weights, for which onnxruntime has no
 * implementation on the CPU, and half-precision files are computed in single precision there, slower than those.
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
 * The Whisper models, smallest first. The exports whose names end in `_timestamped` carry the cross-attention that
 * word times are made from; for the other one it is added when the graph is loaded. OpenAI publishes the weights
 * under the MIT licence. Which sizes were seen and which are estimates: `docs/models.md`.
 */
export const KNOWN_MODELS: readonly KnownModel[] = [
  {
    name: "whisper-tiny",
    languageCount: 99,
    licence: "MIT",
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
    licence: "MIT",
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
    licence: "MIT",
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
    licence: "MIT",
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
    licence: "MIT",
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
    licence: "MIT",
    repository: "Xenova/whisper-large-v3",
    revision: "main",
    files: FILES,
    downloadBytes: 1_563 * MB,
    memoryBytes: 4_500 * MB,
    englishNoBetterThanBundled: false,
  },
];

/** Undefined where nothing has this name. */
export function knownModel(name: string): KnownModel | undefined {
  return KNOWN_MODELS.find((model) => model.name === name);
}
