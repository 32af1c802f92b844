import { sql } from "kysely";
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { appliedMigrations, migrate, requireTables } from "../../src/db/migrate.ts";
import { MIGRATIONS } from "../../src/db/migrations.ts";
import { openDatabase } from "../../src/db/open.ts";
import type { Db, Schema } from "../../src/db/schema.ts";
import { postgresFor } from "../support/service.ts";
import { COMPLETED_ID, ENVIRONMENT_ID, openEmptyDatabase, runFile } from "../upgrade/empty-database.ts";

async function withEmptyDatabase(run: (db: Db, dataFolder: string) => Promise<void>): Promise<void> {
  const { dataFolder, database } = await openEmptyDatabase();
  try {
    await run(database.kysely, dataFolder);
  } finally {
    await database.close();
  }
}

/** Describes the schema, except the order of columns and the white space in functions. */
async function schemaOf(db: Db): Promise<string[]> {
  const { rows } = await sql<{ line: string }>`
    with relation as (
      select oid, relname, relkind from pg_class
      where relnamespace = 'public'::regnamespace and relname not like 'kysely%'
    )
    select line from (
      select format('column %s.%s %s not null %s default %s identity %s', relname, attname,
        format_type(atttypid, atttypmod), attnotnull, pg_get_expr(adbin, adrelid), attidentity) as line
      from pg_attribute join relation on relation.oid = attrelid and relkind = 'r'
        left join pg_attrdef on adrelid = attrelid and adnum = attnum
      where attnum > 0 and not attisdropped
      union all
      select format('constraint %s.%s %s', relname, conname, pg_get_constraintdef(pg_constraint.oid))
      from pg_constraint join relation on relation.oid = conrelid
      union all
      select pg_get_indexdef(indexrelid) from pg_index join relation on relation.oid = indexrelid
      union all
      select pg_get_triggerdef(pg_trigger.oid) from pg_trigger join relation on relation.oid = tgrelid
      where not tgisinternal
      union all
      select format('function %s %s', proname, trim(regexp_replace(prosrc, '\\s+', ' ', 'g')))
      from pg_proc where pronamespace = 'public'::regnamespace
      union all
      select format('%s %s', relkind, relname) from relation
    ) as lines order by line collate "C"`.execute(db);
  return rows.map(({ line }) => line);
}

test("a process of the previous version continues on newer tables until they lack something that it needs", async () => {
  await withEmptyDatabase(async (db) => {
    const refused = {
      code: "database_version_mismatch",
      message: expect.stringContaining("newer version"),
    };
    const note = (name: string) =>
      sql`insert into kysely_migration (name, timestamp) values (${name}, '')`.execute(db);
    const forget = (name: string) => sql`delete from kysely_migration where name = ${name}`.execute(db);
    await migrate(db);
    expect(await appliedMigrations(db)).toEqual(MIGRATIONS);

    await note("9998-of-tomorrow");
    await migrate(db);
    expect(await appliedMigrations(db)).toEqual([...MIGRATIONS, "9998-of-tomorrow"]);

    // A later release removes something that the next release no longer uses but this one may need.
    await note("9999-old-columns-removal");
    await expect(migrate(db)).rejects.toMatchObject(refused);
    await forget("9999-old-columns-removal");
    await migrate(db);

    // This release needs the tables of its last migration, which cannot run after later ones.
    await forget(MIGRATIONS.at(-1)!);
    await expect(migrate(db)).rejects.toMatchObject(refused);
  });
});

describe("tables of early migrations", () => {
  test("become those of the initial schema and keep their rows", async () => {
    let initial: string[] = [];
    await withEmptyDatabase(async (db) => {
      await migrate(db);
      initial = await schemaOf(db);
    });
    await withEmptyDatabase(async (db) => {
      await runFile(db, "early-tables.sql");
      await runFile(db, "rows.sql");
      await sql
        .raw(`
          insert into queue_clock (virtual_time, base) values (7, 3);
          update transcription set faults = 2, losses = 1, queued_at = null, parked_at = now(),
            stretches = '[{"start": 0, "end": 1.25, "language": "en"}]' where id = '${COMPLETED_ID}';
          insert into transcription_stretch values ('${COMPLETED_ID}', 1, 2, 3.5, 'the output of a model');
          insert into audit_entry (id, at, action, actor_kind, detail)
            values ('audit_1', now(), 'service.set_up', 'stranger', '{}')`)
        .execute(db);
      await expect(requireTables(db)).rejects.toMatchObject({
        code: "database_version_mismatch",
        message: expect.stringContaining("Start the service, or run `npx subtext migrate`"),
      });

      await migrate(db);
      expect(await appliedMigrations(db)).toEqual(MIGRATIONS);
      expect(await schemaOf(db)).toEqual(initial);
      await requireTables(db);

      const transcription = await db
        .selectFrom("transcription")
        .selectAll()
        .where("id", "=", COMPLETED_ID)
        .executeTakeFirstOrThrow();
      expect(transcription).toMatchObject({
        failure_count: 2,
        crash_count: 1,
        queued_at: transcription.created_at,
        language_segments: [{ start: 0, end: 1.25, language: "en" }],
      });
      const operators = await db.selectFrom("operator").select(["email", "role"]).orderBy("email").execute();
      expect(operators).toEqual([
        { email: "olive@subtext.example", role: "owner" },
        { email: "vera@subtext.example", role: "viewer" },
      ]);
      expect(await db.selectFrom("operator_membership").selectAll().execute()).toEqual([]);
      const invitation = await db.selectFrom("operator_invitation").selectAll().executeTakeFirstOrThrow();
      expect(invitation).toMatchObject({ role: "viewer", environments: [] });
      expect(await db.selectFrom("transcription_checkpoint").selectAll().execute()).toEqual([
        {
          transcription_id: COMPLETED_ID,
          attempt: 1,
          number: 2,
          settled_seconds: 3.5,
          results: "the output of a model",
        },
      ]);
      expect(await db.selectFrom("audit_event").select("id").execute()).toEqual([{ id: "audit_1" }]);
      expect(await db.selectFrom("queue_clock").select(["virtual_time", "base"]).execute()).toEqual([
        { virtual_time: 7, base: 3 },
      ]);
      expect(await db.selectFrom("video").select("id").execute()).toHaveLength(7);
      // Deletions still cascade, and still leave tombstones.
      await db.deleteFrom("transcription").where("id", "=", COMPLETED_ID).execute();
      expect(await db.selectFrom("transcription_checkpoint").selectAll().execute()).toEqual([]);
      expect(await db.selectFrom("tombstone").select("id").execute()).toEqual([{ id: COMPLETED_ID }]);
    });
  });

  test.each([
    ["an older state", "delete from kysely_migration where name = '0023_file_formats'"],
    ["an unknown state", "insert into kysely_migration (name, timestamp) values ('0018_other', '')"],
  ])("in %s are refused with a hint and left unchanged", async (_, change) => {
    await withEmptyDatabase(async (db) => {
      await runFile(db, "early-tables.sql");
      await sql.raw(change).execute(db);
      const before = [await appliedMigrations(db), await schemaOf(db)];
      const refused = {
        code: "database_version_mismatch",
        message: expect.stringMatching(
          /migration 0023_file_formats once, then this one; see docs\/upgrades\.md/,
        ),
      };
      await expect(migrate(db)).rejects.toMatchObject(refused);
      await expect(requireTables(db)).rejects.toMatchObject(refused);
      expect([await appliedMigrations(db), await schemaOf(db)]).toEqual(before);
    });
  });

  test("remain as they were if the last step fails", async () => {
    await withEmptyDatabase(async (db) => {
      await runFile(db, "early-tables.sql");
      await sql`alter table kysely_migration add check (name <> ${sql.lit(MIGRATIONS[0])})`.execute(db);
      const before = [await appliedMigrations(db), await schemaOf(db)];
      await expect(migrate(db)).rejects.toMatchObject({ code: "23514" });
      expect([await appliedMigrations(db), await schemaOf(db)]).toEqual(before);
    });
  });

  test("are converted once if several processes start at the same time", async () => {
    await withEmptyDatabase(async (db, dataFolder) => {
      await runFile(db, "early-tables.sql");
      await runFile(db, "rows.sql");
      const databaseUrl = await postgresFor(dataFolder);
      // The embedded database has only one process.
      const opened =
        databaseUrl === null
          ? []
          : await Promise.all(
              [1, 2].map(() =>
                openDatabase<Schema>({ databaseUrl, folder: dataFolder, log: pino({ level: "silent" }) }),
              ),
            );
      try {
        await Promise.all([db, ...opened.map(({ kysely }) => kysely)].map((each) => migrate(each)));
        expect(await appliedMigrations(db)).toEqual(MIGRATIONS);
        const environments = await db.selectFrom("environment").select("id").orderBy("id").execute();
        expect(environments[0]).toEqual({ id: ENVIRONMENT_ID });
      } finally {
        await Promise.all(opened.map((database) => database.close()));
      }
    });
  });
});
