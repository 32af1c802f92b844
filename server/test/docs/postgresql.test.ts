import { execFileSync, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { blocksRunBy } from "../../../test/support/documented-blocks.ts";
import { readUnitCommands } from "../../../test/support/unit-commands.ts";
import { migrate } from "../../src/db/migrate.ts";
import { openDatabase } from "../../src/db/open.ts";
import type { Schema } from "../../src/db/schema.ts";
import { lacksTextIndex } from "../../src/health/queries.ts";
import { Queue } from "../../src/queue/queue.ts";
import { createLog } from "../../src/telemetry/log.ts";

const server = process.env.TEST_DATABASE_URL;

describe("the documented role and database of PostgreSQL", () => {
  test.skipIf(server === undefined)(
    "suffice to create all tables and the queue (is not tested: TEST_DATABASE_URL names no server)",
    async () => {
      const [, , block] = blocksRunBy(import.meta.filename);
      const name = `subtext_${randomUUID().replaceAll("-", "")}`;
      const admin = new pg.Client({ connectionString: server });
      await admin.connect();
      onTestFinished(async () => {
        await admin.query(`drop database if exists ${name} with (force)`);
        await admin.query(`drop role if exists ${name}`);
        await admin.end();
      });
      const statements = block!.text
        .replaceAll(/\bsubtext\b/g, name)
        .split("\n")
        .filter(Boolean);
      expect(statements).toHaveLength(2);
      for (const statement of statements) await admin.query(statement);

      const url = new URL(server!);
      Object.assign(url, { username: name, password: "change-me", pathname: `/${name}` });
      const log = createLog("error");
      await migrateWithQueue(url.href);
      const database = await openDatabase<Schema>({ databaseUrl: url.href, folder: "unused", log });
      onTestFinished(() => database.close());
      expect(await database.kysely.selectFrom("video").selectAll().execute()).toEqual([]);
      expect(await lacksTextIndex(database.kysely)).toBe(false);
    },
  );

  test.skipIf(server === undefined)(
    "may lack the privilege for extensions: the tables are created, and the documented statements add the index later (is not tested: TEST_DATABASE_URL names no server)",
    async () => {
      const [, , , block] = blocksRunBy(import.meta.filename);
      const name = `subtext_${randomUUID().replaceAll("-", "")}`;
      const url = new URL(server!);
      const connect = async (database: string) => {
        const client = new pg.Client({
          connectionString: Object.assign(new URL(url), { pathname: database }).href,
        });
        await client.connect();
        return client;
      };
      const admin = await connect(url.pathname);
      onTestFinished(async () => {
        await admin.query(`drop database if exists ${name} with (force)`);
        await admin.query(`drop role if exists ${name}`);
        await admin.end();
      });
      await admin.query(`create role ${name} login password 'change-me'`);
      await admin.query(`create database ${name}`);
      const owner = await connect(`/${name}`);
      onTestFinished(() => owner.end());
      await owner.query(`grant create on schema public to ${name}`);

      const databaseUrl = Object.assign(new URL(url), {
        username: name,
        password: "change-me",
        pathname: `/${name}`,
      });
      const log = createLog("error");
      const database = await openDatabase<Schema>({ databaseUrl: databaseUrl.href, folder: "unused", log });
      onTestFinished(() => database.close());
      await migrate(database.kysely);
      expect(await lacksTextIndex(database.kysely)).toBe(true);
      for (const statement of block!.text.split("\n").filter(Boolean)) await owner.query(statement);
      expect(await lacksTextIndex(database.kysely)).toBe(false);
    },
  );
});

const PASSWORD = "change-me";
const UNIT = join(import.meta.dirname, "../../../deploy/systemd/subtext-postgres-backup.service");
const hasPrograms = spawnSync("pg_dump", ["--version"]).status === 0;

describe.skipIf(server === undefined || !hasPrograms)(
  "a dump of PostgreSQL (is not tested: no TEST_DATABASE_URL or no pg_dump)",
  () => {
    const [dump, restore] = blocksRunBy(import.meta.filename).map(({ text }) => text);
    const dumpByTimer = readUnitCommands(readFileSync(UNIT, "utf8"), "ExecStart");

    test.each([
      ["the documented command", dump!],
      ["the systemd timer", dumpByTimer],
    ])("by %s is readable only for its owner, and can be restored as documented", async (_by, command) => {
      const name = `subtext_${randomUUID().replaceAll("-", "")}`;
      const folder = mkdtempSync(join(tmpdir(), "dump-"));
      const admin = new pg.Client({ connectionString: server });
      await admin.connect();
      onTestFinished(async () => {
        for (const each of [name, `${name}_before`])
          await admin.query(`drop database if exists ${each} with (force)`);
        await admin.query(`drop role if exists ${name}`);
        await admin.end();
        rmSync(folder, { recursive: true, force: true });
      });
      await admin.query(`create role ${name} login password '${PASSWORD}'`);
      await admin.query(`create database ${name} owner ${name} encoding 'UTF8' template template0`);
      const url = Object.assign(new URL(server!), {
        username: name,
        password: PASSWORD,
        pathname: `/${name}`,
      });
      const run = (commands: string, variables: NodeJS.ProcessEnv) => {
        const here = commands
          .replaceAll("--host=db", `--host=${url.hostname} --port=${url.port}`)
          .replaceAll("/var/backups/subtext", folder)
          .replaceAll(/\bsubtext(?=_before|\b(?!\.))/g, name);
        const env = { ...process.env, ...variables, PGPASSWORD: PASSWORD };
        execFileSync("bash", ["-euc", `umask 0077\n${here}`], {
          cwd: folder,
          env,
          stdio: ["ignore", "ignore", "inherit"],
        });
      };

      await migrateWithQueue(url.href);
      const before = await listTables(url.href);
      run(command, { PGHOST: url.hostname, PGPORT: url.port, PGUSER: name, PGDATABASE: name });
      const [file = ""] = readdirSync(folder);
      expect(file).toMatch(/\.dump$/);
      expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
      run(restore!.replace("subtext.dump", file), {});
      expect(await listTables(url.href)).toEqual(before);
      expect(before.filter(({ schema }) => schema === "pgboss")).not.toEqual([]);
      await migrateWithQueue(url.href);
    });
  },
);

async function migrateWithQueue(databaseUrl: string): Promise<void> {
  const log = createLog("error");
  const database = await openDatabase<Schema>({ databaseUrl, folder: "unused", log });
  await migrate(database.kysely);
  const queue = new Queue(database.boss, database.kind, log);
  await queue.start();
  await queue.stop(1_000);
  await database.close();
}

async function listTables(connectionString: string): Promise<{ schema: string; table: string }[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  const { rows } = await client.query(
    `select schemaname as schema, tablename as table from pg_tables where schemaname in ('public', 'pgboss') order by 1, 2`,
  );
  await client.end();
  return rows;
}
