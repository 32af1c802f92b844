import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { appliedMigrations, migrate } from "../db/migrate.ts";
import { serviceSecret } from "../db/secrets.ts";
import { AppError } from "../lib/errors.ts";
import { lockFolder } from "../lib/folder-lock.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { openPartBuffers, partSizeFor } from "../storage/object-upload.ts";
import { INSTALLATION } from "../storage/ownership/claim-store.ts";
import { databaseHome, readStoreRecord } from "../storage/ownership/queries.ts";
import { bucketLocation, diskLocation } from "../storage/ownership/store-location.ts";
import { newToken, readMark, type StoreMark, writeMark } from "../storage/ownership/store-mark.ts";
import { StoreOwnership } from "../storage/ownership/store-ownership.ts";
import { CopiedFiles } from "./copied-files.ts";
import { type CopiedTable, copyDatabase, setStoreRecord } from "./copy-database.ts";
import { copyFiles, copyRemainingFiles, type FileCount } from "./copy-files.ts";
import { finishMove, readMoved, UNFINISHED_FOLDER, writeUnfinished } from "./move-state.ts";
import type { Plan } from "./plan.ts";
import { openSource, type Source } from "./source.ts";
import { assertUnused, hasInstallation, MOVE_OBJECT, openTarget, type Target } from "./target.ts";

/** Name of the list of copied files in `UNFINISHED_FOLDER`; see `CopiedFiles`. */
export const COPIED_FILES = "copied.jsonl";

export interface MoveProgress {
  onFiles(done: FileCount): void;
  onTable(name: string, done: number, total: number): void;
}

export interface MoveResult {
  /** False if the service was running. To complete the move, stop it and run the move again. */
  isFinished: boolean;
  /** Null if the files stay, or if an earlier run has copied all of them. */
  files: FileCount | null;
  /** Null if the rows stay, or if an earlier run has copied them. */
  tables: CopiedTable[] | null;
}

/**
 * Moves the rows of an embedded database to PostgreSQL, the files of a data folder to a bucket, or both. Files are
 * copied while the service runs; everything else requires it to be stopped. A later run resumes an interrupted one.
 *
 * The data folder does not change, except for the state of the move and, if the database stays, its store record.
 * Before the target can be used, the target's mark is written to that state. From then on, the service refuses to start
 * on the data folder, so the two cannot diverge.
 */
export async function moveData(plan: Plan, config: Config, progress: MoveProgress): Promise<MoveResult> {
  const lock = lockFolder(join(plan.from, "move"));
  try {
    const target = await openTarget(plan, config);
    try {
      if (!plan.unfinished?.mark) await assertUnused(target, plan);
      const source = await openSource(plan);
      try {
        return await run({ plan, config, source, target, progress });
      } finally {
        await source?.close();
      }
    } finally {
      await target.close();
    }
  } finally {
    lock.release();
  }
}

interface Run {
  plan: Plan;
  config: Config;
  /** Null while the service uses it. */
  source: Source | null;
  target: Target;
  progress: MoveProgress;
}

async function run({ plan, config, source, target, progress }: Run): Promise<MoveResult> {
  const { from, places, bucket } = plan;
  const move = plan.unfinished ?? { id: randomUUID(), ...places, mark: null };
  const copyAllFiles = async () => {
    if (bucket === null || target.objects === null) return null;
    await writeUnfinished(from, move);
    await bucketLocation(target.objects, []).write(MOVE_OBJECT, move.id);
    return await copyFilesTo(target.objects, { from, config, source, progress });
  };
  if (source === null) {
    if (bucket === null || move.mark !== null)
      throw new AppError(
        "data_folder_in_use",
        `A service is using ${from}. Stop it, then run this command again.`,
      );
    return { isFinished: false, files: await copyAllFiles(), tables: null };
  }
  let { mark } = move;
  let files: FileCount | null = null;
  if (mark === null) {
    mark = await nextMark(source, target, plan);
    files = await copyAllFiles();
    await writeUnfinished(from, { ...move, mark });
  }
  const tables = await copyRows(source, target, { plan, mark, progress });
  await handOver(source, target, { plan, mark });
  return { isFinished: true, files, tables };
}

async function copyFilesTo(
  objects: ObjectStore,
  { from, config, source, progress }: Pick<Run, "config" | "source" | "progress"> & Pick<Plan, "from">,
): Promise<FileCount> {
  const folder = join(from, UNFINISHED_FOLDER);
  const copied = await CopiedFiles.open(join(folder, COPIED_FILES));
  try {
    const options = { from, objects, copied, onProgress: progress.onFiles };
    if (source === null) return await copyFiles(options);
    const { maxUploadBytes, uploadBufferBytes: diskBytes } = config;
    const buffers = openPartBuffers({ partBytes: partSizeFor(maxUploadBytes), folder, diskBytes });
    return await copyRemainingFiles({ ...options, db: source.database.kysely, buffers });
  } finally {
    await copied.close();
  }
}

/** @throws Error if the database does not own its current store, because the move would make it the owner */
async function nextMark(
  { database }: Source,
  { objects }: Target,
  { from, bucket }: Plan,
): Promise<StoreMark> {
  const db = database.kysely;
  const location = objects && bucket === null ? bucketLocation(objects, []) : diskLocation(from, []);
  const state = await new StoreOwnership({ db, location, log: null }).state();
  const record = await readStoreRecord(db);
  if (!state.isOwner) throw new Error(state.message);
  if (!record) throw new Error("The database has no record of its store.");
  return {
    store: bucket === null ? record.store_id : newToken(),
    // A new owner, so that the old database deletes nothing if a service is started on it again.
    owner: newToken(),
    generation: record.generation + 1,
    token: newToken(),
    writtenAt: new Date().toISOString(),
  };
}

/** Copies the rows in one transaction, or only updates the store record if they stay. Skips completed work. */
async function copyRows(
  { database: source }: Source,
  { database: target }: Target,
  { plan, mark, progress }: { plan: Plan; mark: StoreMark; progress: MoveProgress },
): Promise<CopiedTable[] | null> {
  if (target === null) {
    const record = await readStoreRecord(source.kysely);
    if (record?.store_id !== mark.store)
      await setStoreRecord(source.kysely, mark, await databaseHome(source.kysely, source.kind));
    return null;
  }
  if (await hasInstallation(target.kysely)) {
    const [ofSource, ofTarget] = await Promise.all(
      [source, target].map(({ kysely }) => serviceSecret(kysely, "installation")),
    );
    if (ofTarget?.equals(ofSource!)) return null;
    throw new Error(`The database at ${plan.places.database} has been used by another installation.`);
  }
  await migrate(target.kysely);
  const [before, after] = await Promise.all([source, target].map(({ kysely }) => appliedMigrations(kysely)));
  if (before?.join() !== after?.join())
    throw new AppError(
      "database_version_mismatch",
      "The tables belong to a newer version of Subtext. Use that version.",
    );
  return await copyDatabase(source.kysely, target.kysely, {
    mark,
    home: await databaseHome(target.kysely, target.kind),
    onTable: progress.onTable,
  });
}

/** Links the target's store to its database, and marks the data folder as moved. Can be repeated after a crash. */
async function handOver(
  { database }: Source,
  { objects }: Target,
  { plan: { from, bucket, places }, mark }: { plan: Plan; mark: StoreMark },
): Promise<void> {
  const location = objects ? bucketLocation(objects, []) : diskLocation(from, []);
  if (bucket !== null) {
    const installation = await serviceSecret(database.kysely, "installation");
    await location.write(INSTALLATION, `${installation.toString("base64url")}\n`);
  }
  // The new service may already have advanced the generation.
  if ((await readMark(location))?.owner !== mark.owner) await writeMark(location, mark);
  if (bucket !== null) await location.remove(MOVE_OBJECT);
  const moved = await readMoved(from);
  await finishMove(from, {
    movedAt: new Date().toISOString(),
    database: places.database ?? moved?.database ?? null,
    bucket: places.bucket ?? moved?.bucket ?? null,
  });
}
