import type { Database, DatabaseOptions } from "./database.ts";
import { openEmbedded } from "./embedded/embedded.ts";
import { openPostgres } from "./postgres.ts";

/**
 * A commit that was acknowledged survives the death of this process and a power cut, on both kinds.
 *
 * @throws AppError `data_folder_in_use`, `database_version_mismatch`
 */
export function openDatabase<Schema>(options: DatabaseOptions): Promise<Database<Schema>> {
  const { databaseUrl, ...embedded } = options;
  return databaseUrl === null
    ? openEmbedded<Schema>(embedded)
    : openPostgres<Schema>({ databaseUrl, log: options.log });
}
