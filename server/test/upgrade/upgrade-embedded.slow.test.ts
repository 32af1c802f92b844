import { createHash } from "node:crypto";
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Kysely, PGliteDialect, sql } from "kysely";
import { Migrator } from "kysely/migration";
import { PGlite } from "pglite-17";
import { pino } from "pino";
import { beforeAll, expect, test } from "vitest";
import { runCommandLine } from "../../src/cli/program.ts";
import { openEmbedded } from "../../src/db/embedded/embedded.ts";
import { appliedMigrations, migrate } from "../../src/db/migrate.ts";
import { MIGRATIONS, readMigration } from "../../src/db/migrations.ts";
import type { Schema } from "../../src/db/schema.ts";
import { temporaryFolder } from "../support/service.ts";
import { ENVIRONMENT_ID, FAILED_VIDEO_ID, readStatements } from "./empty-database.ts";

const OLDER_PGLITE = join(dirname(fileURLToPath(import.meta.resolve("pglite-17"))), "..");
const log = pino({ level: "silent" });

/** A database folder written by an older PGlite with PostgreSQL 17. */
let olderFolder: string;
let contents: string;

beforeAll(async () => {
  const older = await makeOlderFolder();
  olderFolder = older.folder;
  contents = older.contents;
  return older.remove;
}, 240_000);

async function makeOlderFolder() {
  const parent = await mkdtemp(join(tmpdir(), "subtext-older-"));
  const folder = join(parent, "database");
  const old = await PGlite.create(folder);
  const db = new Kysely<unknown>({ dialect: new PGliteDialect({ pglite: old }) });
  const migrator = new Migrator({ db, provider: { getMigrations: async () => ({}) } });
  const { error } = await migrator.migrateToLatest();
  if (error) throw error;
  for (const name of MIGRATIONS) {
    await old.exec(await readMigration(name));
    await old.query("insert into kysely_migration (name, timestamp) values ($1, '')", [name]);
  }
  await old.exec(await readStatements("rows.sql"));
  await old.exec(`
    insert into search_shard (environment_id, passage_count) values ('${ENVIRONMENT_ID}', 1), ('${ENVIRONMENT_ID}', 2);
    insert into search_document (transcription_id, environment_id, job_id, language, shard)
      select id, environment_id, job_id, 'en', 2 from transcription where status = 'COMPLETED';
    insert into search_passage (document, ordinal, start_ms, end_ms, text, lexemes)
      values (1, 0, 0, 1250, E'tab\\t and \\\\ line\\nbreak – 字幕', to_tsvector('simple', 'It''s kept: a:1 "b"'));
    -- More rows than the migration copies at a time.
    insert into idempotency_key (environment_id, key, fingerprint, status, body, created_at)
      select '${ENVIRONMENT_ID}', 'key ' || i, repeat('c', 64), 201, repeat(md5(i::text), 30), now()
      from generate_series(1, 10000) i;
    delete from idempotency_key where key like '%7';
  `);
  const found = await digestTables(
    async (statement) => (await old.query<Record<string, unknown>>(statement)).rows,
  );
  await old.close();
  return { folder, contents: found, remove: () => rm(parent, { recursive: true }) };
}

/** Returns a digest of each table. */
async function digestTables(
  query: (statement: string) => Promise<Record<string, unknown>[]>,
): Promise<string> {
  const tables = await query(
    "select tablename as name from pg_tables where schemaname = 'public' and tablename not like 'kysely%' order by 1",
  );
  const lines: string[] = [];
  for (const { name } of tables) {
    const [row] = await query(
      `select count(*)::integer as rows, md5(string_agg(t::text, '|' order by t::text collate "C")) as digest from public."${name}" t`,
    );
    lines.push(`${name} ${row!.rows} ${row!.digest}`);
  }
  return lines.join("\n");
}

/** @param installed whether the older PGlite is installed in the folder */
async function makeOlderDataFolder({ installed }: { installed: boolean }): Promise<string> {
  const dataFolder = await temporaryFolder();
  await cp(olderFolder, join(dataFolder, "database"), { recursive: true });
  if (installed) {
    const modules = join(dataFolder, "pglite-17/node_modules/@electric-sql");
    await mkdir(modules, { recursive: true });
    await symlink(OLDER_PGLITE, join(modules, "pglite"));
  }
  return dataFolder;
}

async function upgradeDatabase(dataFolder: string): Promise<{ code: number; text: string }> {
  let text = "";
  const write = (part: string) => {
    text += part;
  };
  const terminal = { env: { DATA_DIR: dataFolder }, out: write, err: write, errColumns: () => null };
  return { code: await runCommandLine(["upgrade-database"], terminal), text };
}

const readMajorVersion = async (folder: string) =>
  (await readFile(join(folder, "PG_VERSION"), "utf8")).trim();

async function digestFolder(folder: string): Promise<string> {
  const hash = createHash("sha256");
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const path of entries
    .filter((e) => e.isFile())
    .map((e) => join(e.parentPath, e.name))
    .sort())
    hash.update(path.slice(folder.length)).update(await readFile(path));
  return hash.digest("hex");
}

const commands =
  /created by PostgreSQL 17, .* includes PostgreSQL 18.*\n {2}npm install --prefix \S+\/pglite-17 @electric-sql\/pglite@0\.4\.6\n {2}npx subtext upgrade-database(\n|$)/s;
const advice = { code: "database_version_mismatch", message: expect.stringMatching(commands) };

test("a folder of an older PostgreSQL is rejected with the commands that migrate it, and left unchanged", async () => {
  const dataFolder = await makeOlderDataFolder({ installed: false });
  const folder = join(dataFolder, "database");
  const before = await digestFolder(folder);
  await expect(openEmbedded({ folder, log })).rejects.toMatchObject(advice);
  const { code, text } = await upgradeDatabase(dataFolder);
  expect(code).toBe(1);
  expect(text).toMatch(commands);
  expect(await digestFolder(folder)).toBe(before);
  expect((await readdir(dataFolder)).sort()).toEqual(["database", "database.lock"]);
});

test("a folder of an older PostgreSQL is migrated row by row, and the original is kept beside the new one", {
  timeout: 240_000,
}, async () => {
  const dataFolder = await makeOlderDataFolder({ installed: true });
  const folder = join(dataFolder, "database");
  const before = await digestFolder(folder);
  const { code, text } = await upgradeDatabase(dataFolder);
  expect(text).toContain("17 → 18");
  expect(code).toBe(0);
  expect((await readdir(dataFolder)).sort()).toEqual([
    "database",
    "database-17",
    "database.lock",
    "pglite-17",
  ]);
  expect(await digestFolder(`${folder}-17`)).toBe(before);
  expect(await readMajorVersion(folder)).toBe("18");
  expect(await upgradeDatabase(dataFolder)).toMatchObject({
    code: 0,
    text: expect.stringContaining("already"),
  });

  // An interruption between two renames has the same effect as one after the last rename.
  await rename(folder, `${folder}.carried`);
  const { kysely, close } = await openEmbedded<Schema>({ folder, log });
  try {
    expect(
      await digestTables(async (text) => (await sql.raw<Record<string, unknown>>(text).execute(kysely)).rows),
    ).toBe(contents);
    expect(await appliedMigrations(kysely)).toEqual(MIGRATIONS);
    await migrate(kysely);
    // Sequences continue, foreign keys are enforced again, and triggers work.
    const { number } = await kysely
      .insertInto("search_shard")
      .values({ environment_id: ENVIRONMENT_ID, passage_count: 0 })
      .returning("number")
      .executeTakeFirstOrThrow();
    expect(number).toBe(3);
    const orphan = { environment_id: "env_of_nobody", passage_count: 0 };
    await expect(kysely.insertInto("search_shard").values(orphan).execute()).rejects.toMatchObject({
      code: "23503",
    });
    const changed = await kysely
      .updateTable("video")
      .set({ size_bytes: 5 })
      .where("id", "=", FAILED_VIDEO_ID)
      .returning("changed_at")
      .executeTakeFirstOrThrow();
    expect(changed.changed_at.getUTCFullYear()).toBeGreaterThan(2024);
  } finally {
    await close();
  }
});

test("a migration that was interrupted before its moves is discarded", async () => {
  const dataFolder = await makeOlderDataFolder({ installed: false });
  const folder = join(dataFolder, "database");
  await mkdir(`${folder}.carried`);
  await mkdir(`${folder}.new-0123/old`, { recursive: true });
  await expect(openEmbedded({ folder, log })).rejects.toMatchObject(advice);
  expect((await readdir(dataFolder)).sort()).toEqual(["database", "database.lock"]);
  expect(await readMajorVersion(folder)).toBe("17");
});
