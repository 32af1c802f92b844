import { InferenceSession, Tensor } from "onnxruntime-node";
import { expect, test } from "vitest";
import { SpeechError } from "../../src/errors.ts";
import { GraphWriter, onnxModel } from "../../src/onnx/onnx-writer.ts";
import { toErrorMessage } from "../../src/processes/process-messages.ts";

/** The error of the runtime for a tensor of zeros with this shape. */
async function errorFor(shape: number[]): Promise<unknown> {
  const graph = new GraphWriter("");
  graph.input("shape", "int64", [shape.length]);
  graph.node("ConstantOfShape", ["shape"], {}, "zeros");
  graph.output("zeros", "float32", null);
  const session = await InferenceSession.create(onnxModel(graph));
  const input = new Tensor("int64", BigInt64Array.from(shape.map(BigInt)), [shape.length]);
  return await session.run({ shape: input }).catch((error: unknown) => error);
}

const unusable = (cause: unknown) =>
  new SpeechError("model_unusable", "The encoder model cannot be run.", { cause });

test("an allocation that fails in the runtime is not the fault of the model", async () => {
  const error = unusable(await errorFor([2 ** 24, 2 ** 24]));
  expect(toErrorMessage(error)).toMatchObject({ code: "engine_out_of_memory" });
});

test("any other error of the runtime is", async () => {
  expect(toErrorMessage(unusable(await errorFor([-2])))).toMatchObject({
    code: "model_unusable",
    message: "The encoder model cannot be run.",
  });
});
