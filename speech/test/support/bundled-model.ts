import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { addCrossAttentionOutputs } from "../../src/onnx/cross-attention-outputs.ts";
import { type DecodedSequence, decodeSequences } from "../../src/onnx/decode-sequences.ts";
import { describeDecoder } from "../../src/onnx/seq2seq-decoder.ts";

const folder = new URL("model/tiny/quantized/", import.meta.resolve("@moonshine-ai/moonshine-js"));
export const bundledEncoderPath = fileURLToPath(new URL("encoder_model.onnx", folder));
const decoderPath = fileURLToPath(new URL("decoder_model_merged.onnx", folder));

/** The bundled decoder with cross-attention outputs. */
export const bundledDecoder = addCrossAttentionOutputs(readFileSync(decoderPath));

export async function openGraph(model: Uint8Array): Promise<InferenceSession> {
  return await InferenceSession.create(model, { intraOpNumThreads: 1, interOpNumThreads: 1 });
}

export async function encode(samples: Float32Array): Promise<Tensor> {
  const encoder = await InferenceSession.create(bundledEncoderPath);
  const input = new Tensor("float32", samples, [1, samples.length]);
  const { last_hidden_state: states } = await encoder.run({ input_values: input });
  await encoder.release();
  return states!;
}

export async function decode(session: InferenceSession, encoderStates: Tensor): Promise<DecodedSequence> {
  const [sequence] = await decodeSequences(describeDecoder(session), {
    encoderStates,
    prompts: [[1]],
    endToken: 2,
    maxTokens: [40],
    attentionHeads: [{ layer: 3, head: 5 }],
    signal: new AbortController().signal,
  });
  return sequence!;
}
