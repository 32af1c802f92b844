import { link, mkdir, open, opendir, stat, unlink } from "node:fs/promises";
import { dirname, join, sep } from "node:path";

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}

/**
 * Checks whether an error means that a file does not exist. ENOTDIR means that a parent is a file, below which nothing
 * can exist.
 */
export function isAbsence(error: unknown): boolean {
  const code = codeOf(error);
  return code === "ENOENT" || code === "ENOTDIR";
}

/** Use as `.catch(nullIfAbsent)`: returns null if the file does not exist, and rethrows any other error. */
export function nullIfAbsent(error: unknown): null {
  if (isAbsence(error)) return null;
  throw error;
}

/** Returns whether a path is the folder or below it. Both are absolute, without `..`. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder + sep);
}

/**
 * Creates a folder and its parents, readable only by this user. Fails where folders cannot be created, such as in
 * `/proc`, where a recursive `mkdir` would retry forever.
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    const code = codeOf(error);
    if (code === "EEXIST" && (await stat(path)).isDirectory()) return;
    if (code !== "ENOENT" || (await exists(dirname(path)))) throw error;
    await makeFolder(dirname(path));
    await makeFolder(path);
  }
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}

/** Error codes that mean that hard links are not supported, or not between these two paths. */
const LINK_UNSUPPORTED_CODES = new Set(["EXDEV", "EPERM", "ENOTSUP", "EOPNOTSUPP", "EMLINK", "ENOSYS"]);

/** Returns false if the file system cannot create the link. */
export async function tryLink(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (LINK_UNSUPPORTED_CODES.has(codeOf(error) ?? "")) return false;
    throw error;
  }
}

/** Writes a new file and syncs its content. Sync its folder too, so that the file itself survives a power loss. */
export async function writeSynced(path: string, content: string | Uint8Array): Promise<void> {
  const handle = await open(path, "wx", 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } catch (error) {
    await unlink(path).catch(nullIfAbsent);
    throw error;
  } finally {
    await handle.close();
  }
}

/** Syncs a file or folder. */
export async function sync(path: string): Promise<void> {
  await using handle = await open(path, "r");
  await handle.sync();
}

/**
 * Yields the relative paths of all files and symbolic links below a folder, with `/`. Ignores folders that do not exist or
 * disappear.
 */
export async function* walk(folder: string, below = ""): AsyncGenerator<string> {
  try {
    for await (const entry of await opendir(join(folder, below))) {
      if (entry.isDirectory()) yield* walk(folder, `${below}${entry.name}/`);
      else if (entry.isFile() || entry.isSymbolicLink()) yield `${below}${entry.name}`;
    }
  } catch (error) {
    if (!isAbsence(error)) throw error;
  }
}

/** Returns the total size of all files below a folder, in bytes. */
export async function sizeOf(folder: string): Promise<number> {
  let bytes = 0;
  for await (const path of walk(folder))
    bytes += (await stat(join(folder, path)).catch(nullIfAbsent))?.size ?? 0;
  return bytes;
}
