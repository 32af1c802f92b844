import { basename, resolve } from "node:path";
import { SAMPLE_RATE } from "../../media/audio.ts";
import type { AttentionHead } from "../../onnx/seq2seq-decoder.ts";
import { findGraphs } from "./graph-files.ts";
import { isIntegerIn, type JsonFile, readJson, readJsonIfPresent, shortened } from "./json-file.ts";
import { readSpecialTokens, type WhisperTokens } from "./special-tokens.ts";
import { readVocabulary } from "./tokenizer-files.ts";

export interface WhisperModel {
  /** The folder's name: `whisper-small`. */
  name: string;
  encoderPath: string;
  decoderPath: string;
  /** Input of the encoder, and number of its output frames. */
  window: { seconds: number; samples: number; melFrames: number; encoderFrames: number };
  melBins: number;
  hopSamples: number;
  fftSamples: number;
  decoderLayers: number;
  decoderHeads: number;
  vocabularySize: number;
  /** Maximum number of tokens of prompt and text together. */
  maxTokens: number;
  tokens: WhisperTokens;
  suppressed: readonly number[];
  suppressedAtBegin: readonly number[];
  /** Null if the files do not name the alignment heads. */
  alignmentHeads: readonly AttentionHead[] | null;
  /** UTF-8 bytes of each token; null for special tokens and timestamps. */
  tokenBytes: readonly (Uint8Array | null)[];
}

export interface ModelFilesOptions {
  /** `quantized`, `uint8`, `fp32`, `int8`, `q4`, `fp16`, `q4f16` or `bnb4`; by default the best available. */
  variant?: string;
}

/** These limits are far above any real model. They prevent a damaged file from exhausting memory or time. */
const MAX_VOCABULARY = 1_000_000;
const MAX_WINDOW_SECONDS = 600;
const MAX_FFT_SAMPLES = 16_384;
const MAX_MEL_BINS = 1_024;
/** Values per spectrogram; real models have 384,000. */
const MAX_MEL_VALUES = 8_000_000;
/** Samples transformed per spectrogram; real models have 1,200,000. */
const MAX_TRANSFORMED_SAMPLES = 32_000_000;
/** Largest prime factor of the transform's length. The running time grows with it. */
const MAX_FFT_FACTOR = 31;
const MAX_TOKENS = 4_096;
const MAX_COUNT = 4_096;

/**
 * Reads a model in the layout of the hub's ONNX community.
 * @throws SpeechError `model_unusable`, naming the file and the problem
 */
export async function readWhisperModel(
  folder: string,
  { variant }: ModelFilesOptions = {},
): Promise<WhisperModel> {
  const name = basename(resolve(folder));
  const config = await readJson(folder, "config.json");
  const preprocessor = await readJson(folder, "preprocessor_config.json");
  const generation = (await readJsonIfPresent(folder, "generation_config.json")) ?? config;

  const vocabularySize = config.requiredInteger("vocab_size", 1, MAX_VOCABULARY);
  const vocabulary = await readVocabulary(folder, vocabularySize);
  const decoderLayers = config.requiredInteger("decoder_layers", 1, MAX_COUNT);
  const decoderHeads = config.requiredInteger("decoder_attention_heads", 1, MAX_COUNT);
  const tokenList = (key: string) => readTokenList([generation, config], key, vocabularySize);
  return {
    name,
    ...(await findGraphs(folder, variant)),
    ...readSpectrum(config, preprocessor),
    decoderLayers,
    decoderHeads,
    vocabularySize,
    maxTokens: config.requiredInteger("max_target_positions", 1, MAX_TOKENS),
    tokens: readSpecialTokens({ config, generation, vocabulary, vocabularySize, name }),
    suppressed: tokenList("suppress_tokens"),
    suppressedAtBegin: tokenList("begin_suppress_tokens"),
    alignmentHeads: readAlignmentHeads(generation, decoderLayers, decoderHeads),
    tokenBytes: vocabulary.tokenBytes,
  };
}

type Spectrum = Pick<WhisperModel, "window" | "melBins" | "hopSamples" | "fftSamples">;

function readSpectrum(config: JsonFile, preprocessor: JsonFile): Spectrum {
  const sampleRate = preprocessor.integer("sampling_rate", 1, 1_000_000) ?? SAMPLE_RATE;
  if (sampleRate !== SAMPLE_RATE) {
    throw preprocessor.unusable(
      `requires a sample rate of ${sampleRate} Hz; only ${SAMPLE_RATE} is supported`,
    );
  }
  const melBins = config.requiredInteger("num_mel_bins", 1, MAX_MEL_BINS);
  const featureSize = preprocessor.integer("feature_size", 1, MAX_MEL_BINS) ?? melBins;
  if (featureSize !== melBins) {
    throw preprocessor.unusable(
      `has ${featureSize} mel bins (feature_size), but ${config.path} has ${melBins}`,
    );
  }
  const maxSamples = MAX_WINDOW_SECONDS * SAMPLE_RATE;
  const fftSamples = preprocessor.requiredInteger("n_fft", 16, MAX_FFT_SAMPLES);
  const hopSamples = preprocessor.requiredInteger("hop_length", 1, fftSamples);
  const samples =
    preprocessor.integer("n_samples", Math.max(SAMPLE_RATE, fftSamples), maxSamples) ??
    preprocessor.requiredInteger("chunk_length", 1, MAX_WINDOW_SECONDS) * SAMPLE_RATE;
  const melFrames = Math.floor(samples / hopSamples);
  const statedFrames = preprocessor.integer("nb_max_frames", 1, maxSamples) ?? melFrames;
  if (statedFrames !== melFrames) {
    throw preprocessor.unusable(
      `has ${statedFrames} frames (nb_max_frames), but ${samples} samples have ${melFrames}`,
    );
  }
  const isTooMuch = melBins * melFrames > MAX_MEL_VALUES || melFrames * fftSamples > MAX_TRANSFORMED_SAMPLES;
  if (isTooMuch || largestPrimeFactor(fftSamples) > MAX_FFT_FACTOR) {
    throw preprocessor.unusable(
      `is invalid: the spectrogram is implausible, with ${melFrames} frames of ${fftSamples} samples and ${melBins} mel bins each`,
    );
  }
  const encoderFrames = config.requiredInteger("max_source_positions", 1, melFrames);
  return {
    window: { seconds: samples / SAMPLE_RATE, samples, melFrames, encoderFrames },
    melBins,
    hopSamples,
    fftSamples,
  };
}

function largestPrimeFactor(number: number): number {
  let [left, factor] = [number, 2];
  while (factor * factor <= left) {
    if (left % factor === 0) left /= factor;
    else factor += 1;
  }
  return left;
}

/** Null and −1 mean no tokens. Tokens outside the vocabulary are ignored. */
function readTokenList(files: readonly JsonFile[], key: string, vocabularySize: number): number[] {
  const file = files.find((candidate) => candidate.has(key));
  const tokens = (file?.list(key) ?? []).filter((token): token is number => {
    if (!Number.isInteger(token)) throw file?.unusable(`contains ${shortened(token)} in ${key}`);
    return isIntegerIn(token, 0, vocabularySize - 1);
  });
  return [...new Set(tokens)];
}

/** Distilled models may list the heads of their teacher, which has more layers. Those heads are ignored. */
function readAlignmentHeads(generation: JsonFile, layers: number, heads: number): AttentionHead[] | null {
  const stated = generation.list("alignment_heads");
  if (!stated || stated.length === 0) return null;
  /** Some files list a head more than once. */
  const known = new Map<string, AttentionHead>();
  for (const pair of stated) {
    const [layer, head] = Array.isArray(pair) ? pair : [];
    if (!isIntegerIn(layer, 0, MAX_COUNT) || !isIntegerIn(head, 0, MAX_COUNT)) {
      throw generation.unusable(
        `contains the alignment head ${shortened(pair)}; expected a layer and a head`,
      );
    }
    if (layer < layers && head < heads) known.set(`${layer} ${head}`, { layer, head });
  }
  return known.size === 0 ? null : [...known.values()];
}
