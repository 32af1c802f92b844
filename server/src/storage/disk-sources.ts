import { access, mkdir, open, opendir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../errors.ts";
import { isPlausibleId } from "../ids.ts";
import { openLocalFile } from "./local-file.ts";
import type { Sources } from "./sources.ts";

/** Recordings in one folder, each file named after its video, as the tus file store writes them. */
export async function openDiskSources(folder: string): Promise<Sources> {
  await mkdir(folder, { recursive: true, mode: 0o700 });

  const pathOf = (videoId: string): string => {
    if (!isPlausibleId(videoId)) throw new AppError("storage_object_missing", "There is no such recording.");
    return join(folder, videoId);
  };

  return {
    async open(videoId) {
      const path = pathOf(videoId);
      await access(path).catch((error) => {
        throw new AppError("storage_object_missing", "The uploaded recording is missing.", { cause: error });
      });
      return { path, release: async () => {} };
    },

    openFile: async (videoId) => await openLocalFile(pathOf(videoId)),

    presign: async () => null,

    async inspect(videoId) {
      const found = await stat(pathOf(videoId)).catch(nullWhereMissing);
      return found && { sizeBytes: found.size, writtenAt: found.mtime };
    },

    async sync(videoId) {
      for (const path of [pathOf(videoId), folder]) {
        const handle = await open(path, "r");
        try {
          await handle.sync();
        } finally {
          await handle.close();
        }
      }
    },

    async remove(videoId) {
      await rm(pathOf(videoId), { force: true });
    },

    async *list() {
      for await (const entry of await opendir(folder))
        if (entry.isFile() && isPlausibleId(entry.name)) yield entry.name;
    },
  };
}

function nullWhereMissing(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT") return null;
  throw error;
}
