import type { Stats } from "node:fs";
import { lstat, opendir } from "node:fs/promises";
import { join } from "node:path";

/** Checking more entries would take minutes. */
const MAX_ENTRIES = 100_000;
const OTHERS = 0o007;
const GROUP_AND_OTHERS = 0o077;
const SET_GROUP_ID = 0o2000;

export interface FileAccess {
  /** The user that should own everything in the folder. */
  uid: number;
  /** Entries that other users can read or write. */
  exposed: string[];
  /** Entries that belong to another user. */
  foreign: string[];
}

/**
 * Finds files and folders that other users can access or that belong to another user. Symbolic links are not followed.
 */
export async function inspectFileAccess(folder: string): Promise<FileAccess> {
  const root = await lstat(folder);
  const user = process.geteuid?.() ?? root.uid;
  const uid = user === 0 ? root.uid : user;
  // With `fsGroup`, Kubernetes grants a group of the pod access to the volume and sets the set-group-ID bit.
  const denied = root.mode & SET_GROUP_ID ? OTHERS : GROUP_AND_OTHERS;
  const found: FileAccess = { uid, exposed: [], foreign: [] };
  const inspect = (path: string, stats: Stats) => {
    if (stats.isSymbolicLink()) return;
    if (stats.uid !== uid) found.foreign.push(path);
    else if (stats.mode & denied) found.exposed.push(path);
  };
  // The folder itself may be a mount point that belongs to root.
  if (root.uid === uid) inspect(folder, root);
  let count = 0;
  for await (const path of walk(folder)) {
    const stats = await lstat(path).catch(nullIfInaccessible);
    if (stats) inspect(path, stats);
    count += 1;
    if (count === MAX_ENTRIES) break;
  }
  return found;
}

async function* walk(folder: string): AsyncGenerator<string> {
  const entries = await opendir(folder).catch(nullIfInaccessible);
  if (!entries) return;
  for await (const entry of entries) {
    if (entry.name === "lost+found") continue;
    const path = join(folder, entry.name);
    yield path;
    if (entry.isDirectory()) yield* walk(path);
  }
}

/** Files may disappear while the service runs. Folders of another user may be unreadable, but are already reported. */
function nullIfInaccessible(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT" || error.code === "EACCES") return null;
  throw error;
}
