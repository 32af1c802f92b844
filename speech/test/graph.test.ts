import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { InferenceSession } from "onnxruntime-node";
import { describe, expect, test } from "vitest";
import { SpeechError } from "../src/errors.ts";
import { addCrossAttentionOutputs } from "../src/onnx/graph.ts";
import { lengthBeforeLoop } from "../src/onnx/seq2seq.ts";

const folder = new URL("model/tiny/quantized/", import.meta.resolve("@moonshine-ai/moonshine-js"));
const read = (name: string) => readFileSync(fileURLToPath(new URL(name, folder)));
const softmax = (layer: number) => `/model/decoder/layers.${layer}/encoder_attn/Softmax_output_0`;

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

/** As much of a merged decoder as the editing looks at. */
function smallModel(inThen: string, inElse: string): Uint8Array {
  const branch = (name: string, tensor: string) =>
    message([1, name], [6, message([1, message([2, tensor], [4, "Softmax"])])]);
  const ifNode = message(
    [2, "logits"],
    [4, "If"],
    [5, branch("then_branch", inThen)],
    [5, branch("else_branch", inElse)],
  );
  return message([7, message([1, message([4, "Identity"])], [1, ifNode], [2, "merged"])]);
}

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
    const model = addCrossAttentionOutputs(read("decoder_model_merged.onnx"), [softmax(0), softmax(5)]);
    const session = await InferenceSession.create(model);
    expect(session.outputNames).toEqual(expect.arrayContaining(["cross_attentions.0", "cross_attentions.1"]));
    await session.release();
  });

  test("are not added twice", () => {
    const once = addCrossAttentionOutputs(smallModel("attention", "attention"), ["attention"]);
    expect(addCrossAttentionOutputs(once, ["attention"])).toEqual(once);
  });

  test("need both branches to compute the tensor", () => {
    expect(codeOf(() => addCrossAttentionOutputs(smallModel("attention", "other"), ["attention"]))).toBe(
      "model_unusable",
    );
  });

  test("need a decoder, not an encoder", () => {
    expect(codeOf(() => addCrossAttentionOutputs(read("encoder_model.onnx"), [softmax(0)]))).toBe(
      "model_unusable",
    );
  });

  test("of a damaged model fail with a SpeechError, if they fail", () => {
    const model = smallModel("attention", "attention");
    const place = fc.integer({ min: 0, max: model.length - 1 });
    fc.assert(
      fc.property(place, fc.integer({ min: 0, max: 255 }), place, (damagedByte, value, length) => {
        const damaged = model.slice(0, length);
        damaged[damagedByte] = value;
        expect(["model_unusable", "no error"]).toContain(
          codeOf(() => addCrossAttentionOutputs(damaged, ["attention"])),
        );
      }),
      { numRuns: 500 },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(codeOf(() => addCrossAttentionOutputs(bytes, ["attention"]))).toBe("model_unusable");
      }),
    );
  });
});

describe("a loop of tokens", () => {
  test("is a phrase said four times on end", () => {
    const phrase = [7, 8, 9, 10];
    const said = [1, 2, ...phrase, ...phrase, ...phrase];
    expect(lengthBeforeLoop(said)).toBeNull();
    expect(lengthBeforeLoop([...said, ...phrase])).toBe(6);
  });

  test("is not what people repeat", () => {
    expect(lengthBeforeLoop([5, 5, 5, 5, 5, 5, 5, 5])).toBeNull();
    expect(lengthBeforeLoop(Array.from({ length: 200 }, (_, i) => i % 60))).toBeNull();
  });

  test("is found wherever it stands, and leaves its first round", () => {
    const tokens = fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(tokens, tokens, (before, phrase) => {
        const said = [...before, ...Array.from({ length: 16 }, () => phrase).flat()];
        const kept = lengthBeforeLoop(said);
        expect(kept).not.toBeNull();
        expect(kept).toBeLessThanOrEqual(before.length + phrase.length);
      }),
    );
  });
});
