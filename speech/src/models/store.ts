import { readdir, rm } from "node:fs/promises";
import { basename, isAbsolute, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { SpeechError } from "../errors.ts";
import { commandPrefix, SPEECH_PROGRAM } from "../lib/command-prefix.ts";
import { KNOWN_MODELS, type KnownModel, knownModel, withEncoder } from "./catalog.ts";
import { hashFile } from "./content-hash.ts";
import { DOWNLOAD_RETRY_POLICY, type DownloadRetryPolicy, FileMissing } from "./download.ts";
import { type DownloadProgress, ProgressMeter } from "./download-progress.ts";
import { isFolder, makeFolders, storeError } from "./file-system.ts";
import type { Hub } from "./hub.ts";
import { describesModel, downloadModel, removeSetAside, setAside, type TryModel } from "./install.ts";
import { MANIFEST_NAME, type Manifest, readDownloadRecord, readManifest } from "./manifest.ts";
import { type ModelLock, tryModelLock } from "./model-lock.ts";
import type { Precision } from "./precision.ts";
import { inspectInstalled, inspectPartial, PARTIAL, type StoredModel, wrongSize } from "./stored-model.ts";

export interface FoundModel {
  name: string;
  /** Absolute path. */
  folder: string;
  /** Null for a folder that was copied manually. */
  manifest: Manifest | null;
}

export type EncoderChooser = (model: KnownModel) => Promise<Precision>;

export interface InstallOptions {
  hub: Hub;
  signal: AbortSignal;
  onProgress?: (progress: DownloadProgress) => void;
  retryPolicy?: DownloadRetryPolicy;
  /**
   * Precision of the encoder. Replaces an installed encoder of another precision. A function is called only if no
   * encoder is installed and no download is resumed. The default is the precision of `model`.
   */
  encoder?: EncoderChooser | Precision;
  /**
   * Called with the folder of the complete download. If it throws, the model is not installed, and one that was already
   * installed is kept. The download is deleted only after `model_unusable`.
   */
  tryModel?: TryModel;
}

/**
 * A folder of models: `<name>/` for an installed model, `<name>.partial/` for a partial download. Several processes may
 * use it concurrently. Readers need no lock, because complete models are installed and removed by renaming their folders.
 */
export interface ModelStore {
  readonly folder: string;
  /** Lists the models in the folder, sorted by name. */
  list(): Promise<StoredModel[]>;
  /**
   * @param nameOrFolder a model's name, or the absolute path of a folder
   * @throws SpeechError `model_not_found`, `model_corrupt`
   */
  find(nameOrFolder: string): Promise<FoundModel>;
  /**
   * Downloads a model unless it is installed and undamaged. If an encoder that a function chose is missing on the hub, the
   * encoder of `model` is downloaded. Waits if another process is downloading it.
   * @returns `wasInstalled`: whether the model was installed before
   * @throws SpeechError `model_download_failed`, `model_corrupt`, `model_store_failed`; the error of `tryModel`
   * @throws the reason of `signal`; the partial download is kept
   */
  install(model: KnownModel, options: InstallOptions): Promise<{ model: StoredModel; wasInstalled: boolean }>;
  /**
   * Compares every file with the hash in the manifest.
   * @returns a line for each problem
   * @throws SpeechError `model_not_found` if there is no model or no manifest
   */
  verify(name: string, signal: AbortSignal): Promise<string[]>;
  /**
   * Removes a model and its partial download. Processes that have loaded it can continue.
   * @returns whether the model existed
   * @throws SpeechError `model_store_failed` while it is being downloaded
   */
  remove(name: string): Promise<boolean>;
}

const NAME = /^[a-z0-9][a-z0-9._-]{0,80}$/;
const REMOVED = ".removed";
const LOCK_POLL_MS = 300;

export function openModelStore({
  folder,
  calledAs = `${commandPrefix(SPEECH_PROGRAM)} models`,
  now = () => new Date(),
}: {
  /** Absolute path; created when the first model is installed. */
  folder: string;
  /** Command prefix for advice in messages. */
  calledAs?: string;
  now?: () => Date;
}): ModelStore {
  const folderOf = (name: string) => join(folder, name);
  const lockOf = (name: string) => join(folder, `.${name}.lock`);

  async function list(): Promise<StoredModel[]> {
    const entries = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return [];
      throw storeError(error, folder);
    });
    const names = new Set(entries.map((entry) => entry.replace(/\.partial$/, "")).filter(isModelName));
    const models = await Promise.all([...names].sort().map(inspect));
    return models.filter((model) => model !== null);
  }

  async function inspect(name: string): Promise<StoredModel | null> {
    return (await inspectInstalled(name, folderOf(name))) ?? (await inspectPartial(name, folderOf(name)));
  }

  async function find(nameOrFolder: string): Promise<FoundModel> {
    if (isAbsolute(nameOrFolder)) return await findFolder(nameOrFolder);
    requireName(nameOrFolder);
    const model = await inspect(nameOrFolder);
    if (model?.state === "installed")
      return { name: model.name, folder: model.folder, manifest: model.manifest };
    if (model?.state === "damaged") {
      throw new SpeechError(
        "model_corrupt",
        `The model ${nameOrFolder} is damaged: ${model.damage.join(" ")} \`${calledAs} pull ${nameOrFolder}\` repairs it.`,
      );
    }
    throw notInstalled(nameOrFolder);
  }

  function notInstalled(name: string): SpeechError {
    const remedy = knownModel(name)
      ? `Install it with \`${calledAs} pull ${name}\``
      : `Available models: ${namesOfKnown()}`;
    return new SpeechError("model_not_found", `The model ${name} is not installed in ${folder}. ${remedy}.`);
  }

  async function install(
    model: KnownModel,
    {
      hub,
      signal,
      onProgress = () => {},
      retryPolicy = DOWNLOAD_RETRY_POLICY,
      encoder,
      tryModel,
    }: InstallOptions,
  ): Promise<{ model: StoredModel; wasInstalled: boolean }> {
    requireName(model.name);
    const paths = { folder: folderOf(model.name), partialFolder: folderOf(model.name) + PARTIAL };
    const findComplete = async () => {
      const found = await inspectInstalled(model.name, paths.folder);
      return found?.state === "installed" && hasEncoder(found, model, encoder) ? found : null;
    };
    const before = await findComplete();
    if (before) return { model: before, wasInstalled: true };
    const meter = new ProgressMeter(() => performance.now());
    await makeFolders(folder).catch((error) => {
      throw storeError(error, folder);
    });
    const lock = await acquireLock(model.name, signal, async () => {
      const partial = await inspectPartial(model.name, paths.folder);
      if (partial) onProgress(meter.progress(partial.bytes, partial.totalBytes, true));
    });
    try {
      const meanwhile = await findComplete();
      if (meanwhile) return { model: meanwhile, wasInstalled: true };
      const download = (chosen: KnownModel) =>
        downloadModel(
          { hub, retryPolicy, signal },
          chosen,
          paths,
          (received, total) => onProgress(meter.progress(received, total, false)),
          { now, tryModel },
        );
      const chosen = await chooseEncoder(model, encoder, paths.partialFolder);
      await download(chosen).catch(async (error) => {
        const isMissing = error instanceof SpeechError && error.cause instanceof FileMissing;
        if (!isMissing || typeof encoder !== "function" || chosen === model) throw error;
        await download(model);
      });
      const installed = await findComplete();
      if (installed) return { model: installed, wasInstalled: false };
      throw new SpeechError("model_store_failed", `${paths.folder} was changed by another program.`);
    } finally {
      lock.release();
    }
  }

  async function acquireLock(
    name: string,
    signal: AbortSignal,
    onWait: () => Promise<void>,
  ): Promise<ModelLock> {
    for (;;) {
      signal.throwIfAborted();
      const lock = tryModelLock(lockOf(name));
      if ("release" in lock) return lock;
      await onWait();
      await delay(LOCK_POLL_MS, undefined, { signal }).catch(() => {
        throw signal.reason;
      });
    }
  }

  async function verify(name: string, signal: AbortSignal): Promise<string[]> {
    requireName(name);
    const manifest = await readManifest(folderOf(name));
    if (manifest === null && (await inspect(name)) === null) throw notInstalled(name);
    if (manifest === null) {
      throw new SpeechError(
        "model_not_found",
        `${folderOf(name)} has no ${MANIFEST_NAME}, so it cannot be verified.`,
      );
    }
    const damage: string[] = [];
    for (const { path, bytes, hash } of manifest.files) {
      const wrong = await wrongSize(folderOf(name), path, bytes);
      if (wrong !== null) damage.push(wrong);
      else if ((await hashFile(join(folderOf(name), path), bytes, hash.algorithm, signal)).hex !== hash.hex) {
        damage.push(`${path} has changed since it was installed.`);
      }
    }
    return damage;
  }

  async function remove(name: string): Promise<boolean> {
    requireName(name);
    if ((await inspect(name)) === null) return false;
    const lock = tryModelLock(lockOf(name));
    if ("holder" in lock) {
      throw new SpeechError("model_store_failed", `${name} is being downloaded by ${lock.holder}.`);
    }
    try {
      await rm(folderOf(name) + PARTIAL, { recursive: true, force: true });
      await setAside(folderOf(name));
      await removeSetAside(folderOf(name));
      return true;
    } catch (error) {
      throw storeError(error, folderOf(name));
    } finally {
      lock.release();
    }
  }

  return { folder, list, find, install, verify, remove };
}

/** A model without a manifest was copied manually and is not replaced. */
function hasEncoder(
  { manifest }: StoredModel,
  model: KnownModel,
  encoder: InstallOptions["encoder"],
): boolean {
  if (typeof encoder !== "string" || manifest === null) return true;
  const installed = manifest.files.map(({ path }) => path);
  return withEncoder(model, encoder).files.every((path) => installed.includes(path));
}

/** Prefers the encoder of a partial download, so that it can be resumed. */
async function chooseEncoder(
  model: KnownModel,
  encoder: InstallOptions["encoder"],
  partialFolder: string,
): Promise<KnownModel> {
  if (typeof encoder !== "function") return encoder === undefined ? model : withEncoder(model, encoder);
  const partial = await readDownloadRecord(partialFolder);
  const variants = model.encoders.map((each) => withEncoder(model, each));
  const resumed = variants.find((variant) => partial !== null && describesModel(partial, variant));
  return resumed ?? withEncoder(model, await encoder(model));
}

async function findFolder(folder: string): Promise<FoundModel> {
  if (!(await isFolder(folder))) throw new SpeechError("model_not_found", `${folder} is not a folder.`);
  return { name: basename(folder), folder, manifest: await readManifest(folder) };
}

function isModelName(text: string): boolean {
  return NAME.test(text) && !text.endsWith(PARTIAL) && !text.endsWith(REMOVED) && !text.includes("..");
}

function requireName(text: string): void {
  if (isModelName(text)) return;
  throw new SpeechError(
    "model_not_found",
    `"${text}" is not the name of a model. Available models: ${namesOfKnown()}.`,
  );
}

function namesOfKnown(): string {
  return KNOWN_MODELS.map(({ name }) => name).join(", ");
}
