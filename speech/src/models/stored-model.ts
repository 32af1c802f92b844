import { statSync } from "node:fs";
import { lstat, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { MANIFEST_NAME, type Manifest, readDownloadRecord, readManifest } from "./manifest.ts";

/** A model that lies in the store, whole or not. */
export interface StoredModel {
  name: string;
  /** Absolute path. */
  folder: string;
  /** `damaged`: a file is missing or of another size than it was installed with. */
  state: "installed" | "partial" | "damaged";
  /** What lies on the disk. */
  bytes: number;
  /** What a whole download comes to; null where that is not known. */
  totalBytes: number | null;
  /** Null for a folder that was put there by hand. */
  manifest: Manifest | null;
  /** What is wrong, a line each; empty where nothing is. */
  damage: string[];
}

/** Behind the name of a model's folder: where it is downloaded to. */
export const PARTIAL = ".partial";

/** Null where nothing lies there that could be a model. */
export async function lookAtInstalled(name: string, folder: string): Promise<StoredModel | null> {
  if (!(await isFolder(folder))) return null;
  const manifest = await readManifest(folder);
  if (manifest === null) return await lookAtUnknown(name, folder);
  const damage = await Promise.all(manifest.files.map(({ path, bytes }) => wrongSize(folder, path, bytes)));
  const told = damage.filter((line) => line !== null);
  const totalBytes = manifest.files.reduce((sum, { bytes }) => sum + bytes, 0);
  const bytes = told.length === 0 ? totalBytes : await sizeOfFolder(folder);
  return {
    name,
    folder,
    state: told.length ? "damaged" : "installed",
    bytes,
    totalBytes,
    manifest,
    damage: told,
  };
}

/** A folder that was put there by hand has no manifest; one whose manifest can not be read is damaged. */
async function lookAtUnknown(name: string, folder: string): Promise<StoredModel | null> {
  const unreadable = await exists(join(folder, MANIFEST_NAME));
  if (!unreadable && !(await exists(join(folder, "config.json")))) return null;
  const bytes = await sizeOfFolder(folder);
  const damage = unreadable ? [`${MANIFEST_NAME} can not be read.`] : [];
  return {
    name,
    folder,
    state: unreadable ? "damaged" : "installed",
    bytes,
    totalBytes: null,
    manifest: null,
    damage,
  };
}

export async function lookAtPartial(name: string, installedFolder: string): Promise<StoredModel | null> {
  const folder = installedFolder + PARTIAL;
  if (!(await isFolder(folder))) return null;
  const record = await readDownloadRecord(folder);
  const sizes = record?.files.map((file) => file.done?.bytes ?? file.bytes) ?? [null];
  const totalBytes = sizes.reduce<number | null>(
    (sum, size) => (sum === null || size === null ? null : sum + size),
    0,
  );
  let bytes = 0;
  for (const { path } of record?.files ?? []) bytes += await sizeOfFile(join(folder, path));
  return { name, folder, state: "partial", bytes, totalBytes, manifest: null, damage: [] };
}

/** Null where the file is there and of this size. */
export async function wrongSize(folder: string, path: string, bytes: number): Promise<string | null> {
  const found = await stat(join(folder, path)).catch(() => null);
  if (found === null) return `${path} is missing.`;
  return found.size === bytes ? null : `${path} has ${found.size} bytes instead of ${bytes}.`;
}

/** At once, for who is about to open it: whether the files are there and of the sizes that they were installed with. */
export function isStillThere({ folder, manifest }: Pick<StoredModel, "folder" | "manifest">): boolean {
  const stats = (path: string) => statSync(path, { throwIfNoEntry: false });
  try {
    if (manifest === null) return stats(folder)?.isDirectory() ?? false;
    return manifest.files.every(({ path, bytes }) => stats(join(folder, path))?.size === bytes);
  } catch {
    return false;
  }
}

export async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() ?? false;
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null)) !== null;
}

async function sizeOfFile(path: string): Promise<number> {
  const found = await stat(path).catch(() => null);
  return found?.isFile() ? found.size : 0;
}

async function sizeOfFolder(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const sizes = await Promise.all(names.map((name) => sizeOfFile(join(folder, name))));
  return sizes.reduce((sum, size) => sum + size, 0);
}
