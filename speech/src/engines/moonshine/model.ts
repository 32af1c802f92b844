import { readFile } from "node:fs/promises";
import tokenizer from "llama-tokenizer-js";
import { SpeechError } from "../../errors.ts";
import { addCrossAttentionOutputs } from "../../onnx/cross-attention-outputs.ts";
import { shareProjection } from "../../onnx/shared-projection.ts";
import { cacheTransposedKeys } from "../../onnx/transposed-keys.ts";
import { moonshinePaths } from "./model-paths.ts";

export interface MoonshineModel {
  /** ONNX graph with cross-attention outputs, transposed keys and one output projection. */
  decoder: Uint8Array;
  /** SentencePiece text of each token. */
  pieces: readonly string[];
}

/** @throws SpeechError `model_unusable` if the model's files are missing or damaged */
export async function readMoonshine(): Promise<MoonshineModel> {
  try {
    const exported = await readFile(moonshinePaths().decoderPath);
    return {
      decoder: shareProjection(cacheTransposedKeys(addCrossAttentionOutputs(exported))),
      pieces: tokenizer.vocabById,
    };
  } catch (error) {
    if (error instanceof SpeechError) throw error;
    throw new SpeechError("model_unusable", "The moonshine model cannot be read.", { cause: error });
  }
}
