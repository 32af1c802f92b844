import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Kysely, sql } from "kysely";
import { pino } from "pino";
import { inject } from "vitest";
import type { Database } from "../../src/db/database.ts";
import { openDatabase } from "../../src/db/open.ts";
import { bucketFor, postgresFor, temporaryFolder } from "../support/service.ts";
import { openTestBucket, testS3 } from "../support/test-bucket.ts";
import { statementsOf } from "./first-release-names.ts";

export async function firstReleaseStatements(): Promise<string[]> {
  return statementsOf(await readFile(join(import.meta.dirname, "first-release.sql"), "utf8"));
}

/** Runs statements one by one, because the embedded database accepts only one at a time. */
export async function runStatements<Schema>(
  db: Kysely<Schema>,
  statements: readonly string[],
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    for (const statement of statements) await sql.raw(statement).execute(tx);
  });
}

/** The database of a separate data folder, without tables. */
export async function openEmptyDatabase<Schema>(): Promise<{
  dataFolder: string;
  database: Database<Schema>;
}> {
  const dataFolder = await temporaryFolder();
  const databaseUrl = await postgresFor(dataFolder);
  const folder = join(dataFolder, "database");
  // A copy of a prepared folder, because creating one takes seconds.
  if (databaseUrl === null) await cp(join(inject("madeDataFolder"), "database"), folder, { recursive: true });
  const database = await openDatabase<Schema>({ databaseUrl, folder, log: pino({ level: "silent" }) });
  for (const statement of [
    "drop schema if exists pgboss cascade",
    "drop schema public cascade",
    "create schema public",
  ])
    await sql.raw(statement).execute(database.kysely);
  return { dataFolder, database };
}

/** Ties the files of a service on this folder, wherever they are, to the database of that mark. */
export async function writeInstallationMark(dataFolder: string, mark: string): Promise<void> {
  const s3 = testS3();
  if (s3 === null) return await writeFile(join(dataFolder, "installation"), `${mark}\n`);
  const { S3_BUCKET: name = "" } = await bucketFor(dataFolder);
  const bucket = await openTestBucket(s3, name);
  await bucket.put("installation", Buffer.from(`${mark}\n`));
  bucket.close();
}

/** The statements that insert rows, referenced rows first, without those of migrations. */
export function rowsInParentsOrder(statements: readonly string[]): string[] {
  const parents = [
    "environment",
    "operator",
    "video",
    "transcription",
    "webhook_endpoint",
    "event",
    "delivery",
  ];
  return statements
    .flatMap((statement) => {
      const table = /^INSERT INTO public\.(\w+) /.exec(statement)?.[1];
      if (table === undefined || table.startsWith("kysely")) return [];
      const place = parents.indexOf(table);
      return [{ statement, place: place === -1 ? parents.length : place }];
    })
    .sort((a, b) => a.place - b.place)
    .map(({ statement }) => statement);
}
