import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Returns the absolute paths of the bundled model's graphs. */
export function moonshinePaths(): { encoderPath: string; decoderPath: string } {
  const entry = import.meta.resolve("@moonshine-ai/moonshine-js");
  const folder = fileURLToPath(new URL("model/tiny/quantized/", entry));
  return {
    encoderPath: join(folder, "encoder_model.onnx"),
    decoderPath: join(folder, "decoder_model_merged.onnx"),
  };
}
