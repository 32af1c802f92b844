import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { AppError } from "../lib/errors.ts";
import { BUCKET_SETTING, type ObjectStorageConfig } from "../storage/backends.ts";
import { INSTALLATION } from "../storage/ownership/claim-store.ts";
import {
  describePlaces,
  readMoved,
  readUnfinished,
  UNFINISHED_FOLDER,
  type UnfinishedMove,
} from "./move-state.ts";

/** What is moved from a data folder, and where to. */
export interface Plan {
  /** The data folder. */
  from: string;
  /** The database that has the rows now; null if it is the embedded database in the data folder. */
  currentDatabaseUrl: string | null;
  /** The database that the rows are copied to; null if they stay. */
  databaseUrl: string | null;
  /** The bucket that the files are copied to; null if they stay. */
  bucket: ObjectStorageConfig | null;
  /** The names of the two targets, for messages. */
  places: Pick<UnfinishedMove, "database" | "bucket">;
  /** An earlier run of this move; null if this is the first one. */
  unfinished: UnfinishedMove | null;
}

/**
 * Determines what must be moved from the data folder before a service can use these settings.
 * @throws Error with a readable message if nothing can be moved
 */
export async function planMove(from: string, config: Config): Promise<Plan> {
  const moved = await readMoved(from);
  const unfinished = await readUnfinished(from);
  const hasDatabase = existsSync(join(from, "database", "PG_VERSION")) && !moved?.database;
  const hasFiles = existsSync(join(from, INSTALLATION)) && !moved?.bucket;
  const targets = { database: placeOfDatabase(config), bucket: placeOfBucket(config) };
  if (unfinished !== null) assertSameTargets(from, unfinished, targets);
  const places = unfinished ?? {
    database: hasDatabase ? targets.database : null,
    bucket: hasFiles ? targets.bucket : null,
  };
  if (places.database === null && places.bucket === null) {
    if (hasDatabase || hasFiles)
      throw new Error(
        `Set DATABASE_URL, ${BUCKET_SETTING}, or both: they determine where the data in ${from} is moved to.`,
      );
    if (moved !== null) throw new Error(`The data in ${from} was already moved to ${describePlaces(moved)}.`);
    throw new AppError("installation_missing", `There is no Subtext installation in ${from}.`);
  }
  if (!hasDatabase && config.databaseUrl === null)
    throw new AppError("installation_missing", `There is no database in ${from}. Set DATABASE_URL.`);
  const stays =
    (hasFiles && config.bucket === null && "the files stay") ||
    (hasDatabase && config.databaseUrl === null && "the database stays");
  if (stays && from !== config.dataFolder)
    throw new Error(`With these settings, ${stays} in ${from}. Set DATA_DIR to this folder.`);
  return {
    from,
    currentDatabaseUrl: hasDatabase ? null : config.databaseUrl,
    databaseUrl: places.database === null ? null : config.databaseUrl,
    bucket: places.bucket === null ? null : config.bucket,
    places: { database: places.database, bucket: places.bucket },
    unfinished,
  };
}

function assertSameTargets(from: string, unfinished: UnfinishedMove, targets: Plan["places"]): void {
  const isSame = (["database", "bucket"] as const).every(
    (part) => unfinished[part] === null || unfinished[part] === targets[part],
  );
  if (isSame) return;
  throw new Error(
    `A move of ${from} to ${describePlaces(unfinished)} has begun. Run it again with the same settings. To ` +
      `abandon it, empty these targets and remove ${join(from, UNFINISHED_FOLDER)}.`,
  );
}

/** Returns the host and the database name, without the user and password. */
function placeOfDatabase({ databaseUrl }: Config): string | null {
  if (databaseUrl === null) return null;
  const { host, pathname } = new URL(databaseUrl);
  return host + pathname;
}

function placeOfBucket({ bucket }: Config): string | null {
  return bucket && (bucket.prefix === "" ? bucket.name : `${bucket.name}/${bucket.prefix}`);
}
