import { join } from "node:path";
import { pino } from "pino";
import type { Database } from "../db/database.ts";
import { requireEmbeddedDatabase } from "../db/embedded/data-folder.ts";
import { requireTables } from "../db/migrate.ts";
import { openDatabase } from "../db/open.ts";
import type { Schema } from "../db/schema.ts";
import { AppError } from "../lib/errors.ts";
import { lockFolder } from "../lib/folder-lock.ts";
import type { Plan } from "./plan.ts";

export interface Source {
  database: Database<Schema>;
  close(): Promise<void>;
}

/**
 * Opens the database of the data folder, and prevents the service from starting on either until it is closed. Returns
 * null if the service is running.
 */
export async function openSource({
  from,
  currentDatabaseUrl,
}: Pick<Plan, "from" | "currentDatabaseUrl">): Promise<Source | null> {
  const folder = join(from, "database");
  if (currentDatabaseUrl === null) await requireEmbeddedDatabase(folder);
  const closers: (() => unknown)[] = [];
  const close = async () => {
    for (const each of closers.reverse()) await each();
  };
  try {
    const lock = lockFolder(join(from, "service"));
    closers.push(() => lock.release());
    const log = pino({ level: "silent" });
    const database = await openDatabase<Schema>({ databaseUrl: currentDatabaseUrl, folder, log });
    closers.push(() => database.close());
    await requireTables(database.kysely);
    return { database, close };
  } catch (error) {
    await close();
    if (error instanceof AppError && error.code === "data_folder_in_use") return null;
    throw error;
  }
}
