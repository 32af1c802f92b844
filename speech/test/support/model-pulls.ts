import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { SpeechError, type SpeechErrorCode } from "../../src/errors.ts";
import type { KnownModel } from "../../src/models/catalog.ts";
import type { DownloadRetryPolicy } from "../../src/models/download.ts";
import type { DownloadProgress } from "../../src/models/download-progress.ts";
import { type InstallOptions, type ModelStore, openModelStore } from "../../src/models/store.ts";
import { ModelHub, type ServedFile } from "./model-hub.ts";

export const MIB = 1 << 20;
export const REPOSITORY = "made/whisper";

export const MODEL: KnownModel = {
  name: "whisper-made",
  languageCount: 4,
  license: "MIT",
  repository: REPOSITORY,
  revision: "main",
  encoder: "int8",
  encoders: ["int8"],
  files: ["config.json", "onnx/encoder.onnx", "onnx/decoder.onnx"],
  downloadBytes: 5 * MIB,
  memoryBytes: 1,
  prefersBundledForEnglish: true,
};

/** Short timeouts and delays, so that tests of failed downloads are fast. */
export const FAST_RETRIES: DownloadRetryPolicy = {
  timeouts: { responseMs: 300, stallMs: 300, minBytesPerSecond: 1_000 },
  maxAttempts: 3,
  firstDelayMs: 1,
};

/** Returns pseudorandom bytes that depend only on the seed. */
function bytesOf(seed: string, length: number): Buffer {
  return createHash("shake256", { outputLength: length }).update(seed).digest();
}

export function filesOf(version: string): Record<string, ServedFile> {
  return {
    "config.json": { content: Buffer.from(JSON.stringify({ version })), large: false },
    "onnx/encoder.onnx": { content: bytesOf(`encoder ${version}`, 2 * MIB), large: true },
    "onnx/decoder.onnx": { content: bytesOf(`decoder ${version}`, 3 * MIB + 17), large: true },
  };
}

export const FILES = filesOf("1");
export const TOTAL = Object.values(FILES).reduce((sum, { content }) => sum + content.length, 0);

export async function startHub(files = FILES): Promise<ModelHub> {
  const hub = await ModelHub.start(REPOSITORY, files);
  onTestFinished(() => hub.stop());
  return hub;
}

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "subtext-models-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export async function emptyStore(): Promise<ModelStore> {
  return openModelStore({ folder: await temporaryFolder(), now: () => new Date("2026-01-02T03:04:05Z") });
}

export const pull = (store: ModelStore, hub: Pick<ModelHub, "url">, options: Partial<InstallOptions> = {}) =>
  store.install(MODEL, {
    hub: { url: hub.url, token: null },
    signal: new AbortController().signal,
    retryPolicy: FAST_RETRIES,
    ...options,
  });

/** Cancels the pull after at least this many bytes. */
export async function pullInPart(store: ModelStore, hub: ModelHub, bytes: number): Promise<void> {
  const stop = new AbortController();
  const onProgress = ({ receivedBytes }: DownloadProgress) => {
    if (receivedBytes >= bytes) stop.abort(new Error("enough"));
  };
  await expect(pull(store, hub, { signal: stop.signal, onProgress })).rejects.toThrow("enough");
}

export async function expectInstalled(store: ModelStore, files = FILES): Promise<void> {
  const { folder } = await store.find(MODEL.name);
  for (const [path, { content }] of Object.entries(files)) {
    expect(content.equals(await readFile(join(folder, path)))).toBe(true);
  }
  expect(await store.verify(MODEL.name, new AbortController().signal)).toEqual([]);
  expect((await store.list()).map(({ name, state }) => [name, state])).toEqual([[MODEL.name, "installed"]]);
}

export async function expectError(
  pending: Promise<unknown>,
  code: SpeechErrorCode,
  message: RegExp,
): Promise<void> {
  const error = await pending.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(SpeechError);
  expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
}
