import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import type { Db } from "./db/schema.ts";
import { serviceSecret } from "./db/secrets.ts";
import { AppError } from "./errors.ts";
import type { Bucket } from "./storage/bucket.ts";

const MARK = "installation";

/** Where files are kept, and which database they belong to. */
export interface InstallationPlace {
  /** For people: where it is, and the setting that says so. */
  name: string;
  setting: string;
  /** The mark of the database; null where there is none yet. */
  read(): Promise<string | null>;
  write(mark: string): Promise<void>;
  holdsFiles(): Promise<boolean>;
}

/**
 * Makes sure that the files and the database belong together: a database that does not know the files would
 * take every one of them for a stray, one whose files are elsewhere can not use them. Processes that start at
 * once write the same mark.
 * @throws AppError `data_folder_mismatch`
 */
export async function matchInstallation(db: Db, place: InstallationPlace): Promise<void> {
  const ofDatabase = (await serviceSecret(db, "installation")).toString("base64url");
  const ofPlace = (await place.read())?.trim() ?? null;
  if (ofPlace === ofDatabase) return;
  if (ofPlace !== null || (await place.holdsFiles()) || (await knowsVideos(db))) {
    throw new AppError(
      "data_folder_mismatch",
      `The files in ${place.name} belong to another database than the one that is configured. ` +
        `Point ${place.setting} and DATABASE_URL at the two that were used together.`,
    );
  }
  await place.write(`${ofDatabase}\n`);
}

/** @param fileFolders of the data folder, that hold uploads and transcripts */
export function placeOnDisk(dataFolder: string, fileFolders: string[]): InstallationPlace {
  const path = join(dataFolder, MARK);
  return {
    name: dataFolder,
    setting: "DATA_DIR",
    async read() {
      return await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return null;
        throw error;
      });
    },
    async write(mark) {
      await writeFile(path, mark, { mode: 0o600 });
    },
    async holdsFiles() {
      for (const folder of fileFolders) {
        const entries = await readdir(folder, { recursive: true, withFileTypes: true });
        if (entries.some((entry) => entry.isFile() && !entry.name.startsWith("."))) return true;
      }
      return false;
    },
  };
}

/** @param folders keys that what the service keeps begins with */
export function placeInBucket(bucket: Bucket, folders: string[]): InstallationPlace {
  return {
    name: `the bucket ${bucket.name}`,
    setting: "S3_BUCKET",
    async read() {
      return (await bucket.head(MARK)) && (await buffer(await bucket.get(MARK))).toString();
    },
    async write(mark) {
      await bucket.put(MARK, Buffer.from(mark));
    },
    async holdsFiles() {
      for (const folder of folders) for await (const _found of bucket.list(folder)) return true;
      return false;
    },
  };
}

async function knowsVideos(db: Db): Promise<boolean> {
  return (await db.selectFrom("video").select("id").limit(1).executeTakeFirst()) !== undefined;
}
