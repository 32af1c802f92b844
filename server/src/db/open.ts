import type { Database, DatabaseOptions } from "./database.ts";
import { openEmbedded } from "./embedded/embedded.ts";
import { openPostgres } from "./postgres.ts";

/**
 * Opens PostgreSQL, or the embedded database if there is no URL. On both, an acknowledged commit survives a crash of
 * this process and a power failure.
 *
 * @throws AppError `data_folder_in_use`, `database_version_mismatch`
 */
export function openDatabase<Schema>(options: DatabaseOptions): Promise<Database<Schema>> {
  const { databaseUrl, ...embedded } = options;
  return databaseUrl === null
    ? openEmbedded<Schema>(embedded)
    : openPostgres<Schema>({ databaseUrl, log: options.log });
}
