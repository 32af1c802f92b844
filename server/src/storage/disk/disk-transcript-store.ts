import { createSecretKey, randomUUID } from "node:crypto";
import { mkdir, readdir, rename, rmdir, stat, unlink } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { codeOf, isAbsence, nullIfAbsent, sync, walk, writeSynced } from "../../lib/files.ts";
import { safeFileName } from "../content-disposition.ts";
import { assertStorageKey, assertStoragePrefix, isStorageKey } from "../key.ts";
import type { PresignedUrl, PresignOptions, TranscriptStore } from "../transcript-store.ts";
import { formatFileUrl } from "./file-url.ts";
import {
  type AssertFolder,
  fileError,
  type OpenedFile,
  openLocalFile,
  probeFolder,
  unavailable,
} from "./local-file.ts";

export interface FileReader {
  /** @throws AppError `storage_object_missing`, or the error that `fileError` returns */
  openFile(key: string): Promise<OpenedFile>;
}

export interface DiskTranscriptStore extends TranscriptStore, FileReader {}

export interface DiskTranscriptStoreOptions {
  /** Created if it does not exist. */
  folder: string;
  /** The service's public URL, such as `https://captions.example.com`. */
  baseUrl: string;
  /** Signs file URLs. At least 32 bytes; the same after a restart, so that the URLs stay valid. */
  secret: Uint8Array;
  /** Throws if the folder cannot be read and written. Writes a probe file by default. */
  assertAvailable?: AssertFolder;
}

/**
 * Keys cannot contain `~`, so a temporary file is never mistaken for an object. The folder also shows that the disk is
 * mounted.
 */
export const UNFINISHED_FOLDER = "~unfinished";
/** Older temporary files are leftovers of a crash. Another process may still write younger ones. */
const UNFINISHED_MAX_AGE_MS = 10 * 60_000;
/** Limits retries. A retry is necessary if a concurrent removal deletes the empty folder before it contains the file. */
const MAX_RENAME_TRIES = 100;

/** Stores objects in a folder, in files with their keys as names. */
export async function openDiskTranscriptStore(
  options: DiskTranscriptStoreOptions,
): Promise<DiskTranscriptStore> {
  const folder = resolve(options.folder);
  const baseUrl = options.baseUrl.replace(/\/+$/, "");
  if (options.secret.length < 32) throw new TypeError("the secret for file URLs needs at least 32 bytes");
  const secret = createSecretKey(options.secret);
  const unfinishedFolder = join(folder, UNFINISHED_FOLDER);
  try {
    await mkdir(unfinishedFolder, { recursive: true, mode: 0o700 });
    await sweepUnfinished(unfinishedFolder);
  } catch (error) {
    throw unavailable(error);
  }

  const { assertAvailable = () => probeFolder(unfinishedFolder) } = options;

  const pathOf = (key: string) => {
    assertStorageKey(key);
    return join(folder, key);
  };

  const openFile = (key: string): Promise<OpenedFile> => openLocalFile(pathOf(key), assertAvailable);

  return {
    openFile,

    async put(key, content) {
      const path = pathOf(key);
      try {
        const unfinished = join(unfinishedFolder, randomUUID());
        await writeSynced(unfinished, content);
        try {
          await renameInto(unfinished, path);
        } catch (error) {
          await unlink(unfinished).catch(nullIfAbsent);
          throw error;
        }
        // Sync all parent folders, because this call or a concurrent one may have created them. A folder is missing if
        // the object was removed right after it was written.
        for (let at = dirname(path); at.length >= folder.length; at = dirname(at)) {
          await sync(at).catch(nullIfAbsent);
        }
      } catch (error) {
        throw await fileError(error, assertAvailable);
      }
    },

    async read(key) {
      const file = await openFile(key);
      return file.stream({ start: 0, end: Number.POSITIVE_INFINITY });
    },

    async inspect(key) {
      try {
        const stats = await stat(pathOf(key));
        return stats.isFile() ? { sizeBytes: stats.size } : null;
      } catch (error) {
        if (isAbsence(error)) return null;
        throw unavailable(error);
      }
    },

    async remove(key) {
      const path = pathOf(key);
      try {
        await unlink(path).catch(nullIfAbsent);
        for (let at = dirname(path); at.length > folder.length; at = dirname(at)) {
          if (!(await removeFolderIfEmpty(at))) break;
        }
      } catch (error) {
        throw await fileError(error, assertAvailable);
      }
    },

    async *list(prefix) {
      assertStoragePrefix(prefix);
      const inFolder = prefix.slice(0, prefix.lastIndexOf("/") + 1);
      try {
        for await (const name of walk(join(folder, inFolder))) {
          const key = inFolder + name;
          if (key.startsWith(prefix) && isStorageKey(key)) yield key;
        }
      } catch (error) {
        throw unavailable(error);
      }
    },

    async presign(key, presign: PresignOptions): Promise<PresignedUrl> {
      assertStorageKey(key);
      // Rounded up, so that the URL never expires early.
      const expires = Math.ceil(presign.now.getTime() / 1000) + presign.lifetimeSeconds;
      const claims = {
        key,
        expires: String(expires),
        fileName: safeFileName(presign.fileName),
        contentType: presign.contentType,
      };
      return {
        url: `${baseUrl}/files/${formatFileUrl(claims, secret)}`,
        expiresAt: new Date(expires * 1000),
      };
    },

    async check() {
      try {
        await probeFolder(unfinishedFolder);
      } catch (error) {
        throw unavailable(error);
      }
    },
  };
}

/** Creates the folder and moves the file. Retries if a concurrent removal deletes the empty folder in between. */
async function renameInto(from: string, to: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await mkdir(dirname(to), { recursive: true, mode: 0o700 });
      await rename(from, to);
      return;
    } catch (error) {
      if (codeOf(error) !== "ENOENT" || tries === MAX_RENAME_TRIES) throw error;
    }
  }
}

/** Returns false if the folder is not empty. */
async function removeFolderIfEmpty(folder: string): Promise<boolean> {
  try {
    await rmdir(folder);
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOTEMPTY" || code === "EEXIST") return false;
    if (!isAbsence(error)) throw error;
  }
  return true;
}

async function sweepUnfinished(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    try {
      const { mtimeMs } = await stat(path);
      if (Date.now() - mtimeMs > UNFINISHED_MAX_AGE_MS) await unlink(path);
    } catch (error) {
      if (!isAbsence(error)) throw error;
    }
  }
}
