import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { InferenceSession } from "onnxruntime-node";
import { describe, expect, test } from "vitest";
import { SpeechError } from "../../src/errors.ts";
import { addCrossAttentionOutputs } from "../../src/onnx/cross-attention-outputs.ts";

const folder = new URL("model/tiny/quantized/", import.meta.resolve("@moonshine-ai/moonshine-js"));
const read = (name: string) => readFileSync(fileURLToPath(new URL(name, folder)));

/** A message of length-delimited fields. */
function message(...fields: [number: number, content: Uint8Array | string][]): Uint8Array {
  const writer = new BinaryWriter();
  for (const [number, content] of fields) {
    writer
      .tag(number, WireType.LengthDelimited)
      .bytes(typeof content === "string" ? new TextEncoder().encode(content) : content);
  }
  return writer.finish();
}

const softmax = (tensor: string) => message([2, tensor], [4, "Softmax"]);
const model = (...nodes: Uint8Array[]) =>
  message([7, message(...nodes.map((node): [number, Uint8Array] => [1, node]), [2, "a graph"])]);

/** As much of a merged decoder as the editing looks at. */
function mergedModel(inThen: readonly string[], inElse: readonly string[]): Uint8Array {
  const branch = (name: string, tensors: readonly string[]) =>
    message([1, name], [6, message(...tensors.map((tensor): [number, Uint8Array] => [1, softmax(tensor)]))]);
  const ifNode = message(
    [2, "logits"],
    [4, "If"],
    [5, branch("then_branch", inThen)],
    [5, branch("else_branch", inElse)],
  );
  return model(message([4, "Identity"]), ifNode);
}

const attentionOf = (layer: number) => `/model/decoder/layers.${layer}/encoder_attn/Softmax_output_0`;
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

function codeOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    return error instanceof SpeechError ? error.code : `not a SpeechError: ${error}`;
  }
  return "no error";
}

describe("cross-attention outputs", () => {
  test("make a real decoder give its attention, under the names of its layers", async () => {
    const session = await InferenceSession.create(
      addCrossAttentionOutputs(read("decoder_model_merged.onnx")),
    );
    const added = session.outputNames.filter((name) => name.startsWith("cross"));
    expect(added).toEqual([0, 1, 2, 3, 4, 5].map((layer) => `cross_attentions.${layer}`));
    await session.release();
  });

  test("are not added twice", () => {
    const once = addCrossAttentionOutputs(mergedModel([attentionOf(0)], [attentionOf(0)]));
    expect(text(once)).toContain("cross_attentions.0");
    expect(addCrossAttentionOutputs(once)).toBe(once);
  });

  test("are found by what exporters call them, in each branch by its own name", () => {
    const edited = addCrossAttentionOutputs(
      mergedModel(
        ["/decoder/block.11/layer.1/EncDecAttention/Softmax_output_0"],
        [attentionOf(3), "/blocks.11/cross_attn/Softmax_output_0"],
      ),
    );
    expect(text(edited)).toContain("cross_attentions.11");
    expect(text(edited)).not.toContain("cross_attentions.3");
  });

  test("are found in a decoder without branches too", () => {
    expect(text(addCrossAttentionOutputs(model(softmax(attentionOf(2)))))).toContain("cross_attentions.2");
  });

  test("leave a graph as it is if no softmax is called cross-attention", () => {
    const selfAttention = attentionOf(0).replace("encoder_attn", "self_attn");
    for (const without of [
      mergedModel([selfAttention], [selfAttention]),
      mergedModel([attentionOf(0)], [attentionOf(1)]),
      read("encoder_model.onnx"),
    ]) {
      expect(addCrossAttentionOutputs(without)).toBe(without);
    }
  });

  test("of a damaged model fail with a SpeechError, if they fail", () => {
    const whole = mergedModel([attentionOf(0)], [attentionOf(0)]);
    const place = fc.integer({ min: 0, max: whole.length - 1 });
    fc.assert(
      fc.property(place, fc.integer({ min: 0, max: 255 }), place, (damagedByte, value, length) => {
        const damaged = whole.slice(0, length);
        damaged[damagedByte] = value;
        expect(["model_unusable", "no error"]).toContain(codeOf(() => addCrossAttentionOutputs(damaged)));
      }),
      { numRuns: 500 },
    );
  });

  test("need a model", () => {
    for (const bytes of [new Uint8Array(0), new TextEncoder().encode("<!doctype html><title>404</title>")]) {
      expect(codeOf(() => addCrossAttentionOutputs(bytes))).toBe("model_unusable");
    }
  });
});
