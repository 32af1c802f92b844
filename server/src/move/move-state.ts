import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Static, type TSchema, Type } from "typebox";
import { Value } from "typebox/value";
import type { Config } from "../config/config.ts";
import { commandLine } from "../lib/command-line.ts";
import { AppError } from "../lib/errors.ts";
import { nullIfAbsent } from "../lib/files.ts";
import { diskLocation } from "../storage/ownership/store-location.ts";

/** Subfolder that exists in the data folder during a move. */
export const UNFINISHED_FOLDER = "move.unfinished";
const STATE_FILE = "move.json";
/** File in a data folder whose data was moved. */
const MOVED_FILE = "moved.json";

/** Where a part is moved to, without credentials: `db.example.com/subtext`. Null if the part is not moved. */
const Place = Type.Union([Type.String(), Type.Null()]);

const UnfinishedMove = Type.Object({
  /** Also stored in the bucket, to identify it as the target of this move. */
  id: Type.String(),
  database: Place,
  bucket: Place,
  /**
   * The mark of the target's store. Null until all files have been copied. From then on, the service must not start on
   * the data folder.
   */
  mark: Type.Union([
    Type.Null(),
    Type.Object({
      store: Type.String(),
      owner: Type.String(),
      generation: Type.Integer(),
      token: Type.String(),
      writtenAt: Type.String(),
    }),
  ]),
});

/** A move that has begun and can be continued. */
export type UnfinishedMove = Static<typeof UnfinishedMove>;

const Moved = Type.Object({ movedAt: Type.String(), database: Place, bucket: Place });

/** Where the data of a data folder was moved to. */
export type Moved = Static<typeof Moved>;

export async function readUnfinished(dataFolder: string): Promise<UnfinishedMove | null> {
  return await readJson(join(dataFolder, UNFINISHED_FOLDER, STATE_FILE), UnfinishedMove);
}

/** Replaces the state durably. */
export async function writeUnfinished(dataFolder: string, move: UnfinishedMove): Promise<void> {
  const folder = join(dataFolder, UNFINISHED_FOLDER);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await diskLocation(folder, []).write(STATE_FILE, toText(move));
}

export async function readMoved(dataFolder: string): Promise<Moved | null> {
  return await readJson(join(dataFolder, MOVED_FILE), Moved);
}

/** Records where the data is, and removes the state of the move. */
export async function finishMove(dataFolder: string, moved: Moved): Promise<void> {
  await diskLocation(dataFolder, []).write(MOVED_FILE, toText(moved));
  await rm(join(dataFolder, UNFINISHED_FOLDER), { recursive: true });
}

/**
 * Refuses settings that would use data that was moved, or the target of an unfinished move.
 * @throws AppError `data_folder_mismatch`
 */
export async function assertNotMoved({
  dataFolder,
  databaseUrl,
  bucket,
}: Pick<Config, "dataFolder" | "databaseUrl" | "bucket">): Promise<void> {
  const unfinished = await readUnfinished(dataFolder);
  if (unfinished !== null) {
    const { database, bucket: newBucket, mark } = unfinished;
    const usesTarget = (database !== null && databaseUrl !== null) || (newBucket !== null && bucket !== null);
    if (mark !== null || usesTarget) {
      throw new AppError(
        "data_folder_mismatch",
        `The move of ${dataFolder} to ${describePlaces(unfinished)} is not finished. Run \`${commandLine("move")}\` again.`,
      );
    }
  }
  const moved = await readMoved(dataFolder);
  if (moved === null) return;
  const isMissing =
    (moved.database !== null && databaseUrl === null) || (moved.bucket !== null && bucket === null);
  if (!isMissing) return;
  // If only the files were moved, the database that references them has changed since.
  const undoHint =
    moved.database === null
      ? ""
      : ` To use the old data again, without what changed since then, remove ${MOVED_FILE} there.`;
  throw new AppError(
    "data_folder_mismatch",
    `The data in ${dataFolder} was moved to ${describePlaces(moved)} on ${moved.movedAt}. Start the service with the ` +
      `settings of the move.${undoHint}`,
  );
}

/** For messages: `PostgreSQL at db/subtext and the bucket videos`. */
export function describePlaces({ database, bucket }: Pick<UnfinishedMove, "database" | "bucket">): string {
  const places = [
    database === null ? null : `PostgreSQL at ${database}`,
    bucket === null ? null : `the bucket ${bucket}`,
  ];
  return places.filter((place) => place !== null).join(" and ");
}

function toText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Returns null if the file does not exist. */
async function readJson<T extends TSchema>(path: string, schema: T): Promise<Static<T> | null> {
  const text = await readFile(path, "utf8").catch(nullIfAbsent);
  if (text === null) return null;
  const parsed: unknown = JSON.parse(text);
  if (!Value.Check(schema, parsed)) throw new Error(`${path} was written by another version of Subtext.`);
  return parsed;
}
