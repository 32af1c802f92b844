import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

const FOLDER = join(import.meta.dirname, "migrations");
const EXTENSION = ".sql";

/**
 * Names of the files in `migrations/` in order. Never edit a released file. Each migration must be safe while processes
 * of the previous release are running.
 */
export const MIGRATIONS: readonly string[] = readdirSync(FOLDER)
  .filter((file) => file.endsWith(EXTENSION))
  .map((file) => file.slice(0, -EXTENSION.length))
  .sort();

export async function readMigration(name: string): Promise<string> {
  return await readFile(join(FOLDER, name + EXTENSION), "utf8");
}
