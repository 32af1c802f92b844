import type { Logger } from "pino";
import type { Db } from "../../db/schema.ts";
import { serviceSecret } from "../../db/secrets.ts";
import { AppError } from "../../lib/errors.ts";
import { BUCKET_SETTING } from "../backends.ts";
import {
  deleteStoreRecord,
  insertStoreRecord,
  isSameHome,
  readStoreRecord,
  restartUploadExpiry,
} from "./queries.ts";
import type { StoreLocation } from "./store-location.ts";
import { MARK_FILE, newMark, newToken, readMark, writeMark } from "./store-mark.ts";

/** A file with the database's `installation` secret, in every store that the database has used. */
export const INSTALLATION = "installation";

export interface ClaimDeps {
  db: Db;
  location: StoreLocation;
  home: string;
  log: Logger;
}

/**
 * Ensures that the store and the database belong together. At the first start, each records the identity of the other,
 * first in the store's files, then in the database. The database decides: after a crash, the next start completes the
 * records, and of two processes with different stores, one is refused. A copy of a database gets a new identity, so
 * that it cannot delete files of the original's store.
 *
 * @throws AppError `data_folder_mismatch`
 */
export async function claimStore({ db, location, home, log }: ClaimDeps): Promise<void> {
  const known = await readStoreRecord(db);
  if (known && !isSameHome(known.home, home)) {
    log.warn("this database was copied, restored or moved, and gets a new identity");
    await deleteStoreRecord(db);
  }
  const written: string[] = [];
  let mayBeRecorded = false;
  try {
    if (!(await checkStore(db, location))) {
      const installation = (await serviceSecret(db, "installation")).toString("base64url");
      await location.write(INSTALLATION, `${installation}\n`);
      written.push(INSTALLATION);
    }
    const record = await readStoreRecord(db);
    let mark = await readMark(location);
    if (record) {
      if (mark?.store !== record.store_id) throw otherStore(location);
      return;
    }
    if (!mark) {
      mark = newMark();
      await writeMark(location, mark);
      written.push(MARK_FILE);
    }
    await restartUploadExpiry(db);
    // If the generation has advanced, another database or a newer state of this one has claimed the store.
    const isOwn = mark.generation === 0;
    mayBeRecorded = true;
    const inserted = await insertStoreRecord(db, {
      storeId: mark.store,
      owner: isOwn ? mark.owner : newToken(),
      home,
      generation: 0,
      token: isOwn ? mark.token : newToken(),
    });
    if (inserted.store_id !== mark.store) throw otherStore(location);
  } catch (error) {
    // If the database may have the record already, the next start completes the claim.
    const isRefused = error instanceof AppError && error.code === "data_folder_mismatch";
    if (isRefused || !mayBeRecorded) for (const file of written) await location.remove(file);
    throw error;
  }
}

/**
 * Refuses a store that belongs to another database, and a database whose files are in another store.
 * @returns false if neither has a record of the other
 * @throws AppError `data_folder_mismatch`
 */
export async function checkStore(db: Db, location: StoreLocation): Promise<boolean> {
  const expected = (await serviceSecret(db, "installation")).toString("base64url");
  const found = (await location.read(INSTALLATION))?.trim() ?? null;
  if (found === expected) return true;
  if (found !== null || (await location.containsFiles())) {
    throw new AppError(
      "data_folder_mismatch",
      `The files in ${location.name} do not belong to the configured database. ` +
        `Set ${location.setting} and DATABASE_URL to a store and a database that were used together.`,
    );
  }
  if ((await readStoreRecord(db)) || (await hasVideos(db))) throw otherStore(location);
  return false;
}

function otherStore({ name, setting }: StoreLocation): AppError {
  return new AppError(
    "data_folder_mismatch",
    `The files of this database are not in ${name}. Set ${setting} to the previous location. If you moved the ` +
      "files, also move `installation` and `store.json`. Processes can share a database only if they " +
      `share the files too: set ${BUCKET_SETTING}.`,
  );
}

async function hasVideos(db: Db): Promise<boolean> {
  return (await db.selectFrom("video").select("id").limit(1).executeTakeFirst()) !== undefined;
}
