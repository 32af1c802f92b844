import { sql } from "kysely";
import { pino } from "pino";
import { openDatabase } from "../../src/db/open.ts";

/**
 * Writes pairs of rows forever, one transaction per pair, and prints each after its commit. Tests run it as a separate
 * process and kill it: `node database-writer.ts <folder>`.
 *
 * The first line of output describes the existing rows: `{"last": 12, "left": 12, "right": 12}`. Each later line is a
 * number.
 */
const folder = process.argv[2]!;
const log = pino({ level: "silent" });
const { kysely: db } = await openDatabase<Record<"lefts" | "rights", { id: number; text: string }>>({
  databaseUrl: null,
  folder,
  log,
});
await sql`create table if not exists lefts (id integer primary key, text text not null)`.execute(db);
await sql`create table if not exists rights (id integer primary key references lefts, text text not null)`.execute(
  db,
);
const { rows } = await sql<{ last: number; left: number; right: number }>`select
  (select coalesce(max(id), 0) from lefts) as last,
  (select count(*) from lefts where length(text) = 20000) as left,
  (select count(*) from rights where length(text) = 20000) as right`.execute(db);
process.stdout.write(`${JSON.stringify(rows[0])}\n`);

for (let id = rows[0]!.last + 1; ; id += 1) {
  const text = String.fromCharCode(65 + (id % 26)).repeat(20_000);
  await db.transaction().execute(async (tx) => {
    await tx.insertInto("lefts").values({ id, text }).execute();
    await tx.insertInto("rights").values({ id, text }).execute();
  });
  process.stdout.write(`${id}\n`);
  if (id % 40 === 0) await sql`checkpoint`.execute(db);
}
