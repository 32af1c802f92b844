import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import pg from "pg";
import { onTestFinished } from "vitest";
import { postgresFor } from "./service.ts";

/** A copy of the database that belongs to a data folder. */
export interface DatabaseCopy {
  /** Replaces the database of this data folder with the copy. */
  restore(dataFolder: string): Promise<void>;
}

/**
 * Copies the database while the service is stopped. On PostgreSQL, the copy has another identity, like a restored dump.
 */
export async function copyDatabase(dataFolder: string): Promise<DatabaseCopy> {
  const databaseUrl = await postgresFor(dataFolder);
  if (databaseUrl === null) {
    const copy = await mkdtemp(join(tmpdir(), "subtext-copy-"));
    onTestFinished(() => rm(copy, { recursive: true, force: true }));
    await cp(join(dataFolder, "database"), copy, { recursive: true });
    return {
      async restore(target) {
        await rm(join(target, "database"), { recursive: true, force: true });
        await cp(copy, join(target, "database"), { recursive: true });
      },
    };
  }
  const nameOf = (folder: string) => basename(folder).toLowerCase().replaceAll("-", "_");
  const copy = `${nameOf(dataFolder)}_copy_${Date.now()}`;
  await administrate([`create database "${copy}" template "${nameOf(dataFolder)}"`]);
  return {
    async restore(target) {
      const name = nameOf(target);
      await administrate([
        `drop database if exists "${name}" with (force)`,
        `create database "${name}" template "${copy}"`,
      ]);
    },
  };
}

async function administrate(statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: process.env.TEST_DATABASE_URL });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
