import { join } from "node:path";
import { sql } from "kysely";
import { pino } from "pino";
import { expect, test } from "vitest";
import { migrate } from "../src/db/migrate.ts";
import { MIGRATIONS } from "../src/db/migrations.ts";
import { openDatabase } from "../src/db/open.ts";
import type { Schema } from "../src/db/schema.ts";
import { temporaryFolder } from "./support/service.ts";

test("a process of the version before goes on with tables that a newer one has made", async () => {
  const folder = join(await temporaryFolder(), "database");
  const log = pino({ level: "silent" });
  const database = await openDatabase<Schema>({ databaseUrl: null, folder, log });
  const { kysely } = database;
  const names = async () => {
    const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(
      kysely,
    );
    return rows.map(({ name }) => name);
  };
  try {
    await migrate(kysely);
    const known = Object.keys(MIGRATIONS).sort();
    expect(await names()).toEqual(known);

    await sql`insert into kysely_migration (name, timestamp) values ('zz of tomorrow', '')`.execute(kysely);
    await migrate(kysely);
    expect(await names()).toEqual([...known, "zz of tomorrow"]);

    // One that skips releases is another matter: it lacks what it needs, and can not make it.
    await sql`delete from kysely_migration where name = ${known.at(-1)!}`.execute(kysely);
    await expect(migrate(kysely)).rejects.toThrow("zz of tomorrow");
  } finally {
    await database.close();
  }
});
