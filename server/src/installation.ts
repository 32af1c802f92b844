import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Db } from "./db/schema.ts";
import { serviceSecret } from "./db/secrets.ts";
import { AppError } from "./errors.ts";

/**
 * Makes sure that the files of the data folder and the database belong together: a database that does not
 * know the files would take every one of them for a stray, one whose files are elsewhere can not use them.
 * @param fileFolders of the data folder, that hold uploads and transcripts
 * @throws AppError `data_folder_mismatch`
 */
export async function matchInstallation(db: Db, dataFolder: string, fileFolders: string[]): Promise<void> {
  const ofDatabase = (await serviceSecret(db, "installation")).toString("base64url");
  const path = join(dataFolder, "installation");
  const ofFolder = await readFile(path, "utf8").then(
    (text) => text.trim(),
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return null;
      throw error;
    },
  );
  if (ofFolder === ofDatabase) return;
  if (ofFolder !== null || (await holdFiles(fileFolders)) || (await knowsVideos(db))) {
    throw new AppError(
      "data_folder_mismatch",
      `The files in ${dataFolder} belong to another database than the one that is configured. ` +
        "Point DATA_DIR and DATABASE_URL at the two that were used together.",
    );
  }
  await writeFile(path, `${ofDatabase}\n`, { mode: 0o600 });
}

async function holdFiles(folders: string[]): Promise<boolean> {
  for (const folder of folders) {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    if (entries.some((entry) => entry.isFile() && !entry.name.startsWith("."))) return true;
  }
  return false;
}

async function knowsVideos(db: Db): Promise<boolean> {
  return (await db.selectFrom("video").select("id").limit(1).executeTakeFirst()) !== undefined;
}
