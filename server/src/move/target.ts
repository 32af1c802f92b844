import { pino } from "pino";
import type { Config } from "../config/config.ts";
import type { Database } from "../db/database.ts";
import { appliedMigrations } from "../db/migrate.ts";
import { openDatabase } from "../db/open.ts";
import type { Db, Schema } from "../db/schema.ts";
import { openObjectStore } from "../storage/backends.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { FILES_PREFIX } from "../storage/object-transcript-store.ts";
import { RECORDINGS_PREFIX, TAILS_PREFIX } from "../storage/object-upload.ts";
import { INSTALLATION } from "../storage/ownership/claim-store.ts";
import { bucketLocation } from "../storage/ownership/store-location.ts";
import { describePlaces } from "./move-state.ts";
import type { Plan } from "./plan.ts";

/** Object that exists in the bucket during a move and contains the move's id. */
export const MOVE_OBJECT = "move.json";

export interface Target {
  /** Null if the rows stay where they are. */
  database: Database<Schema> | null;
  /** The bucket of the new service, even if the files are already in it; null if the files stay on the disk. */
  objects: ObjectStore | null;
  close(): Promise<void>;
}

export async function openTarget({ databaseUrl }: Plan, { bucket }: Config): Promise<Target> {
  const log = pino({ level: "silent" });
  const database = databaseUrl === null ? null : await openDatabase<Schema>({ databaseUrl, folder: "", log });
  try {
    const objects = bucket && (await openObjectStore(bucket));
    return {
      database,
      objects,
      async close() {
        objects?.close();
        await database?.close();
      },
    };
  } catch (error) {
    await database?.close();
    throw error;
  }
}

/** @throws Error if the target contains data other than that of this move */
export async function assertUnused({ database, objects }: Target, { bucket, places, unfinished }: Plan) {
  if (database && (await hasInstallation(database.kysely))) {
    throw new Error(
      `The database at ${places.database} already contains an installation. Move to an empty one.`,
    );
  }
  if (!bucket || !objects) return;
  const location = bucketLocation(objects, [FILES_PREFIX, RECORDINGS_PREFIX, TAILS_PREFIX]);
  const id = await location.read(MOVE_OBJECT);
  if (id !== null && id === unfinished?.id) return;
  if (id !== null || (await location.read(INSTALLATION)) !== null || (await location.containsFiles())) {
    const where = describePlaces({ database: null, bucket: places.bucket });
    throw new Error(
      `The target already contains files: ${where}. Move to an empty bucket, or set another prefix.`,
    );
  }
}

export async function hasInstallation(db: Db): Promise<boolean> {
  if ((await appliedMigrations(db)).length === 0) return false;
  // A move creates tables and rows separately.
  return (await db.selectFrom("service_secret").select("name").executeTakeFirst()) !== undefined;
}
