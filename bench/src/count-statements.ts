import { writeFileSync } from "node:fs";
import { PGlite } from "@electric-sql/pglite";
import pg from "pg";

// Preloaded into the service. Counts the SQL statements that the service sends, and writes the counts to the file named
// by STATEMENTS_FILE on SIGUSR2.

const counts = new Map<string, number>();

function count(statement: unknown): void {
  const text = typeof statement === "string" ? statement : (statement as { text?: string } | null)?.text;
  if (text === undefined) return;
  const start = text.replaceAll(/\s+/g, " ").trim().slice(0, 100);
  counts.set(start, (counts.get(start) ?? 0) + 1);
}

/** Wraps a method whose first argument is a statement. */
function countCalls(prototype: object, method: string): void {
  const original = Reflect.get(prototype, method) as (...values: unknown[]) => unknown;
  Reflect.set(prototype, method, function (this: unknown, ...values: unknown[]) {
    count(values[0]);
    return original.apply(this, values);
  });
}

const basePglite = Object.getPrototypeOf(PGlite.prototype) as object;
countCalls(basePglite, "query");
countCalls(basePglite, "exec");
countCalls(pg.Client.prototype, "query");

process.on("SIGUSR2", () => {
  writeFileSync(process.env.STATEMENTS_FILE!, JSON.stringify(Object.fromEntries(counts)));
  counts.clear();
});
