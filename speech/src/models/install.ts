import { lstat, rename, rm, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SpeechError } from "../errors.ts";
import type { KnownModel } from "./catalog.ts";
import { type ContentHash, hashFile } from "./content-hash.ts";
import { type DownloadContext, describeFile, downloadFile, SourceChanged } from "./download.ts";
import { makeFolders, storeError } from "./file-system.ts";
import {
  type DownloadRecord,
  MANIFEST_NAME,
  type Manifest,
  type ManifestFile,
  RECORD_NAME,
  readDownloadRecord,
  syncFolder,
  writeJson,
} from "./manifest.ts";

export type OnBytes = (receivedBytes: number, totalBytes: number | null) => void;

/** @throws SpeechError `model_unusable` if the model in the folder cannot be run; other errors say nothing about it */
export type TryModel = (folder: string, signal: AbortSignal) => Promise<void>;

/** Free disk space to leave for other parts of the service. */
const RESERVED_BYTES = 256 * 1024 ** 2;
/** A mirror may have other files than the hub, but not arbitrarily large ones. */
const MAX_TIMES_KNOWN_SIZE = 8;

/**
 * Downloads a model to `partialFolder`, resuming a partial download, verifies it, and moves it to `folder`. The caller
 * must hold the model's lock.
 *
 * @throws SpeechError `model_download_failed`, `model_corrupt`, `model_store_failed`; the error of `tryModel`
 */
export async function downloadModel(
  options: Omit<DownloadContext, "maxFileBytes">,
  model: KnownModel,
  { partialFolder, folder }: { partialFolder: string; folder: string },
  onBytes: OnBytes,
  { now, tryModel }: { now: () => Date; tryModel: TryModel | undefined },
): Promise<Manifest> {
  const context = { ...options, maxFileBytes: MAX_TIMES_KNOWN_SIZE * model.downloadBytes };
  await makeFolder(partialFolder);
  const files = await downloadFiles(context, model, partialFolder, onBytes);
  try {
    await tryModel?.(partialFolder, options.signal);
  } catch (error) {
    options.signal.throwIfAborted();
    // A resumed download would keep to the version in its record, so it would never get a corrected model.
    const isRejected = error instanceof SpeechError && error.code === "model_unusable";
    if (isRejected) await rm(partialFolder, { recursive: true, force: true });
    throw error;
  }
  const manifest: Manifest = {
    name: model.name,
    licence: model.license,
    source: files.source,
    files: files.done,
    installedAt: now().toISOString(),
  };
  try {
    await writeJson(join(partialFolder, MANIFEST_NAME), manifest);
    for (const inner of new Set(model.files.map((path) => dirname(path)))) {
      await syncFolder(join(partialFolder, inner));
    }
    await moveInto(partialFolder, folder);
    // Not before the move: without the record, the next attempt would discard the complete download.
    await rm(join(folder, RECORD_NAME));
  } catch (error) {
    throw storeError(error, folder);
  }
  return manifest;
}

async function downloadFiles(
  context: DownloadContext,
  model: KnownModel,
  partialFolder: string,
  onBytes: OnBytes,
): Promise<{ source: Manifest["source"]; done: ManifestFile[] }> {
  for (let startedOver = false; ; startedOver = true) {
    try {
      const record = await openRecord(context, model, partialFolder);
      await requireSpace(partialFolder, await missingBytes(record, partialFolder));
      const done: ManifestFile[] = [];
      for (const entry of record.files) {
        entry.done ??= await fetchEntry(context, record, entry, partialFolder, done, onBytes);
        done.push(entry.done);
        await writeRecord(partialFolder, record);
      }
      return { source: record.source, done };
    } catch (error) {
      if (!(error instanceof SourceChanged)) throw error;
      // The hub may no longer have the version of the partial download, so start over once.
      await rm(partialFolder, { recursive: true, force: true });
      if (startedOver) throw new SpeechError("model_download_failed", `${error.message}.`, { cause: error });
      await makeFolder(partialFolder);
    }
  }
}

/** Returns the stored record if a download is resumed, else requests the metadata of all files from the hub. */
async function openRecord(
  context: DownloadContext,
  model: KnownModel,
  partialFolder: string,
): Promise<DownloadRecord> {
  const earlier = await readDownloadRecord(partialFolder);
  if (earlier && describesModel(earlier, model)) {
    earlier.source.hub = context.hub.url;
    return earlier;
  }
  await rm(partialFolder, { recursive: true, force: true });
  await makeFolder(partialFolder);

  const { repository, revision } = model;
  const record: DownloadRecord = {
    source: { hub: context.hub.url, repository, revision, commit: null },
    files: [],
  };
  for (const path of model.files) {
    const from = record.source.commit ?? revision;
    const { commit, bytes, hash } = await describeFile(context, { repository, revision: from, path });
    if (record.files.length > 0 && commit !== record.source.commit) {
      throw new SourceChanged(`${context.hub.url} returned files from different commits`);
    }
    record.source.commit = commit;
    record.files.push({ path, bytes, hash, done: null });
  }
  await writeRecord(partialFolder, record);
  return record;
}

/** Returns whether the record is of this version and these files of the model. */
export function describesModel({ source, files }: DownloadRecord, model: KnownModel): boolean {
  return (
    source.repository === model.repository &&
    source.revision === model.revision &&
    files.map(({ path }) => path).join() === model.files.join()
  );
}

async function fetchEntry(
  context: DownloadContext,
  { source, files }: DownloadRecord,
  { path, bytes, hash }: DownloadRecord["files"][number],
  partialFolder: string,
  done: readonly ManifestFile[],
  onBytes: OnBytes,
): Promise<ManifestFile> {
  const before = done.reduce((sum, file) => sum + file.bytes, 0);
  const sizes = files.map((file) => file.done?.bytes ?? file.bytes);
  const total = sizes.some((size) => size === null)
    ? null
    : sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
  const target = join(partialFolder, path);
  const size = await downloadFile(
    context,
    { repository: source.repository, revision: source.commit ?? source.revision, path },
    target,
    { bytes, hash, commit: source.commit },
    (received) => onBytes(before + received, total),
  );
  return { path, bytes: size, ...(await checkHash(target, size, hash, source.hub, context.signal)) };
}

async function checkHash(
  path: string,
  bytes: number,
  stated: ContentHash | null,
  hub: string,
  signal: AbortSignal,
): Promise<{ hash: ContentHash; stated: boolean }> {
  const found = await hashFile(path, bytes, stated?.algorithm ?? "sha256", signal);
  if (stated === null) return { hash: found, stated: false };
  if (found.hex === stated.hex) return { hash: stated, stated: true };
  await rm(path, { force: true });
  throw new SpeechError(
    "model_corrupt",
    `${path} does not match the hash of ${hub} (${stated.algorithm} ${found.hex} instead of ${stated.hex}) and was removed.`,
  );
}

/** Readers see the previous model, briefly no model, then the complete new one. */
async function moveInto(partialFolder: string, folder: string): Promise<void> {
  const parent = dirname(folder);
  await setAside(folder);
  await rename(partialFolder, folder);
  await syncFolder(parent);
  await removeSetAside(folder);
}

/** Removes a model atomically by renaming it. A symbolic link is removed without its target. */
export async function setAside(folder: string): Promise<void> {
  await removeSetAside(folder);
  await rename(folder, `${folder}.removed`).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
}

export async function removeSetAside(folder: string): Promise<void> {
  await rm(`${folder}.removed`, { recursive: true, force: true });
}

/** Creates a folder. Replaces a symbolic link. */
async function makeFolder(folder: string): Promise<void> {
  try {
    if ((await lstat(folder).catch(() => null))?.isDirectory() === false) await rm(folder);
    await makeFolders(folder);
  } catch (error) {
    throw storeError(error, folder);
  }
}

async function writeRecord(partialFolder: string, record: DownloadRecord): Promise<void> {
  try {
    await writeJson(join(partialFolder, RECORD_NAME), record);
  } catch (error) {
    throw storeError(error, partialFolder);
  }
}

async function missingBytes({ files }: DownloadRecord, partialFolder: string): Promise<number> {
  let missing = 0;
  for (const { path, bytes, done } of files) {
    if (done !== null || bytes === null) continue;
    const present = (await stat(join(partialFolder, path)).catch(() => null))?.size ?? 0;
    missing += Math.max(0, bytes - present);
  }
  return missing;
}

async function requireSpace(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (bytes === 0 || free >= bytes + RESERVED_BYTES) return;
  const inMegabytes = (size: number) => `${Math.ceil(size / 1e6)} MB`;
  throw new SpeechError(
    "model_store_failed",
    `${folder} has ${inMegabytes(free)} free; ${inMegabytes(bytes)} and a reserve of ${inMegabytes(RESERVED_BYTES)} are required.`,
  );
}
