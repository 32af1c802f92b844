import { type ChildProcess, execFile, spawn } from "node:child_process";
import { chmod, cp, mkdir, readdir, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { DEFAULT_MODEL_NAME, KNOWN_MODELS, knownModel } from "../../src/models/catalog.ts";
import type { DownloadProgress } from "../../src/models/download-progress.ts";
import { isSafePath } from "../../src/models/manifest.ts";
import { openModelStore } from "../../src/models/store.ts";
import type { ModelHub } from "../support/model-hub.ts";
import {
  emptyStore,
  expectError,
  expectInstalled,
  MIB,
  MODEL,
  pull,
  pullInPart,
  startHub,
  TOTAL,
  temporaryFolder,
} from "../support/model-pulls.ts";

const STORE_URL = new URL("../../src/models/store.ts", import.meta.url).href;

/** Program of a child process: pulls the model and prints the outcome as JSON. */
function pullScript(folder: string, hub: ModelHub, prelude = ""): string {
  return `${prelude}
    import { openModelStore } from ${JSON.stringify(STORE_URL)};
    const store = openModelStore({ folder: ${JSON.stringify(folder)} });
    const outcome = await store.install(${JSON.stringify(MODEL)}, {
      hub: { url: ${JSON.stringify(hub.url)}, token: null }, signal: new AbortController().signal,
      onProgress: ({ receivedBytes }) => process.stderr.write(receivedBytes + "\\n") })
      .then(({ wasInstalled }) => ({ wasInstalled }), ({ code, message }) => ({ code, message }));
    console.log(JSON.stringify(outcome));`;
}

/** Kills the process when it is about to move the complete download to its final folder. */
const KILLED_AT_MOVE = `
  import fs from "node:fs/promises";
  import { syncBuiltinESMExports } from "node:module";
  const { rename } = fs;
  fs.rename = (from, to) => from.endsWith(".partial") ? process.kill(process.pid, "SIGKILL") : rename(from, to);
  syncBuiltinESMExports();`;

function startPull(
  folder: string,
  hub: ModelHub,
  prelude?: string,
): ChildProcess & { outcome: Promise<unknown> } {
  const child = spawn(process.execPath, ["--input-type=module", "-e", pullScript(folder, hub, prelude)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let out = "";
  child.stdout.on("data", (chunk) => {
    out += chunk;
  });
  const outcome = new Promise((resolve) => {
    child.once("close", () => resolve(out === "" ? null : JSON.parse(out)));
  });
  return Object.assign(child, { outcome });
}

/** Resolves when the process says that so much has arrived. */
async function arrived(child: ChildProcess, bytes: number): Promise<void> {
  await new Promise<void>((resolve) => {
    child.stderr?.on("data", (chunk) => {
      if (
        String(chunk)
          .split("\n")
          .some((line) => Number(line) >= bytes)
      )
        resolve();
    });
  });
}

describe("several processes", () => {
  test("that pull the same model at once download it once", async () => {
    const [hub, { folder }] = [await startHub(), await emptyStore()];
    hub.faults = { pieceDelayMs: 5 };
    const outcomes = await Promise.all([startPull(folder, hub).outcome, startPull(folder, hub).outcome]);
    expect(outcomes).toEqual(expect.arrayContaining([{ wasInstalled: true }, { wasInstalled: false }]));
    expect(hub.bytesServed).toBe(TOTAL);
    await expectInstalled(openModelStore({ folder }));
  });

  test("leave what a killed one has downloaded to the next", async () => {
    const [hub, store] = [await startHub(), await emptyStore()];
    hub.faults = { pieceDelayMs: 2 };
    const child = startPull(store.folder, hub);
    await arrived(child, 3 * MIB);
    child.kill("SIGKILL");
    await child.outcome;
    expect(await store.list()).toMatchObject([{ state: "partial" }]);
    hub.faults = {};
    hub.bytesServed = 0;
    await pull(store, hub);
    await expectInstalled(store);
    expect(hub.bytesServed).toBeLessThan(TOTAL - 2.9 * MIB);
  });

  test("leave a complete download to the next if they are killed before they move it", async () => {
    const [hub, store] = [await startHub(), await emptyStore()];
    const child = startPull(store.folder, hub, KILLED_AT_MOVE);
    expect(await child.outcome).toBeNull();
    expect(await store.list()).toMatchObject([{ state: "partial", bytes: TOTAL, totalBytes: TOTAL }]);
    const requests = hub.requests.length;
    await pull(store, hub);
    await expectInstalled(store);
    expect(hub.requests.length).toBe(requests);
    expect(await readdir(join(store.folder, MODEL.name))).not.toContain("download.json");
  });

  test("wait for each other with true progress, and let go when reported", async () => {
    const [hub, store] = [await startHub(), await emptyStore()];
    hub.faults = { pieceDelayMs: 20 };
    const child = startPull(store.folder, hub);
    await arrived(child, MIB);
    const stop = new AbortController();
    const seen: DownloadProgress[] = [];
    const onProgress = (progress: DownloadProgress) => {
      seen.push(progress);
      stop.abort(new Error("enough"));
    };
    await expect(pull(store, hub, { signal: stop.signal, onProgress })).rejects.toThrow("enough");
    expect(seen[0]).toMatchObject({ elsewhere: true, totalBytes: TOTAL });
    expect(seen[0]?.receivedBytes).toBeGreaterThanOrEqual(MIB);
    await expectError(store.remove(MODEL.name), "model_store_failed", /downloaded by process \d+/);
    child.kill("SIGKILL");
    await child.outcome;
    expect(await store.remove(MODEL.name)).toBe(true);
    expect(await store.list()).toEqual([]);
  });
});

describe("a disk", () => {
  test("that is too small is reported before anything is downloaded", async (context) => {
    const [hub, { folder }] = [await startHub(), await emptyStore()];
    const mountAndRun = 'mount -t tmpfs -o size=4m none "$1" && exec "$2" --input-type=module -e "$3"';
    const run = promisify(execFile);
    try {
      await run("unshare", ["-rm", "sh", "-c", 'mount -t tmpfs -o size=4k none "$1"', "sh", folder]);
    } catch {
      context.skip("this machine lets nobody mount a small disk of their own");
    }
    const args = ["-rm", "sh", "-c", mountAndRun, "sh", folder, process.execPath, pullScript(folder, hub)];
    const { stdout } = await run("unshare", args);
    expect(JSON.parse(stdout)).toEqual({
      code: "model_store_failed",
      message: expect.stringMatching(/free; .* are required/),
    });
    expect(hub.bytesServed).toBe(0);

    // Without lengths it cannot be known in advance.
    hub.faults = { withoutLengths: true };
    const late = await run("unshare", args);
    expect(JSON.parse(late.stdout)).toEqual({
      code: "model_store_failed",
      message: expect.stringMatching(/the disk is full/),
    });
  });

  test("that cannot be written to is reported with what to do", async () => {
    const [hub, folder] = [await startHub(), await temporaryFolder()];
    await writeFile(join(folder, "models"), "a file");
    const store = openModelStore({ folder: join(folder, "models") });
    await expectError(pull(store, hub), "model_store_failed", /models/);
  });

  test("that takes no folders is reported as such", async (context) => {
    if (process.platform !== "linux") return context.skip("only Linux has such a place");
    // There, and yet it calls a folder that is to be made in it missing.
    const store = openModelStore({ folder: "/proc/models/of/ours" });
    await expectError(pull(store, await startHub()), "model_store_failed", /cannot be created/);
  });
});

describe("the content of the store", () => {
  test("is nothing if there is no folder yet", async () => {
    const store = openModelStore({ folder: join(await temporaryFolder(), "models") });
    expect(await store.list()).toEqual([]);
    expect(await store.remove("whisper-tiny")).toBe(false);
    await expectError(store.find("whisper-tiny"), "model_not_found", /not installed/);
  });

  test("is reported as damaged if a file is missing, of another size, or the manifest cannot be read", async () => {
    const [hub, store] = [await startHub(), await emptyStore()];
    const { model } = await pull(store, hub);
    await truncate(join(model.folder, "onnx/decoder.onnx"), 5);
    await rm(join(model.folder, "config.json"));
    const damage = ["config.json is missing.", `onnx/decoder.onnx has 5 bytes instead of ${3 * MIB + 17}.`];
    expect(await store.list()).toMatchObject([{ state: "damaged", damage, totalBytes: TOTAL }]);
    await expectError(
      store.find(MODEL.name),
      "model_corrupt",
      /config\.json is missing.*models pull whisper-made/,
    );
    expect(await store.verify(MODEL.name, new AbortController().signal)).toEqual(damage);

    await writeFile(join(model.folder, "model.json"), "{");
    expect(await store.list()).toMatchObject([{ state: "damaged", damage: ["model.json cannot be read."] }]);
  });

  test("is found to have changed by its hashes, whatever its sizes", async () => {
    const [hub, store] = [await startHub(), await emptyStore()];
    const { model } = await pull(store, hub);
    await writeFile(join(model.folder, "onnx/encoder.onnx"), Buffer.alloc(2 * MIB));
    expect(await store.verify(MODEL.name, new AbortController().signal)).toEqual([
      "onnx/encoder.onnx has changed since it was installed.",
    ]);
  });

  test("is removed in one step, with what was begun of it", async () => {
    const [hub, store] = [await startHub(), await emptyStore()];
    hub.faults = { pieceDelayMs: 2 };
    await pullInPart(store, hub, MIB);
    expect(await store.remove(MODEL.name)).toBe(true);
    hub.faults = {};
    await pull(store, hub);
    expect(await store.remove(MODEL.name)).toBe(true);
    expect(await store.remove(MODEL.name)).toBe(false);
    expect(await readdir(store.folder)).toEqual([".whisper-made.lock"]);
  });

  test("may have been put there by hand, also as a link, of which only the link is removed", async () => {
    const store = await emptyStore();
    const elsewhere = await temporaryFolder();
    await writeFile(join(elsewhere, "config.json"), "{}");
    await symlink(elsewhere, join(store.folder, "whisper-tiny"));
    await mkdir(join(store.folder, "lost+found"));
    await mkdir(join(store.folder, "notes"));
    expect(await store.list()).toMatchObject([
      { name: "whisper-tiny", state: "installed", manifest: null, bytes: 2 },
    ]);
    expect(await store.find("whisper-tiny")).toMatchObject({ folder: join(store.folder, "whisper-tiny") });
    await expectError(
      store.verify("whisper-tiny", new AbortController().signal),
      "model_not_found",
      /model\.json/,
    );
    expect(await store.remove("whisper-tiny")).toBe(true);
    expect(await readdir(elsewhere)).toEqual(["config.json"]);
  });

  test("can be carried to a machine without a network, and used from a folder that may only be read", async () => {
    const [hub, store, carried] = [await startHub(), await emptyStore(), await temporaryFolder()];
    const { model } = await pull(store, hub);
    const folder = join(carried, "a model");
    await cp(model.folder, folder, { recursive: true });
    await chmod(folder, 0o555);
    expect(await store.find(folder)).toEqual({ name: "a model", folder, manifest: model.manifest });
    await chmod(folder, 0o755);
    await cp(model.folder, join(carried, MODEL.name), { recursive: true });
    await rm(folder, { recursive: true });
    await expectInstalled(openModelStore({ folder: carried }));
  });

  test.each([
    "../whisper-made",
    "/",
    "",
    ".",
    "..",
    "a/b",
    "Whisper",
    "x.partial",
    "x.removed",
    "a..b",
    "x\0y",
    ".x",
  ])("is reached by no other name than a model's: %j", async (name) => {
    const store = await emptyStore();
    if (name !== "/") await expectError(store.find(name), "model_not_found", /is not the name of a model/);
    await expectError(store.remove(name), "model_not_found", /is not the name of a model/);
    await expectError(
      store.verify(name, new AbortController().signal),
      "model_not_found",
      /is not the name of a model/,
    );
  });

  test("leads nowhere else by paths in a manifest", async () => {
    const [hub, store] = [await startHub(), await emptyStore()];
    const { model } = await pull(store, hub);
    const files = model.manifest?.files.map((file) => ({ ...file, path: `../${file.path}` }));
    await writeFile(join(model.folder, "model.json"), JSON.stringify({ ...model.manifest, files }));
    expect(await store.list()).toMatchObject([{ state: "damaged", damage: ["model.json cannot be read."] }]);
  });
});

test("a path that is called safe stays below if it begins", () => {
  const part = fc.oneof(fc.constantFrom(".", "..", "", "onnx", "a.b"), fc.string({ maxLength: 4 }));
  fc.assert(
    fc.property(fc.array(part, { maxLength: 5 }), (parts) => {
      const path = parts.join("/");
      if (isSafePath(path)) expect(join("/store/model", path).startsWith("/store/model/")).toBe(true);
    }),
  );
  expect(isSafePath("onnx/encoder_model.onnx")).toBe(true);
});

describe("the catalogue", () => {
  test("has models of different names that the store takes, with files that stay inside", async () => {
    const store = await emptyStore();
    for (const { name, files } of KNOWN_MODELS) {
      expect(await store.remove(name)).toBe(false);
      expect(files.filter((path) => !isSafePath(path))).toEqual([]);
    }
    expect(new Set(KNOWN_MODELS.map(({ name }) => name)).size).toBe(KNOWN_MODELS.length);
  });

  test("has the default one", () => {
    expect(knownModel(DEFAULT_MODEL_NAME)?.languageCount).toBeGreaterThan(90);
    expect(knownModel("whisper-nonsense")).toBeUndefined();
  });
});
