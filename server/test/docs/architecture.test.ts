import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { shareService } from "../support/service.ts";

const service = shareService({ start: false });

test("docs/architecture.md has every table of the database, and no other", async () => {
  const { rows } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public'
  `.execute(service.service.parts.database.kysely);
  const page = readFileSync(join(import.meta.dirname, "../../../docs/architecture.md"), "utf8");
  const [, table = ""] = page.match(/^\| tables \| contain \|\n(.*?)\n\n/ms) ?? [];
  const documented = [...table.matchAll(/^\| ([^|]+) \|/gm)]
    .flatMap(([, names = ""]) => [...names.matchAll(/`(\w+)`/g)])
    .map(([, name]) => name);
  expect(documented.filter((name) => name !== "pgboss").sort()).toEqual(rows.map(({ name }) => name).sort());
});
