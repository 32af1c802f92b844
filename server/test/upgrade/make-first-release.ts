/**
 * Regenerates `first-release.sql`: the tables of the first release, with rows in each. The file stays as it is, like the
 * databases of that release; this documents its origin. Requires psql, pg_dump and, as its argument, the URL of an empty
 * database.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hashPassword } from "better-auth/crypto";
import { Kysely, PostgresDialect } from "kysely";
import { Migrator } from "kysely/migration";
import pg from "pg";
import { MIGRATIONS } from "../../src/db/migrations.ts";
import { FIRST_RELEASE } from "./first-release-names.ts";

const databaseUrl = process.argv[2];
if (!databaseUrl) throw new Error("name the URL of an empty database");

function run(command: string, args: string[], input = ""): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { input, encoding: "utf8" });
  if (status !== 0) throw new Error(`${command}: ${error?.message ?? stderr}`);
  return stdout;
}

const db = new Kysely<unknown>({
  dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: databaseUrl }) }),
});
const migrator = new Migrator({ db, provider: { getMigrations: async () => MIGRATIONS } });
const { error } = await migrator.migrateTo(FIRST_RELEASE.lastMigration);
await db.destroy();
if (error) throw error;

const rows = readFileSync(join(import.meta.dirname, "first-release-rows.sql"), "utf8");
const keyHash = createHash("sha256").update(FIRST_RELEASE.apiKey).digest("hex");
const passwordHash = await hashPassword(FIRST_RELEASE.operator.password);
run(
  "psql",
  [databaseUrl, "-v", "ON_ERROR_STOP=1", "-v", `key_hash=${keyHash}`, "-v", `password_hash=${passwordHash}`],
  `set session_replication_role = replica;\n${rows}`,
);

const dump = run("pg_dump", [
  databaseUrl,
  "--schema=public",
  "--column-inserts",
  "--no-owner",
  "--no-privileges",
  "--no-comments",
  "--no-tablespaces",
]);
const statements = dump
  .split("\n")
  // Commands that only psql understands, and settings of the session.
  .filter((line) => !/^(?:--|\\|SET |SELECT pg_catalog\.set_config|CREATE SCHEMA)/.test(line))
  .join("\n")
  .split(/;\n+(?=(?:CREATE|ALTER|INSERT)\b)/)
  .map((statement) => statement.trim().replace(/;$/, ""))
  .filter((statement) => statement !== "");
writeFileSync(
  join(import.meta.dirname, "first-release.sql"),
  statements.map((statement) => `${statement};\n--;\n`).join(""),
);
