import { basename, resolve } from "node:path";
import { SpeechError } from "../../errors.ts";
import type { AttentionHead } from "../../onnx/seq2seq.ts";

/** What a Whisper model says of itself in the files beside its graphs. */
export interface WhisperModel {
  /** The folder's name: `whisper-small`. */
  name: string;
  /** Large weights may lie beside a graph: `encoder_model.onnx_data`, `encoder_model.onnx_data_1`, … */
  encoderPath: string;
  decoderPath: string;
  /** What the encoder takes at once, and how many frames it makes of it. */
  window: { seconds: number; samples: number; melFrames: number; encoderFrames: number };
  melBins: number;
  hopSamples: number;
  fftSamples: number;
  decoderLayers: number;
  decoderHeads: number;
  vocabularySize: number;
  /** Most tokens of prompt and text together. */
  maxTokens: number;
  tokens: WhisperTokens;
  /** Tokens that are never chosen, and those that are not chosen first. */
  suppressed: readonly number[];
  suppressedAtBegin: readonly number[];
  /** Heads whose attention follows time; null where the files do not state them. */
  alignmentHeads: readonly AttentionHead[] | null;
  /** Bytes of UTF-8 that each token stands for; null for special tokens and timestamps. */
  tokenBytes: readonly (Uint8Array | null)[];
}

/** Special tokens; null where the model has none. */
export interface WhisperTokens {
  start: number;
  end: number;
  /** Null for an English-only model, whose prompt names neither language nor task. */
  transcribe: number | null;
  noTimestamps: number | null;
  noSpeech: number | null;
  /** `<|0.00|>`; the next ones follow in steps of 0.02 s to the end of the vocabulary. */
  firstTimestamp: number | null;
  /** Stands before text that was said earlier. */
  previous: number | null;
  /** By ISO 639-1 (or 639-3) code; empty for an English-only model. */
  languages: ReadonlyMap<string, number>;
}

export interface ModelFilesOptions {
  /** `fp32`, `fp16`, `quantized`, `int8`, `uint8`, `q4`, `q4f16` or `bnb4`; the best that is there if left out. */
  variant?: string;
}

/** @throws SpeechError `model_unusable`, naming the file and what is wrong with it */
export async function readWhisperModel(
  folder: string,
  _options: ModelFilesOptions = {},
): Promise<WhisperModel> {
  throw new SpeechError("model_unusable", `${basename(resolve(folder))} cannot be read yet.`);
}
