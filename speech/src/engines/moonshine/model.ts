import { readFile } from "node:fs/promises";
import { LlamaTokenizer } from "llama-tokenizer-js";
import { SpeechError } from "../../errors.ts";
import { addLikeliestOutputs } from "../../onnx/argmax-outputs.ts";
import { addCrossAttentionOutputs } from "../../onnx/cross-attention-outputs.ts";
import { keepKeysTurned } from "../../onnx/transposed-keys.ts";
import { moonshinePaths } from "./model-paths.ts";

/** Moonshine's files, ready to be loaded by as many threads as want to. */
export interface MoonshineModel {
  /** Absolute. */
  encoderPath: string;
  /** The decoder's graph with what word times and quick steps need. */
  decoder: Uint8Array;
  /** What each token spells. */
  pieces: readonly string[];
}

/** @throws SpeechError `model_unusable` where the model's package is missing or its files are damaged. */
export async function readMoonshine(): Promise<MoonshineModel> {
  try {
    const { encoderPath, decoderPath } = moonshinePaths();
    const exported = await readFile(decoderPath);
    return {
      encoderPath,
      decoder: addLikeliestOutputs(keepKeysTurned(addCrossAttentionOutputs(exported))),
      pieces: new LlamaTokenizer().vocabById,
    };
  } catch (error) {
    if (error instanceof SpeechError) throw error;
    throw new SpeechError("model_unusable", "The moonshine model cannot be read.", { cause: error });
  }
}
