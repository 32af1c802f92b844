import { join } from "node:path";
import { sql } from "kysely";
import { pino } from "pino";
import { expect, test } from "vitest";
import type { Database } from "../../src/db/database.ts";
import { appliedMigrations } from "../../src/db/migrate.ts";
import { MIGRATIONS } from "../../src/db/migrations.ts";
import { openDatabase } from "../../src/db/open.ts";
import type { Schema } from "../../src/db/schema.ts";
import { runCommand } from "../support/run-command.ts";
import { postgresFor, startService } from "../support/service.ts";
import { openEmptyDatabase, runFile, writeInstallationMark } from "../upgrade/empty-database.ts";

/** The value of `installation` in `rows.sql`. */
const INSTALLATION_MARK = Buffer.from("the mark of the first release...").toString("base64url");

async function inside<T>(dataFolder: string, look: (database: Database<Schema>) => Promise<T>): Promise<T> {
  const database = await openDatabase<Schema>({
    databaseUrl: await postgresFor(dataFolder),
    folder: join(dataFolder, "database"),
    log: pino({ level: "silent" }),
  });
  try {
    return await look(database);
  } finally {
    await database.close();
  }
}

test("subtext migrate brings older tables up to date and exits, creates none, and refuses tables of a newer version", {
  timeout: 60_000,
}, async () => {
  const empty = await openEmptyDatabase();
  await empty.database.close();
  expect(await runCommand(empty.dataFolder, ["migrate"])).toEqual({
    exitCode: 1,
    out: "",
    err: expect.stringContaining("There is no Subtext installation in this database."),
  });

  const { dataFolder, database } = await openEmptyDatabase();
  await runFile(database.kysely, "early-tables.sql");
  await runFile(database.kysely, "rows.sql");
  await database.close();
  await writeInstallationMark(dataFolder, INSTALLATION_MARK);
  for (const args of [["env", "list"], ["doctor"]]) {
    const { exitCode, out, err } = await runCommand(dataFolder, args);
    expect([args, exitCode, out + err]).toEqual([
      args,
      1,
      expect.stringContaining("older version of Subtext. Start the service, or run `npx subtext migrate`"),
    ]);
  }
  await inside(dataFolder, async ({ kysely }) => {
    expect((await appliedMigrations(kysely)).at(-1)).toBe("0023_file_formats");
  });

  const done = {
    exitCode: 0,
    out: expect.stringMatching(/^The tables of (the embedded )?PostgreSQL \d+\S* .*are up to date\.\n$/),
    err: "",
  };
  expect(await runCommand(dataFolder, ["migrate"])).toEqual(done);
  await inside(dataFolder, async ({ kysely }) => {
    expect(await appliedMigrations(kysely)).toEqual(MIGRATIONS);
  });
  expect(await runCommand(dataFolder, ["migrate"])).toEqual(done);

  await inside(dataFolder, ({ kysely }) =>
    sql`insert into kysely_migration (name, timestamp) values ('9999-columns-removal', '')`.execute(kysely),
  );
  expect(await runCommand(dataFolder, ["migrate"])).toEqual({
    exitCode: 1,
    out: "",
    err: expect.stringMatching(/^subtext: The database was migrated by a newer version[^\n]+\n$/),
  });
});

// The database of this test is embedded.
test.skipIf(process.env.TEST_DATABASE_URL)(
  "subtext migrate does not touch an embedded database that a service is using",
  async () => {
    const { dataFolder } = await startService();
    expect(await runCommand(dataFolder, ["migrate"])).toEqual({
      exitCode: 1,
      out: "",
      err: expect.stringContaining("in use by process"),
    });
  },
);
