import { open, readFile, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type ContentHash, isContentHash } from "./content-hash.ts";

export interface ModelSource {
  hub: string;
  repository: string;
  revision: string;
  /** The commit of the revision; null if the hub did not report it. */
  commit: string | null;
}

export interface ManifestFile {
  path: string;
  bytes: number;
  hash: ContentHash;
  /** True if the hub reported this hash and the content matched. Otherwise it was computed from the content. */
  stated: boolean;
}

/** `model.json` in the folder of an installed model. */
export interface Manifest {
  name: string;
  /** British spelling for compatibility with existing files. */
  licence: string;
  source: ModelSource;
  files: ManifestFile[];
  /** ISO 8601. */
  installedAt: string;
}

/** `download.json` in the folder of a partial download. `done` is null for files that are not complete. */
export interface DownloadRecord {
  source: ModelSource;
  files: { path: string; bytes: number | null; hash: ContentHash | null; done: ManifestFile | null }[];
}

export const MANIFEST_NAME = "model.json";
export const RECORD_NAME = "download.json";

/** Returns null if the file is missing or invalid. */
export async function readManifest(folder: string): Promise<Manifest | null> {
  const value = await readJson(join(folder, MANIFEST_NAME));
  if (!isRecord(value) || !isSource(value.source) || !Array.isArray(value.files)) return null;
  const { name, licence, source, files, installedAt } = value;
  if (typeof name !== "string" || typeof licence !== "string" || typeof installedAt !== "string") return null;
  if (files.length === 0 || !files.every(isManifestFile)) return null;
  return { name, licence, source, files, installedAt };
}

/** Returns null if the file is missing or invalid. */
export async function readDownloadRecord(folder: string): Promise<DownloadRecord | null> {
  const value = await readJson(join(folder, RECORD_NAME));
  if (!isRecord(value) || !isSource(value.source) || !Array.isArray(value.files)) return null;
  const usable = value.files.every(
    (file: unknown) =>
      isRecord(file) &&
      isSafePath(file.path) &&
      (file.bytes === null || isSize(file.bytes)) &&
      (file.hash === null || isContentHash(file.hash)) &&
      (file.done === null || isManifestFile(file.done)),
  );
  return usable ? { source: value.source, files: value.files } : null;
}

/** Writes JSON atomically and durably. */
export async function writeJson(path: string, value: object): Promise<void> {
  const temporary = `${path}.new`;
  const handle = await open(temporary, "w", 0o644);
  try {
    await handle.writeFile(`${JSON.stringify(value, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, path);
  await syncFolder(dirname(path));
}

/** Flushes directory entries to disk. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Returns whether the path is relative and inside its folder. */
export function isSafePath(path: unknown): path is string {
  if (typeof path !== "string" || path.length > 512) return false;
  return path.split("/").every((part) => /^[A-Za-z0-9_.-]+$/.test(part) && part !== "." && part !== "..");
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch {
    return null;
  }
}

function isSource(value: unknown): value is ModelSource {
  if (!isRecord(value)) return false;
  const { hub, repository, revision, commit } = value;
  const texts = [hub, repository, revision].every((each) => typeof each === "string");
  return texts && (commit === null || typeof commit === "string");
}

function isManifestFile(value: unknown): value is ManifestFile {
  if (!isRecord(value)) return false;
  const { path, bytes, hash, stated } = value;
  return isSafePath(path) && isSize(bytes) && isContentHash(hash) && typeof stated === "boolean";
}

function isSize(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
