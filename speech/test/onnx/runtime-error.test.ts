import { InferenceSession, Tensor } from "onnxruntime-node";
import { expect, test } from "vitest";
import { GraphWriter, onnxModel } from "../../src/onnx/onnx-writer.ts";
import { runtimeError } from "../../src/onnx/runtime-error.ts";

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

test("an allocation that fails is not the fault of the model", async () => {
  const error = runtimeError("The encoder model cannot be run.", await errorFor([2 ** 24, 2 ** 24]));
  expect(error).toMatchObject({
    code: "engine_out_of_memory",
    message: "The encoder model cannot be run. There is too little memory.",
  });
});

test("any other error is", async () => {
  const error = runtimeError("The encoder model cannot be run.", await errorFor([-2]));
  expect(error).toMatchObject({ code: "model_unusable", cause: expect.any(Error) });
});
