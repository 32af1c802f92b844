import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { PGlite } from "@electric-sql/pglite";
import { commandLine } from "../../lib/command-line.ts";
import { AppError } from "../../lib/errors.ts";

/** The last PGlite version for each PostgreSQL major version. A folder can only be opened by its own major version. */
const PGLITE_OF_MAJOR: Readonly<Record<string, string>> = { "16": "0.2.17", "17": "0.4.6" };
/** Default databases of PGlite; the default has changed between versions. */
const DATABASES = ["postgres", "template1"];

export function olderPgliteFolder(databaseFolder: string, major: string): string {
  return join(databaseFolder, "..", `pglite-${major}`);
}

export function upgradeAdvice(databaseFolder: string, major: string, currentMajor: string): string {
  const mismatch = `${databaseFolder} was created by PostgreSQL ${major}, but this version of Subtext includes PostgreSQL ${currentMajor}. `;
  const version = PGLITE_OF_MAJOR[major];
  if (version) {
    const prefix = olderPgliteFolder(databaseFolder, major);
    return (
      `${mismatch}These two commands upgrade it and keep the old folder:\n` +
      `  npm install --prefix ${prefix} @electric-sql/pglite@${version}\n` +
      `  ${commandLine("upgrade-database")}`
    );
  }
  return Number(major) > Number(currentMajor)
    ? `${mismatch}Start the newer version of Subtext that created it, or restore an earlier backup.`
    : `${mismatch}Only the version of Subtext that created it can read it.`;
}

/**
 * Opens a folder with the older PGlite that the operator installed. Pass a copy, because this may write to the folder.
 * @param isExpected checks whether an opened database is Subtext's
 * @throws AppError `database_version_mismatch` if that PGlite is not installed or cannot read the folder
 */
export async function openWithOlderPglite(
  copy: string,
  {
    installedIn,
    advice,
    isExpected,
  }: { installedIn: string; advice: string; isExpected(pglite: PGlite): Promise<boolean> },
): Promise<PGlite> {
  const older = await importPglite(installedIn).catch((cause) => {
    throw new AppError("database_version_mismatch", advice, { cause });
  });
  let failure: unknown;
  for (const database of DATABASES) {
    try {
      const pglite = await older.create(copy, { database });
      if (await isExpected(pglite)) return pglite;
      await pglite.close();
    } catch (error) {
      failure = error;
    }
  }
  throw new AppError(
    "database_version_mismatch",
    "The folder contains no Subtext database that can be read.",
    {
      cause: failure,
    },
  );
}

async function importPglite(installedIn: string): Promise<typeof PGlite> {
  const entry = createRequire(join(installedIn, "any.js")).resolve("@electric-sql/pglite");
  return ((await import(pathToFileURL(entry).href)) as { PGlite: typeof PGlite }).PGlite;
}
