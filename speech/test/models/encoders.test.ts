import { createHash } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { KNOWN_MODELS, type KnownModel, knownModel, withEncoder } from "../../src/models/catalog.ts";
import type { Precision } from "../../src/models/precision.ts";
import type { InstallOptions, ModelStore } from "../../src/models/store.ts";
import { preferredEncoder } from "../../src/processes/encoder-choice.ts";
import { measureEncoderSpeedInWorker } from "../../src/processes/model-worker.ts";
import { ModelHub } from "../support/model-hub.ts";
import { emptyStore, FAST_RETRIES } from "../support/model-pulls.ts";

const TINY = KNOWN_MODELS[0]!;
const QUANTIZED = "onnx/encoder_model_quantized.onnx";
const SINGLE = "onnx/encoder_model.onnx";
const HALF = "onnx/encoder_model_fp16.onnx";
const encoderOf = (path: string) => path.includes("encoder_model");

async function hubWith(...encoders: Precision[]): Promise<ModelHub> {
  const paths = new Set(encoders.flatMap((encoder) => withEncoder(TINY, encoder).files));
  const content = (path: string) => createHash("shake256", { outputLength: 300_000 }).update(path).digest();
  const files = [...paths].map((path) => [path, { content: content(path), large: encoderOf(path) }]);
  const hub = await ModelHub.start(TINY.repository, Object.fromEntries(files));
  onTestFinished(() => hub.stop());
  return hub;
}

async function install(
  store: ModelStore,
  hub: ModelHub,
  options: Partial<InstallOptions>,
): Promise<string[]> {
  await store.install(TINY, {
    hub: { url: hub.url, token: null },
    signal: new AbortController().signal,
    retryPolicy: FAST_RETRIES,
    ...options,
  });
  const { manifest } = await store.find(TINY.name);
  return (manifest?.files ?? []).map(({ path }) => path).filter(encoderOf);
}

test("a model is installed with the chosen encoder, and stays as it is", async () => {
  const [store, hub] = [await emptyStore(), await hubWith("int8", "fp32")];
  expect(await install(store, hub, { encoder: async () => "fp32" })).toEqual([SINGLE]);
  const unexpected = () => Promise.reject(new Error("The machine was measured again."));
  expect(await install(store, hub, { encoder: unexpected })).toEqual([SINGLE]);
  expect(await install(store, hub, {})).toEqual([SINGLE]);
});

test("an encoder that the user names replaces another one", async () => {
  const [store, hub] = [await emptyStore(), await hubWith("int8", "fp16", "fp32")];
  expect(await install(store, hub, { encoder: "fp32" })).toEqual([SINGLE]);
  expect(await install(store, hub, { encoder: "fp16" })).toEqual([HALF]);
  expect(await install(store, hub, { encoder: "int8" })).toEqual([QUANTIZED]);
});

test("a partial download is resumed with its encoder", async () => {
  const [store, hub] = [await emptyStore(), await hubWith("int8", "fp32")];
  const stop = new AbortController();
  const partial = install(store, hub, {
    encoder: "fp32",
    signal: stop.signal,
    onProgress: ({ receivedBytes }) => receivedBytes > 0 && stop.abort(new Error("enough")),
  });
  await expect(partial).rejects.toThrow("enough");
  expect(await install(store, hub, { encoder: async () => "int8" })).toEqual([SINGLE]);
});

test("an encoder that was chosen automatically and is missing on the hub is replaced by the 8-bit one", async () => {
  const [store, hub] = [await emptyStore(), await hubWith("int8")];
  await expect(install(store, hub, { encoder: "fp32" })).rejects.toMatchObject({
    code: "model_download_failed",
    message: expect.stringContaining(SINGLE),
  });
  expect(await install(store, hub, { encoder: async () => "fp32" })).toEqual([QUANTIZED]);
});

test("an encoder of more than 2 GB has a second file with its weights", () => {
  const { files, downloadBytes } = withEncoder(knownModel("whisper-large-v3-turbo")!, "fp32");
  expect(files.filter(encoderOf)).toEqual([SINGLE, `${SINGLE}_data`]);
  expect(downloadBytes).toBeGreaterThan(2.9e9);
});

test("a precision that cannot be installed leaves the model unchanged", () => {
  const large = knownModel("whisper-large-v3")!;
  expect(withEncoder(large, "fp32")).toBe(large);
});

test("single precision is preferred if it is at most a fifth slower and fits into memory", () => {
  const small = knownModel("whisper-small")!;
  const preferred = (fp32: number, bytes = 16e9, model: KnownModel = small) =>
    preferredEncoder(model, { int8: 100, fp32 }, { bytes, source: "the machine's memory" });
  expect(preferred(80)).toBe("fp32");
  expect(preferred(79)).toBe("int8");
  expect(preferred(100, withEncoder(small, "fp32").memoryBytes)).toBe("int8");
  expect(preferred(100, 64e9, knownModel("whisper-large-v3")!)).toBe("int8");
  expect(preferredEncoder(small, { int8: 1, fp32: 1 }, null)).toBe("fp32");
});

test("the machine is measured with a real encoder layer", async () => {
  const { int8, fp32 } = await measureEncoderSpeedInWorker(1);
  expect(int8).toBeGreaterThan(0);
  expect(fp32).toBeGreaterThan(0);
  expect(Number.isFinite(int8 + fp32)).toBe(true);
});
