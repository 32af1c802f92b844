import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The graphs of the bundled model, absolute. */
export function moonshinePaths(): { encoderPath: string; decoderPath: string } {
  const entry = import.meta.resolve("@moonshine-ai/moonshine-js");
  const folder = fileURLToPath(new URL("model/tiny/quantized/", entry));
  return {
    encoderPath: join(folder, "encoder_model.onnx"),
    decoderPath: join(folder, "decoder_model_merged.onnx"),
  };
}
