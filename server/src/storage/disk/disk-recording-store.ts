import { constants } from "node:fs";
import { copyFile, mkdir, opendir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../lib/errors.ts";
import { isAbsence, nullIfAbsent, sync, tryLink } from "../../lib/files.ts";
import { isPlausibleId } from "../../lib/ids.ts";
import type { RecordingStore } from "../recording-store.ts";
import { requireSpace } from "./disk-space.ts";
import {
  type AssertFolder,
  fileError,
  missingError,
  openLocalFile,
  probeFolder,
  unavailable,
} from "./local-file.ts";

/**
 * Opens a folder of recordings. The name of each file is the video's id, as in the tus file store.
 * @param assertAvailable throws if the folder cannot be read and written; writes a probe file by default
 */
export async function openDiskRecordingStore(
  folder: string,
  assertAvailable: AssertFolder = () => probeFolder(folder),
): Promise<RecordingStore> {
  await mkdir(folder, { recursive: true, mode: 0o700 });

  const attempt = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw isAbsence(error)
        ? await missingError(error, assertAvailable)
        : await fileError(error, assertAvailable);
    }
  };

  const pathOf = (videoId: string): string => {
    if (!isPlausibleId(videoId)) throw new AppError("storage_object_missing", "No recording has this ID.");
    return join(folder, videoId);
  };

  return {
    async open(videoId) {
      const path = pathOf(videoId);
      // Opens the file once, because to the decoder an unreadable file would look like a damaged recording.
      await (await openLocalFile(path, assertAvailable)).close();
      return { path, release: async () => {} };
    },

    openFile: async (videoId) => await openLocalFile(pathOf(videoId), assertAvailable),

    presign: async () => null,

    async inspect(videoId) {
      const path = pathOf(videoId);
      const found = await attempt(() => stat(path).catch(nullIfAbsent));
      return found && { sizeBytes: found.size };
    },

    async copy(videoId, newVideoId) {
      const from = pathOf(videoId);
      const to = pathOf(newVideoId);
      await attempt(async () => {
        // A client that requested the upload's offset may have created an empty file.
        await rm(to, { force: true });
        // A complete recording never changes, so both videos can share its bytes.
        if (await tryLink(from, to)) return;
        await requireSpace(folder, (await stat(from)).size);
        await copyFile(from, to, constants.COPYFILE_FICLONE);
      });
    },

    async sync(videoId) {
      for (const path of [pathOf(videoId), folder]) {
        await attempt(() => sync(path));
      }
    },

    async remove(videoId) {
      const path = pathOf(videoId);
      await attempt(() => rm(path, { force: true }));
    },

    async *list() {
      const entries = await opendir(folder).catch((error) => {
        throw unavailable(error);
      });
      for await (const entry of entries) if (entry.isFile() && isPlausibleId(entry.name)) yield entry.name;
    },
  };
}
