import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { PGlite } from "@electric-sql/pglite";
import { AppError } from "../../lib/errors.ts";

/** The last PGlite of that PostgreSQL major version. No other version can read its folders. */
const PGLITE_OF_MAJOR: Readonly<Record<string, string>> = { "16": "0.2.17", "17": "0.4.6" };
/** PGlite's default database has changed between versions. */
const DATABASES = ["postgres", "template1"];

/** Where the operator installs the PGlite that reads this folder: next to it. */
export function olderPgliteFolder(databaseFolder: string, major: string): string {
  return join(databaseFolder, "..", `pglite-${major}`);
}

/** How to upgrade a folder of another PostgreSQL major version, for operators. */
export function upgradeAdvice(databaseFolder: string, major: string, ours: string): string {
  const found = `${databaseFolder} was made by PostgreSQL ${major}, this version of Subtext carries ${ours}. `;
  const version = PGLITE_OF_MAJOR[major];
  if (version) {
    const prefix = olderPgliteFolder(databaseFolder, major);
    return (
      `${found}It can be carried over, by these two commands; the old folder is kept:\n` +
      `  npm install --prefix ${prefix} @electric-sql/pglite@${version}\n` +
      "  npx subtext upgrade-database"
    );
  }
  return Number(major) > Number(ours)
    ? `${found}Start the newer version of Subtext that made it, or restore a backup of before.`
    : `${found}Nothing reads it any more but the version of Subtext that made it.`;
}

/**
 * Opens a folder with the older PGlite that was installed next to it. This may write to the folder: pass a copy.
 * @param holds whether a database is the expected one
 * @throws AppError `database_version_mismatch` if that PGlite is not installed, or the folder cannot be read
 */
export async function openWithOlderPglite(
  copy: string,
  {
    installedIn,
    advice,
    holds,
  }: { installedIn: string; advice: string; holds(pglite: PGlite): Promise<boolean> },
): Promise<PGlite> {
  const older = await importPglite(installedIn).catch((cause) => {
    throw new AppError("database_version_mismatch", advice, { cause });
  });
  let failure: unknown;
  for (const database of DATABASES) {
    try {
      const pglite = await older.create(copy, { database });
      if (await holds(pglite)) return pglite;
      await pglite.close();
    } catch (error) {
      failure = error;
    }
  }
  throw new AppError(
    "database_version_mismatch",
    "The folder holds no database of Subtext that can be read.",
    {
      cause: failure,
    },
  );
}

async function importPglite(installedIn: string): Promise<typeof PGlite> {
  const entry = createRequire(join(installedIn, "any.js")).resolve("@electric-sql/pglite");
  return ((await import(pathToFileURL(entry).href)) as { PGlite: typeof PGlite }).PGlite;
}
