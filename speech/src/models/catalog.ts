import { MODEL_FIGURES } from "./model-figures.ts";
import { PRECISIONS, type Precision } from "./precision.ts";

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
  /** Precision of the encoder in `files`. */
  encoder: Precision;
  /** Precisions of the encoders that can be installed. */
  encoders: readonly Precision[];
  /** Paths inside the repository and inside the model's folder. */
  files: readonly string[];
  /** Approximate download size. */
  downloadBytes: number;
  /** Peak memory of a speech process with this model, as measured. */
  memoryBytes: number;
  /** Whether the bundled engine transcribes English as accurately and many times faster. */
  prefersBundledForEnglish: boolean;
}

/** The largest model that is several times as fast as real time on a few CPU cores. */
export const DEFAULT_MODEL_NAME = "whisper-small";

const MB = 1e6;

const JSON_FILES = ["config.json", "generation_config.json", "preprocessor_config.json", "tokenizer.json"];
const DECODER_FILE = "onnx/decoder_model_merged_quantized.onnx";

/**
 * File names of the hub's ONNX community. Of the 8-bit graphs, `_quantized` works best on CPUs: onnxruntime does not
 * support the signed convolution weights of `_int8`.
 */
const ENCODER_FILES: Record<Precision, string> = {
  int8: "onnx/encoder_model_quantized.onnx",
  fp16: "onnx/encoder_model_fp16.onnx",
  fp32: "onnx/encoder_model.onnx",
};
/** Protobuf files must be smaller than 2 GB, so larger encoders have their weights in a second file. */
const MAX_PROTOBUF_BYTES = 2e9;

interface Listing extends Pick<KnownModel, "languageCount" | "repository"> {
  /** With the 8-bit encoder. */
  downloadBytes: number;
  prefersBundledForEnglish?: true;
}

/**
 * The Whisper models, smallest first. `_timestamped` exports output the cross-attention, from which word times are
 * computed. For other exports, the outputs are added when the graph is loaded. OpenAI publishes the weights under the MIT
 * license. `docs/models.md` explains how memory was measured.
 */
const LISTINGS: Readonly<Record<string, Listing>> = {
  "whisper-tiny": {
    languageCount: 99,
    repository: "onnx-community/whisper-tiny_timestamped",
    downloadBytes: 43 * MB,
    prefersBundledForEnglish: true,
  },
  "whisper-base": {
    languageCount: 99,
    repository: "onnx-community/whisper-base_timestamped",
    downloadBytes: 82 * MB,
    prefersBundledForEnglish: true,
  },
  "whisper-small": {
    languageCount: 99,
    repository: "onnx-community/whisper-small_timestamped",
    downloadBytes: 252 * MB,
  },
  "whisper-medium": {
    languageCount: 99,
    repository: "onnx-community/whisper-medium_timestamped",
    downloadBytes: 780 * MB,
  },
  "whisper-large-v3-turbo": {
    languageCount: 100,
    repository: "onnx-community/whisper-large-v3-turbo_timestamped",
    downloadBytes: 1_085 * MB,
  },
  "whisper-large-v3": {
    languageCount: 100,
    repository: "Xenova/whisper-large-v3",
    downloadBytes: 1_563 * MB,
  },
};

/** With 8-bit encoders. */
export const KNOWN_MODELS: readonly KnownModel[] = Object.entries(LISTINGS).map(([name, listing]) =>
  describe(name, listing, "int8"),
);

export function knownModel(name: string): KnownModel | undefined {
  return KNOWN_MODELS.find((model) => model.name === name);
}

/** @returns the model with an encoder of the given precision; the model itself if no such encoder can be installed */
export function withEncoder(model: KnownModel, encoder: Precision): KnownModel {
  const listing = LISTINGS[model.name];
  return listing === undefined || !model.encoders.includes(encoder)
    ? model
    : describe(model.name, listing, encoder);
}

function describe(name: string, listing: Listing, encoder: Precision): KnownModel {
  const figures = MODEL_FIGURES[name]!;
  const [measured, eightBits] = [figures[encoder]!, figures.int8!];
  return {
    name,
    ...listing,
    license: "MIT",
    revision: "main",
    encoder,
    // Only encoders whose memory was measured.
    encoders: PRECISIONS.filter((each) => figures[each] !== undefined),
    files: [...JSON_FILES, ...encoderFiles(encoder, measured.encoderBytes), DECODER_FILE],
    downloadBytes: listing.downloadBytes + measured.encoderBytes - eightBits.encoderBytes,
    memoryBytes: measured.memoryBytes,
    prefersBundledForEnglish: listing.prefersBundledForEnglish ?? false,
  };
}

function encoderFiles(encoder: Precision, bytes: number): string[] {
  const file = ENCODER_FILES[encoder];
  return bytes > MAX_PROTOBUF_BYTES ? [file, `${file}_data`] : [file];
}
