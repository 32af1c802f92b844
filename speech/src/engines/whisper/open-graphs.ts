import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { SpeechError } from "../../errors.ts";
import { addCrossAttentionOutputs } from "../../onnx/cross-attention-outputs.ts";
import { describeDecoder, type Seq2SeqDecoder } from "../../onnx/seq2seq-decoder.ts";
import { asFeeds, asFloats, type FloatType, parseFloatType } from "../../onnx/tensors.ts";
import type { WhisperModel } from "./model-files.ts";

export interface WhisperGraphs {
  /**
   * @param features `[melBins, melFrames]`
   * @returns `[1, encoderFrames, width]`
   */
  encode(features: Float32Array): Promise<Tensor>;
  decoder: Seq2SeqDecoder;
  close(): Promise<void>;
}

/**
 * @param threads threads per run; a run blocks the event loop, so runs are never concurrent
 * @throws SpeechError `model_unusable`
 */
export async function openGraphs(model: WhisperModel, threads: number): Promise<WhisperGraphs> {
  const encoder = await openEncoder(model, threads);
  const decoder = await openDecoder(model, threads).catch(async (error) => {
    await encoder.session.release();
    throw error;
  });
  const { inputName, inputType } = encoder;
  return {
    async encode(features) {
      const dims = [1, model.melBins, model.window.melFrames];
      const input = asFloats(new Tensor("float32", features, dims), inputType);
      let states: Tensor | undefined;
      try {
        states = (await encoder.session.run(asFeeds({ [inputName]: input }))).last_hidden_state;
      } catch (error) {
        throw new SpeechError("model_unusable", "The encoder model cannot be run.", { cause: error });
      }
      const frames = model.window.encoderFrames;
      if (states?.dims.length !== 3 || states.dims[0] !== 1 || states.dims[1] !== frames) {
        throw new SpeechError(
          "model_unusable",
          `The encoder returned ${states ? `[${states.dims.join(", ")}]` : "no states"} instead of [1, ${frames}, width].`,
        );
      }
      return states;
    },
    decoder,
    async close() {
      await encoder.session.release();
      await decoder.session.release();
    },
  };
}

interface Encoder {
  session: InferenceSession;
  inputName: string;
  inputType: FloatType;
}

async function openEncoder(model: WhisperModel, threads: number): Promise<Encoder> {
  const open = () => InferenceSession.create(model.encoderPath, sessionOptions(threads, {}));
  return await load(model.encoderPath, open, (session) => {
    const [input] = session.inputMetadata;
    if (!input?.isTensor || !session.outputNames.includes("last_hidden_state")) {
      throw new SpeechError("model_unusable", `${model.encoderPath} is not a Whisper encoder.`);
    }
    return { session, inputName: input.name, inputType: parseFloatType(input.type, input.name) };
  });
}

async function openDecoder(model: WhisperModel, threads: number): Promise<Seq2SeqDecoder> {
  const open = async () => {
    const graph = addCrossAttentionOutputs(await readFile(model.decoderPath));
    // The graph is loaded from memory, so the runtime needs the folder of its external weights.
    const externalWeights = { model_external_initializers_file_folder_path: dirname(model.decoderPath) };
    // Disables the fusion of dequantization and matrix multiplication. With it, onnxruntime 1.25 to 1.30 cannot load
    // decoders whose two branches share an 8-bit output projection, such as the exports on Hugging Face. Without it, the
    // weights are dequantized once, on load.
    const noFusion = { disable_quant_qdq: "1" };
    return InferenceSession.create(graph, sessionOptions(threads, { ...externalWeights, ...noFusion }));
  };
  return await load(model.decoderPath, open, (session) => {
    const decoder = describeDecoder(session);
    if (decoder.vocabularySize !== model.vocabularySize) {
      throw new SpeechError(
        "model_unusable",
        `${model.decoderPath} has a vocabulary of ${decoder.vocabularySize} tokens, but config.json specifies ${model.vocabularySize}.`,
      );
    }
    if (decoder.heads !== model.decoderHeads) {
      throw new SpeechError(
        "model_unusable",
        `${model.decoderPath} has ${decoder.heads} attention heads, but config.json has ${model.decoderHeads}.`,
      );
    }
    return decoder;
  });
}

function sessionOptions(threads: number, settings: Record<string, unknown>): InferenceSession.SessionOptions {
  return {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    // Spinning threads would take CPU time from all other work.
    extra: { session: { intra_op: { allow_spinning: "0" }, ...settings } },
  };
}

/** Reports any error of `open` as `model_unusable`. Releases the session if `describe` rejects it. */
async function load<T>(
  path: string,
  open: () => Promise<InferenceSession>,
  describe: (session: InferenceSession) => T,
): Promise<T> {
  const session = await open().catch((error: unknown): never => {
    if (error instanceof SpeechError) throw error;
    throw new SpeechError("model_unusable", `${path} cannot be loaded.`, { cause: error });
  });
  try {
    return describe(session);
  } catch (error) {
    await session.release();
    throw error;
  }
}
