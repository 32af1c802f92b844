import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { pino } from "pino";
import { inject } from "vitest";
import type { Database } from "../../src/db/database.ts";
import { openDatabase } from "../../src/db/open.ts";
import type { Db, Schema } from "../../src/db/schema.ts";
import { bucketFor, postgresFor, temporaryFolder } from "../support/service.ts";
import { openTestBucket, testS3 } from "../support/test-bucket.ts";

/** Ids in `rows.sql`. */
export const ENVIRONMENT_ID = "env_01jd0000000000000000000001";
export const COMPLETED_ID = "transcription_01jd0000000000000000000001";
export const FAILED_VIDEO_ID = "video_01jd0000000000000000000004";

/** @param file `early-tables.sql`, or `rows.sql` for rows that fit both the early tables and the initial schema */
export async function readStatements(file: "early-tables.sql" | "rows.sql"): Promise<string> {
  return await readFile(join(import.meta.dirname, file), "utf8");
}

export async function runFile(db: Db, file: "early-tables.sql" | "rows.sql"): Promise<void> {
  await sql.raw(await readStatements(file)).execute(db);
}

/** Opens a database without tables in a new data folder. */
export async function openEmptyDatabase(): Promise<{ dataFolder: string; database: Database<Schema> }> {
  const dataFolder = await temporaryFolder();
  const databaseUrl = await postgresFor(dataFolder);
  const folder = join(dataFolder, "database");
  // Copy a folder, because creating a database takes seconds.
  if (databaseUrl === null)
    await cp(join(inject("templateDataFolder"), "database"), folder, { recursive: true });
  const database = await openDatabase<Schema>({ databaseUrl, folder, log: pino({ level: "silent" }) });
  await sql
    .raw("drop schema if exists pgboss cascade; drop schema public cascade; create schema public")
    .execute(database.kysely);
  return { dataFolder, database };
}

/** Marks the folder's files, on disk or in the bucket, as belonging to the database with this mark. */
export async function writeInstallationMark(dataFolder: string, mark: string): Promise<void> {
  const s3 = testS3();
  if (s3 === null) return await writeFile(join(dataFolder, "installation"), `${mark}\n`);
  const { S3_BUCKET: name = "" } = await bucketFor(dataFolder);
  const bucket = await openTestBucket(s3, name);
  await bucket.put("installation", Buffer.from(`${mark}\n`));
  bucket.close();
}
