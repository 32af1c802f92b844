import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { KnownModel } from "../../src/models/catalog.ts";
import { openModelStore } from "../../src/models/store.ts";
import { tryModel } from "../../src/processes/try-model.ts";
import { ModelHub, type ServedFile } from "../support/model-hub.ts";
import { expectError, MIB, MODEL, REPOSITORY, temporaryFolder } from "../support/model-pulls.ts";
import { descendantsRunning, until } from "../support/processes.ts";
import {
  type MadeWhisperOptions,
  steps,
  writeMadeWhisper,
} from "../support/synthetic-whisper/made-whisper.ts";

/** The files of an export, and the hub's model that has them. */
async function servedExport(options: Partial<MadeWhisperOptions>) {
  const folder = await temporaryFolder();
  await writeMadeWhisper(folder, { windowSeconds: 2, scripts: [{ says: steps([" hello"]) }], ...options });
  const names = (await readdir(folder, { recursive: true })).filter((name) => /\.\w+$/.test(name));
  const files: Record<string, ServedFile> = {};
  for (const name of names)
    files[name] = { content: await readFile(join(folder, name)), large: name.endsWith(".onnx") };
  const model: KnownModel = { ...MODEL, files: names, downloadBytes: 1_000_000 };
  return { files, model };
}

const { signal } = new AbortController();

test("a download that cannot be run is rejected with the reason, and the installed model stays", async () => {
  const store = openModelStore({ folder: await temporaryFolder() });
  const install = async ({ files, model }: Awaited<ReturnType<typeof servedExport>>) => {
    const hub = await ModelHub.start(REPOSITORY, files);
    try {
      return await store.install(model, { hub: { url: hub.url, token: null }, signal, tryModel });
    } finally {
      await hub.stop();
    }
  };
  const working = await servedExport({});
  await install(working);
  // Another program changes the model, so the next installation replaces it.
  const changed = join(store.folder, MODEL.name, "config.json");
  await rm(changed);
  await mkdir(changed);

  // Its graph loads, but needs other features than the files state.
  const broken = await servedExport({ config: { num_mel_bins: 40 }, preprocessor: { feature_size: 40 } });
  const reason = /^The downloaded model cannot be run, so it was not installed: .*encoder/s;
  await expectError(install(broken), "model_unusable", reason);
  expect((await readdir(store.folder)).filter((name) => !name.startsWith("."))).toEqual([MODEL.name]);
  expect(await readdir(join(store.folder, MODEL.name))).toContain("config.json");

  await rm(changed, { recursive: true });
  expect((await install(working)).wasInstalled).toBe(false);
  expect((await store.find(MODEL.name)).folder).toBe(join(store.folder, MODEL.name));
}, 180_000);

test("a model for which too little memory is available is not tried, and its download is kept", async () => {
  const store = openModelStore({ folder: await temporaryFolder() });
  const { files, model } = await servedExport({});
  const hub = await ModelHub.start(REPOSITORY, files);
  onTestFinished(() => hub.stop());
  const install = (availableBytes: number) => {
    const memory = { bytes: 4_000 * MIB, availableBytes, source: "the machine's memory" };
    return store.install(model, {
      hub: { url: hub.url, token: null },
      signal,
      tryModel: (folder) => tryModel(folder, signal, memory),
    });
  };
  const reason = /needs \d+ MiB of memory\. 100 MiB of the machine's memory are available\./;
  await expectError(install(100 * MIB), "insufficient_memory", reason);
  const [kept] = await store.list();
  expect(kept).toMatchObject({ state: "partial", bytes: kept?.totalBytes });
  const requests = hub.requests.length;
  await install(4_000 * MIB);
  expect(hub.requests.length).toBe(requests);
  expect(await store.list()).toMatchObject([{ state: "installed" }]);
}, 180_000);

test("a trial that the kernel kills ran out of memory; one that crashes otherwise says nothing", async () => {
  const folder = await temporaryFolder();
  await writeMadeWhisper(folder, { windowSeconds: 2, scripts: [{ says: steps([" hello"]) }] });
  const tryAndEnd = async (how: NodeJS.Signals) => {
    const trial = tryModel(folder, signal, null);
    const speechProcesses = () => descendantsRunning(process.pid, "processes/process-main.ts");
    await until(() => speechProcesses().length > 0);
    process.kill(speechProcesses()[0]!, how);
    await trial;
  };
  await expectError(tryAndEnd("SIGKILL"), "insufficient_memory", /running it needs \d+ MiB of memory\. Free/);
  await tryAndEnd("SIGABRT");
});
