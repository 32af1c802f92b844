import { randomUUID } from "node:crypto";
import { readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { nullIfAbsent, sync, writeSynced } from "../../lib/files.ts";
import type { ObjectStore } from "../object-store.ts";

/** Location of a store, with the small files that identify its database. */
export interface StoreLocation {
  /** For messages: the location, and the setting that configures it. */
  name: string;
  setting: string;
  /** Returns null if the file does not exist. */
  read(file: string): Promise<string | null>;
  /** Replaces the file durably. */
  write(file: string, content: string): Promise<void>;
  remove(file: string): Promise<void>;
  containsFiles(): Promise<boolean>;
}

/** @param fileFolders the folders of uploads and transcripts */
export function diskLocation(dataFolder: string, fileFolders: string[]): StoreLocation {
  return {
    name: dataFolder,
    setting: "DATA_DIR",
    async read(file) {
      return await readFile(join(dataFolder, file), "utf8").catch(nullIfAbsent);
    },
    async write(file, content) {
      const unfinished = join(dataFolder, `${file}.${randomUUID()}`);
      await writeSynced(unfinished, content);
      await rename(unfinished, join(dataFolder, file));
      await sync(dataFolder);
    },
    async remove(file) {
      await rm(join(dataFolder, file), { force: true });
    },
    async containsFiles() {
      for (const folder of fileFolders) {
        const entries =
          (await readdir(folder, { recursive: true, withFileTypes: true }).catch(nullIfAbsent)) ?? [];
        if (entries.some((entry) => entry.isFile() && !entry.name.startsWith("."))) return true;
      }
      return false;
    },
  };
}

/** @param folders the key prefixes of uploads and transcripts */
export function bucketLocation(objects: ObjectStore, folders: string[]): StoreLocation {
  return {
    name: `the bucket ${objects.name}`,
    setting: objects.setting,
    async read(file) {
      return (await objects.head(file)) && (await buffer(await objects.get(file))).toString();
    },
    async write(file, content) {
      await objects.put(file, Buffer.from(content));
    },
    remove: (file) => objects.remove(file),
    async containsFiles() {
      for (const folder of folders) for await (const _found of objects.list(folder)) return true;
      return false;
    },
  };
}
