import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SpeechError } from "@subtext/speech/errors";
import { KNOWN_MODELS, type KnownModel, knownModel } from "@subtext/speech/models/catalog";
import { DOWNLOAD_RETRY_POLICY, type DownloadRetryPolicy } from "@subtext/speech/models/download";
import type { EncoderSpeed } from "@subtext/speech/models/estimated-speed";
import { describeMachine } from "@subtext/speech/models/measured-speed";
import { describe, expect, onTestFinished, test } from "vitest";
import { ModelHub } from "../../../speech/test/support/model-hub.ts";
import { readConfig } from "../../src/config/config.ts";
import { ConfigError } from "../../src/config/config-error.ts";
import { createModels, type Models, type ModelsState } from "../../src/speech/models.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { MovableClock, temporaryFolder, until } from "../support/service.ts";

const TINY = KNOWN_MODELS[0] as KnownModel;
const SMALL = knownModel("whisper-small") as KnownModel;

/** A hub with small files under the paths of a model of the catalog. */
async function startHub(model = TINY): Promise<ModelHub> {
  const file = (path: string) => ({
    content: createHash("shake256", { outputLength: 300_000 }).update(path).digest(),
    large: path.endsWith(".onnx"),
  });
  const files = Object.fromEntries(model.files.map((path) => [path, file(path)]));
  const hub = await ModelHub.start(model.repository, files);
  onTestFinished(() => hub.stop());
  return hub;
}

interface Started {
  models: Models;
  clock: MovableClock;
  logged: () => string;
  /** Ends the current pause of the service; resolves when the next begins or nothing is left to do. */
  nextLook(): Promise<void>;
}

async function service(
  hub: ModelHub,
  env: Record<string, string> = {},
  options: {
    wanted?: boolean;
    retryPolicy?: DownloadRetryPolicy;
    readChoice?: () => Promise<string | null>;
    measure?: () => Promise<EncoderSpeed>;
    tryModel?: (folder: string) => Promise<void>;
  } = {},
): Promise<Started> {
  const modelsFolder = await temporaryFolder();
  const config = readConfig({
    MODELS_DIR: modelsFolder,
    MODEL_HUB_URL: hub.url,
    WHISPER_MODEL: TINY.name,
    ...env,
  });
  let logged = "";
  const log = createLog("info", {
    write(line) {
      logged += line;
    },
  });
  const clock = new MovableClock();
  let endPause = () => {};
  let pauses = 0;
  const models = createModels({
    config,
    wanted: true,
    log,
    clock,
    terminal: null,
    retryPolicy: DOWNLOAD_RETRY_POLICY,
    measure: async () => ({ int8: 100, fp32: 1 }),
    // The files of these tests are no models.
    tryModel: async () => {},
    ...options,
    wait: (_ms, signal) =>
      new Promise<void>((resolve, reject) => {
        pauses += 1;
        endPause = resolve;
        signal.addEventListener("abort", () => reject(signal.reason));
      }),
  });
  onTestFinished(() => models.stop());
  return {
    models,
    clock,
    logged: () => logged,
    async nextLook() {
      const before = pauses;
      endPause();
      await until(async () => pauses > before || models.installed() !== null);
    },
  };
}

const reaches = (models: Models, state: ModelsState["state"]) =>
  until(async () => models.state().state === state);

describe("the service", () => {
  test("downloads a missing model in the background, and reports when it is installed", async () => {
    const hub = await startHub();
    hub.faults = { pieceDelayMs: 5 };
    const { models, logged } = await service(hub);
    expect(await models.refresh()).toMatchObject({ state: "missing", wanted: TINY.name, folder: null });
    const folders: string[] = [];
    models.onChange((model) => folders.push(model?.folder ?? "none"));
    models.start();
    expect(models.installed()).toBeNull();
    await until(async () => (models.state().progress?.receivedBytes ?? 0) > 300_000);
    expect(models.state()).toMatchObject({ state: "downloading", progress: { totalBytes: 1_800_000 } });
    await reaches(models, "installed");
    await until(async () => folders.length > 0);
    expect(folders).toEqual([models.state().folder]);
    expect(models.installed()).toMatchObject({ name: TINY.name });
    expect(models.prefersBundledForEnglish()).toBe(true);
    expect(logged()).toMatch(/"progress":"\d+% {2}/);
  });

  test("follows the speed that transcriptions reach instead of the estimate", async () => {
    const hub = await startHub(SMALL);
    const { models, nextLook } = await service(hub, { WHISPER_MODEL: SMALL.name, SPEECH_THREADS: "2" });
    const preferences: boolean[] = [];
    models.onChange(() => preferences.push(models.prefersBundledForEnglish()));
    models.start();
    await until(async () => preferences.length === 1);
    expect(models.speed()).toEqual({ realTime: expect.any(Number), isMeasured: false });
    const work = { machine: describeMachine(2), speechSeconds: 600, workSeconds: 60 };
    await writeFile(join(models.installed()!.folder, "speed.json"), JSON.stringify(work));
    await nextLook();
    await until(async () => preferences.length === 2);
    expect(models.speed()).toEqual({ realTime: 10, isMeasured: true });
    expect(preferences).toEqual([true, false]);
  });

  test("reports a download that cannot be run, and does not repeat it", async () => {
    const tryModel = async () => {
      throw new SpeechError("model_unusable", "The downloaded model cannot be run: no encoder.");
    };
    const hub = await startHub();
    const { models, clock, nextLook } = await service(hub, {}, { tryModel });
    models.start();
    await reaches(models, "failed");
    expect(models.state()).toMatchObject({
      error: expect.stringContaining("no encoder"),
      folder: null,
      nextTryAt: null,
    });
    expect(models.installed()).toBeNull();
    const requests = hub.requests.length;
    clock.advance(86_400_000);
    await nextLook();
    expect(hub.requests.length).toBe(requests);
  });

  test("keeps a download for which too little memory is available, and tries it again", async () => {
    const hub = await startHub();
    let isTooLarge = true;
    const tryModel = async () => {
      if (isTooLarge) throw new SpeechError("insufficient_memory", "It needs 2000 MiB of memory.");
    };
    const { models, clock, nextLook } = await service(hub, {}, { tryModel });
    models.start();
    await reaches(models, "failed");
    expect(models.state()).toMatchObject({
      error: "It needs 2000 MiB of memory.",
      nextTryAt: expect.any(String),
    });
    const requests = hub.requests.length;
    isTooLarge = false;
    clock.advance(61_000);
    await nextLook();
    await reaches(models, "installed");
    expect(hub.requests.length).toBe(requests);
  });

  test("continues without a hub, retries with growing pauses, and shows the next retry", async () => {
    const hub = await startHub();
    hub.faults = { token: "secret" };
    const { models, clock, nextLook } = await service(hub);
    models.start();
    await reaches(models, "failed");
    const minutesUntilTry = () =>
      Math.round((Date.parse(models.state().nextTryAt ?? "") - clock.now().getTime()) / 60_000);
    expect(models.state()).toMatchObject({
      error: expect.stringContaining("401"),
      hint: expect.stringMatching(/downloads it in the background.*npx subtext models pull whisper-tiny/),
    });
    expect(minutesUntilTry()).toBe(1);
    const requests = hub.requests.length;
    await nextLook();
    expect(hub.requests.length).toBe(requests);
    expect(models.state().state).toBe("failed");

    clock.advance(61_000);
    await nextLook();
    expect(hub.requests.length).toBeGreaterThan(requests);
    expect(minutesUntilTry()).toBe(2);

    hub.faults = {};
    clock.advance(121_000);
    await nextLook();
    await reaches(models, "installed");
    expect(models.state()).toMatchObject({ error: null, hint: null, nextTryAt: null });
  });

  test("ends the download of its model if the bundled engine is chosen, and waits for no model", async () => {
    const hub = await startHub();
    hub.faults = { pieceDelayMs: 5 };
    const { models } = await service(hub);
    const changes: (string | null)[] = [];
    models.onChange((model) => changes.push(model?.name ?? null));
    models.start();
    await until(async () => (models.state().progress?.receivedBytes ?? 0) > 0);
    models.choose("bundled");
    expect(models.state()).toMatchObject({ state: "unwanted", wanted: null, progress: null });
    await until(async () => changes.length > 0);
    expect([changes, models.isExpected(), models.installed()]).toEqual([[null], false, null]);
    expect(models.state()).toMatchObject({
      state: "unwanted",
      hint: expect.stringContaining("WHISPER_MODEL"),
    });
  });

  test("downloads the model that was chosen instead of the default one", async () => {
    const hub = await startHub();
    const { models } = await service(hub, { WHISPER_MODEL: "whisper-small" });
    models.start();
    await reaches(models, "failed");
    models.choose(TINY.name);
    expect(models.isExpected()).toBe(true);
    await reaches(models, "installed");
    expect(models.state()).toMatchObject({ wanted: TINY.name, error: null, nextTryAt: null });
  });

  test("follows a choice that another process stored, and keeps it while the database is unavailable", async () => {
    const hub = await startHub();
    let readChoice = async (): Promise<string | null> => null;
    const { models } = await service(
      hub,
      { WHISPER_MODEL: "whisper-small" },
      { readChoice: () => readChoice() },
    );
    expect(await models.refresh()).toMatchObject({ wanted: "whisper-small" });
    readChoice = async () => "bundled";
    expect(await models.refresh()).toMatchObject({ wanted: null, state: "unwanted" });
    readChoice = async () => {
      throw new Error("the database is unavailable");
    };
    expect(await models.refresh()).toMatchObject({ wanted: null, state: "unwanted" });
  });

  test("downloads nothing if downloads are off, and uses a model that someone installs", async () => {
    const hub = await startHub();
    const { models, nextLook } = await service(hub, { MODEL_DOWNLOAD: "off" });
    models.start();
    await until(async () => models.state().error !== null);
    expect(models.state()).toMatchObject({
      state: "missing",
      hint: expect.stringMatching(/MODEL_DOWNLOAD=auto.*models pull/),
    });
    expect(hub.requests).toEqual([]);
    const folder = /installed in (\S+)\. /.exec(models.state().error ?? "")?.[1] ?? "";
    const other = await service(hub, { MODELS_DIR: folder });
    other.models.start();
    await reaches(other.models, "installed");
    const names: string[] = [];
    models.onChange((model) => names.push(model?.name ?? "none"));
    await nextLook();
    await until(async () => names.length > 0);
    expect(names).toEqual([TINY.name]);
  });

  test("notices that its model was removed when it opens an engine, and downloads it again", async () => {
    const hub = await startHub();
    const { models, logged } = await service(hub);
    const names: string[] = [];
    models.onChange((model) => names.push(model?.name ?? "none"));
    models.start();
    await until(async () => names.length === 1);
    const { folder } = models.installed()!;
    expect(models.stillInstalled()?.folder).toBe(folder);
    expect(models.isExpected()).toBe(false);

    await rm(join(folder, "onnx"), { recursive: true });
    expect(models.installed()).not.toBeNull();
    expect(models.stillInstalled()).toBeNull();
    expect(models.state()).toMatchObject({ state: "missing", error: expect.stringContaining(folder) });
    expect(models.isExpected()).toBe(true);
    await until(async () => names.length === 2);
    expect(models.stillInstalled()?.folder).toBe(folder);
    expect(models.state()).toMatchObject({ state: "installed", error: null });
    expect(logged()).toContain("the speech model was removed");
  });

  test("reports that the model was removed if it may not download, until someone restores it", async () => {
    const [hub, folder] = [await startHub(), join(await temporaryFolder(), "model")];
    await mkdir(folder);
    const { models, nextLook } = await service(hub, { WHISPER_MODEL: folder });
    await models.refresh();
    models.start();
    await rm(folder, { recursive: true });
    expect(models.stillInstalled()).toBeNull();
    expect([models.isExpected(), models.state().state]).toEqual([false, "missing"]);
    await mkdir(folder);
    await nextLook();
    await reaches(models, "installed");
    expect(hub.requests).toEqual([]);
  });

  test("gives up on a hub that sends too slowly, reports it, and retries later", async () => {
    const hub = await startHub();
    hub.faults = { trickleMs: 5 };
    const retryPolicy = {
      timeouts: { responseMs: 5_000, stallMs: 200, minBytesPerSecond: 10_000 },
      maxAttempts: 2,
      firstDelayMs: 1,
    };
    const { models, clock, nextLook } = await service(hub, {}, { retryPolicy });
    const names: (string | null)[] = [];
    models.onChange((model) => names.push(model?.name ?? null));
    expect(models.isExpected()).toBe(true);
    models.start();
    await reaches(models, "failed");
    expect(models.state().error).toMatch(/the server sends only \d+ bytes per second/);
    expect([models.isExpected(), names]).toEqual([false, [null]]);

    hub.faults = {};
    clock.advance(61_000);
    await nextLook();
    await reaches(models, "installed");
    expect(names).toEqual([null, TINY.name]);
  });

  test("does not delay videos for a download that takes longer than six hours", async () => {
    const hub = await startHub();
    hub.faults = { pieceDelayMs: 20 };
    const { models, clock } = await service(hub);
    models.start();
    await reaches(models, "downloading");
    clock.advance(6 * 3_600_000 - 60_000);
    expect(models.isExpected()).toBe(true);
    clock.advance(60_000);
    expect([models.isExpected(), models.state().state]).toEqual([false, "downloading"]);
  });

  test("uses a configured folder, and names what is missing in it", async () => {
    const hub = await startHub();
    const folder = await temporaryFolder();
    await writeFile(join(folder, "config.json"), "{}");
    const there = await service(hub, { WHISPER_MODEL: folder });
    expect(await there.models.refresh()).toMatchObject({ state: "installed", folder });
    expect(there.models.prefersBundledForEnglish()).toBe(false);

    const lacking = await service(hub, { WHISPER_MODEL: join(folder, "nowhere") });
    lacking.models.start();
    await until(async () => lacking.models.state().error !== null);
    expect(lacking.models.state()).toMatchObject({
      state: "missing",
      hint: expect.stringContaining("WHISPER_MODEL"),
    });
    expect(hub.requests).toEqual([]);
  });

  test("needs nothing if its engine has no model", async () => {
    const hub = await startHub();
    const { models } = await service(hub, {}, { wanted: false });
    models.start();
    expect(await models.refresh()).toMatchObject({
      state: "unwanted",
      wanted: null,
      error: null,
      hint: null,
    });
    expect(hub.requests).toEqual([]);
  });

  test("stops during a download, which the next start continues", async () => {
    const hub = await startHub();
    hub.faults = { pieceDelayMs: 10 };
    const folder = await temporaryFolder();
    const first = await service(hub, { MODELS_DIR: folder });
    first.models.start();
    await until(async () => (first.models.state().progress?.receivedBytes ?? 0) > 1_000_000);
    await first.models.stop();
    const stored = await sizeOf(folder);
    expect(stored).toBeGreaterThan(1_000_000);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await sizeOf(folder)).toBe(stored);
    expect(first.models.installed()).toBeNull();
    expect(first.logged()).not.toContain("could not be downloaded");

    const second = await service(hub, { MODELS_DIR: folder });
    let resumedAt = 0;
    hub.onRequest = () => {
      resumedAt ||= second.models.state().progress?.receivedBytes ?? 0;
    };
    second.models.start();
    await reaches(second.models, "installed");
    expect(resumedAt).toBeGreaterThan(1_000_000);
  });
});

async function sizeOf(folder: string): Promise<number> {
  const paths = await readdir(folder, { recursive: true });
  const sizes = await Promise.all(paths.map(async (path) => await stat(join(folder, path))));
  return sizes.reduce((sum, stats) => sum + (stats.isFile() ? stats.size : 0), 0);
}

describe("the settings", () => {
  test.each([
    ["WHISPER_MODEL", "whisper-huge"],
    ["WHISPER_MODEL", "models/whisper"],
    ["MODEL_DOWNLOAD", "yes"],
    ["MODEL_HUB_URL", "ftp://hub.example"],
    ["MODEL_HUB_URL", "https://hub.example/?mirror=1"],
  ])("%s=%s is rejected with valid values", (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(`${name}=${value} is invalid: `);
  });

  test("the URL of a hub with a password is rejected without showing it", () => {
    expect(() => readConfig({ MODEL_HUB_URL: "https://me:hunter2@hub.example" })).toThrow(ConfigError);
    expect(() => readConfig({ MODEL_HUB_URL: "https://me:hunter2@hub.example" })).toThrow(/^(?!.*hunter2)/);
  });

  test("models are in the data folder by default, and a mirror may have a path", () => {
    expect(readConfig({ DATA_DIR: "/srv/subtext" }).modelsFolder).toBe("/srv/subtext/models");
    expect(readConfig({ MODELS_DIR: "/srv/models" }).modelsFolder).toBe("/srv/models");
    expect(readConfig({ MODEL_HUB_URL: "https://mirror.example/hub/" }).modelHubUrl).toBe(
      "https://mirror.example/hub",
    );
  });
});

test("docs/models.md lists every model of the catalog", async () => {
  const docs = await readFile(join(import.meta.dirname, "../../../docs/models.md"), "utf8");
  const rows = [...docs.matchAll(/^\| `([\w.-]+)` \| (\d+) \| ([\d,]+) MB \|.*`([\w./-]+)` \|$/gm)];
  expect(rows.map(([, name, languages, size, repository]) => [name, languages, size, repository])).toEqual(
    KNOWN_MODELS.map(({ name, languageCount, downloadBytes, repository }) => [
      name,
      String(languageCount),
      (downloadBytes / 1e6).toLocaleString("en"),
      repository,
    ]),
  );
});
