import { sql } from "kysely";
import { expect, test } from "vitest";
import { madeMigrations, migrate } from "../src/db/migrate.ts";
import { MIGRATIONS } from "../src/db/migrations.ts";
import type { Schema } from "../src/db/schema.ts";
import { openEmptyDatabase } from "./upgrade/first-release-database.ts";

const known = Object.keys(MIGRATIONS).sort();
const refused = { code: "database_version_mismatch", message: expect.stringContaining("newer version") };

test("a process of the previous version continues on newer tables until they lack something that it needs", async () => {
  const { database } = await openEmptyDatabase<Schema>();
  const { kysely } = database;
  const note = (name: string) =>
    sql`insert into kysely_migration (name, timestamp) values (${name}, '')`.execute(kysely);
  const forget = (name: string) => sql`delete from kysely_migration where name = ${name}`.execute(kysely);
  try {
    await migrate(kysely);
    expect(await madeMigrations(kysely)).toEqual(known);

    await note("9998_of_tomorrow");
    await migrate(kysely);
    expect(await madeMigrations(kysely)).toEqual([...known, "9998_of_tomorrow"]);

    // A later release removes what the next one no longer uses, but this one may still need.
    await note("9999_old_columns_removal");
    await expect(migrate(kysely)).rejects.toMatchObject(refused);
    await forget("9999_old_columns_removal");
    await migrate(kysely);

    // It lacks what it needs, and cannot create it after later migrations.
    await forget(known.at(-1)!);
    await expect(migrate(kysely)).rejects.toMatchObject(refused);
  } finally {
    await database.close();
  }
});
