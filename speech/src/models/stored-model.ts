import { statSync } from "node:fs";
import { lstat, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { isFolder } from "./file-system.ts";
import { MANIFEST_NAME, type Manifest, readDownloadRecord, readManifest } from "./manifest.ts";

/** A complete or partial model in the store. */
export interface StoredModel {
  name: string;
  /** Absolute path. */
  folder: string;
  /** `damaged`: a file is missing or has the wrong size, or the manifest is unreadable. */
  state: "installed" | "partial" | "damaged";
  /** Bytes on disk. */
  bytes: number;
  /** Size of the complete model; null if unknown. */
  totalBytes: number | null;
  /** Null for a folder that was copied manually. */
  manifest: Manifest | null;
  /** A line for each problem. */
  damage: string[];
}

export const PARTIAL = ".partial";

/** Returns null if there is no model. */
export async function inspectInstalled(name: string, folder: string): Promise<StoredModel | null> {
  if (!(await isFolder(folder))) return null;
  const manifest = await readManifest(folder);
  if (manifest === null) return await inspectUnknown(name, folder);
  const damage = await Promise.all(manifest.files.map(({ path, bytes }) => wrongSize(folder, path, bytes)));
  const damaged = damage.filter((line) => line !== null);
  const totalBytes = manifest.files.reduce((sum, { bytes }) => sum + bytes, 0);
  const bytes = damaged.length === 0 ? totalBytes : await sizeOfFolder(folder);
  return {
    name,
    folder,
    state: damaged.length ? "damaged" : "installed",
    bytes,
    totalBytes,
    manifest,
    damage: damaged,
  };
}

/** A folder that was copied manually has no manifest. An unreadable manifest means damage. */
async function inspectUnknown(name: string, folder: string): Promise<StoredModel | null> {
  const unreadable = await exists(join(folder, MANIFEST_NAME));
  if (!unreadable && !(await exists(join(folder, "config.json")))) return null;
  const bytes = await sizeOfFolder(folder);
  const damage = unreadable ? [`${MANIFEST_NAME} cannot be read.`] : [];
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

export async function inspectPartial(name: string, installedFolder: string): Promise<StoredModel | null> {
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

/** Returns null if the file exists and has this size. */
export async function wrongSize(folder: string, path: string, bytes: number): Promise<string | null> {
  const found = await stat(join(folder, path)).catch(() => null);
  if (found === null) return `${path} is missing.`;
  return found.size === bytes ? null : `${path} has ${found.size} bytes instead of ${bytes}.`;
}

export function isStillThere({ folder, manifest }: Pick<StoredModel, "folder" | "manifest">): boolean {
  const stats = (path: string) => statSync(path, { throwIfNoEntry: false });
  try {
    if (manifest === null) return stats(folder)?.isDirectory() ?? false;
    return manifest.files.every(({ path, bytes }) => stats(join(folder, path))?.size === bytes);
  } catch {
    return false;
  }
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
