import { randomUUID } from "node:crypto";
import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { blocksRunBy } from "../../../test/support/documented-blocks.ts";
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
      const [block] = blocksRunBy(import.meta.filename);
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
      const database = await openDatabase<Schema>({ databaseUrl: url.href, folder: "unused", log });
      onTestFinished(() => database.close());
      await migrate(database.kysely);
      const queue = new Queue(database.boss, database.kind, log);
      await queue.start();
      await queue.stop(1_000);
      expect(await database.kysely.selectFrom("video").selectAll().execute()).toEqual([]);
      expect(await lacksTextIndex(database.kysely)).toBe(false);
    },
  );

  test.skipIf(server === undefined)(
    "may lack the privilege for extensions: the tables are created, and the documented statements add the index later (is not tested: TEST_DATABASE_URL names no server)",
    async () => {
      const [, block] = blocksRunBy(import.meta.filename);
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
