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

/** Called with the received and the total bytes of the model. */
export type OnBytes = (receivedBytes: number, totalBytes: number | null) => void;

/** Free space to leave on the disk for other parts of the service. */
const RESERVED_BYTES = 256 * 1024 ** 2;
/** A mirror may have other files than those of the known size, but not arbitrarily large ones. */
const MAX_TIMES_KNOWN_SIZE = 8;

/**
 * Downloads a model to `partialFolder`, resuming earlier attempts, verifies it and moves it to `folder` in
 * one step. The caller holds the model's lock.
 *
 * @throws SpeechError `model_download_failed`, `model_corrupt`, `model_store_failed`
 */
export async function downloadModel(
  options: Omit<DownloadContext, "maxFileBytes">,
  model: KnownModel,
  { partialFolder, folder }: { partialFolder: string; folder: string },
  onBytes: OnBytes,
  now: () => Date,
): Promise<Manifest> {
  const context = { ...options, maxFileBytes: MAX_TIMES_KNOWN_SIZE * model.downloadBytes };
  await makeFolder(partialFolder);
  const files = await collect(context, model, partialFolder, onBytes);
  const manifest: Manifest = {
    name: model.name,
    licence: model.license,
    source: files.source,
    files: files.done,
    installedAt: now().toISOString(),
  };
  try {
    await writeJson(join(partialFolder, MANIFEST_NAME), manifest);
    await rm(join(partialFolder, RECORD_NAME));
    for (const inner of new Set(model.files.map((path) => dirname(path)))) {
      await syncFolder(join(partialFolder, inner));
    }
    await moveInto(partialFolder, folder);
  } catch (error) {
    throw storeError(error, folder);
  }
  return manifest;
}

/** Downloads and verifies all files of the model. */
async function collect(
  context: DownloadContext,
  model: KnownModel,
  partialFolder: string,
  onBytes: OnBytes,
): Promise<{ source: Manifest["source"]; done: ManifestFile[] }> {
  for (let startedOver = false; ; startedOver = true) {
    try {
      const record = await describe(context, model, partialFolder);
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
      // The hub may no longer have the older version of the partial download; start over once.
      await rm(partialFolder, { recursive: true, force: true });
      if (startedOver) throw new SpeechError("model_download_failed", `${error.message}.`, { cause: error });
      await makeFolder(partialFolder);
    }
  }
}

/** The hub's description of each file, all of one commit; the stored one if a download is resumed. */
async function describe(
  context: DownloadContext,
  model: KnownModel,
  partialFolder: string,
): Promise<DownloadRecord> {
  const earlier = await readDownloadRecord(partialFolder);
  if (earlier && isOf(earlier, model)) {
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
      throw new SourceChanged(`${context.hub.url} gives files of one model from several commits`);
    }
    record.source.commit = commit;
    record.files.push({ path, bytes, hash, done: null });
  }
  await writeRecord(partialFolder, record);
  return record;
}

function isOf({ source, files }: DownloadRecord, model: KnownModel): boolean {
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
  const arrived = await downloadFile(
    context,
    { repository: source.repository, revision: source.commit ?? source.revision, path },
    target,
    { bytes, hash, commit: source.commit },
    (received) => onBytes(before + received, total),
  );
  return { path, bytes: arrived, ...(await checkedHash(target, arrived, hash, source.hub, context.signal)) };
}

async function checkedHash(
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
    `${path} is not what ${hub} says it is (${stated.algorithm} ${found.hex} instead of ${stated.hex}) and was removed.`,
  );
}

/** Readers see the previous model, for a moment none, then the complete new one. */
async function moveInto(partialFolder: string, folder: string): Promise<void> {
  const parent = dirname(folder);
  await setAside(folder);
  await rename(partialFolder, folder);
  await syncFolder(parent);
  await removeSetAside(folder);
}

/** Removes a model in one step; of a link, only the link. */
export async function setAside(folder: string): Promise<void> {
  await removeSetAside(folder);
  await rename(folder, `${folder}.removed`).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
}

export async function removeSetAside(folder: string): Promise<void> {
  await rm(`${folder}.removed`, { recursive: true, force: true });
}

/** Creates a real folder, replacing a link. */
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
    const there = (await stat(join(partialFolder, path)).catch(() => null))?.size ?? 0;
    missing += Math.max(0, bytes - there);
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
    `${folder} has ${inMegabytes(free)} free; ${inMegabytes(bytes)} and a reserve of ${inMegabytes(RESERVED_BYTES)} are needed.`,
  );
}
