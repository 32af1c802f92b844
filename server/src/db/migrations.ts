import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

const FOLDER = join(import.meta.dirname, "migrations");
const EXTENSION = ".sql";

/**
 * The names of the numbered files in `migrations/`, in order. A released file is never edited. Each must be safe while
 * processes of the previous release are still running.
 */
export const MIGRATIONS: readonly string[] = readdirSync(FOLDER)
  .filter((file) => file.endsWith(EXTENSION))
  .map((file) => file.slice(0, -EXTENSION.length))
  .sort();

export async function readMigration(name: string): Promise<string> {
  return await readFile(join(FOLDER, name + EXTENSION), "utf8");
}
