import type { Logger } from "pino";
import type { Db } from "../../db/schema.ts";
import { serviceSecret } from "../../db/secrets.ts";
import { AppError } from "../../lib/errors.ts";
import {
  deleteStoreRecord,
  insertStoreRecord,
  isSameHome,
  readStoreRecord,
  restartUploadExpiry,
} from "./queries.ts";
import { MARK_FILE, newMark, newToken, readMark, writeMark } from "./store-mark.ts";
import type { StorePlace } from "./store-place.ts";

/** The file that contains the database's `installation`, in every store that the database has used. */
export const INSTALLATION = "installation";

export interface ClaimDeps {
  db: Db;
  place: StorePlace;
  /** Where the database is; see `databaseHome`. */
  home: string;
  log: Logger;
}

/**
 * Ensures that the store and the database belong together. At the first start, makes each identify the other: first in
 * the store's files, then in the database, which decides. So the next start repairs a crash at any line, and of two
 * processes with different stores, one is refused. A copy of a database gets a new identity, so that it cannot delete
 * files of the original's store.
 *
 * @throws AppError `data_folder_mismatch`
 */
export async function claimStore({ db, place, home, log }: ClaimDeps): Promise<void> {
  const known = await readStoreRecord(db);
  if (known && !isSameHome(known.home, home)) {
    log.warn("this database was copied, restored or moved, and gets a new identity");
    await deleteStoreRecord(db);
  }
  const written: string[] = [];
  try {
    if (!(await checkStore(db, place))) {
      const installation = (await serviceSecret(db, "installation")).toString("base64url");
      await place.write(INSTALLATION, `${installation}\n`);
      written.push(INSTALLATION);
    }
    const record = await readStoreRecord(db);
    let mark = await readMark(place);
    if (record) {
      if (mark?.store !== record.store_id) throw otherStore(place);
      return;
    }
    if (!mark) {
      mark = newMark();
      await writeMark(place, mark);
      written.push(MARK_FILE);
    }
    await restartUploadExpiry(db);
    // After the first generation, another database or a newer state of this one has claimed the store.
    const isOwn = mark.generation === 0;
    const inserted = await insertStoreRecord(db, {
      storeId: mark.store,
      owner: isOwn ? mark.owner : newToken(),
      home,
      generation: 0,
      token: isOwn ? mark.token : newToken(),
    });
    if (inserted.store_id !== mark.store) throw otherStore(place);
  } catch (error) {
    for (const file of written) await place.remove(file);
    throw error;
  }
}

/**
 * Refuses a store that belongs to another database, and a database whose files are in another store.
 * @returns false if neither identifies the other yet
 * @throws AppError `data_folder_mismatch`
 */
export async function checkStore(db: Db, place: StorePlace): Promise<boolean> {
  const ofDatabase = (await serviceSecret(db, "installation")).toString("base64url");
  const ofPlace = (await place.read(INSTALLATION))?.trim() ?? null;
  if (ofPlace === ofDatabase) return true;
  if (ofPlace !== null || (await place.holdsFiles())) {
    throw new AppError(
      "data_folder_mismatch",
      `The files in ${place.name} belong to another database than the one that is configured. ` +
        `Point ${place.setting} and DATABASE_URL at the two that were used together.`,
    );
  }
  if ((await readStoreRecord(db)) || (await knowsVideos(db))) throw otherStore(place);
  return false;
}

function otherStore({ name, setting }: StorePlace): AppError {
  return new AppError(
    "data_folder_mismatch",
    `The files of this database are not in ${name}. Point ${setting} at the previous location, and copy ` +
      "`installation` and `store.json` along if you moved the files. Processes can share a database only if they " +
      "share the files too: set S3_BUCKET.",
  );
}

async function knowsVideos(db: Db): Promise<boolean> {
  return (await db.selectFrom("video").select("id").limit(1).executeTakeFirst()) !== undefined;
}
