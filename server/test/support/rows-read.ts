import { CompiledQuery, type Kysely, type KyselyPlugin, type RootOperationNode } from "kysely";
import type { Db, Schema } from "../../src/db/schema.ts";

interface Plan {
  "Node Type": string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  Plans?: Plan[];
}

/** How many rows the database reads from tables and indexes to run the given queries. */
export async function rowsRead(db: Db, ask: (db: Db) => Promise<unknown>): Promise<number> {
  const asked: CompiledQuery[] = [];
  const noting: KyselyPlugin = {
    transformQuery({ node, queryId }): RootOperationNode {
      asked.push(db.getExecutor().compileQuery(node, queryId));
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  await ask(db.withPlugin(noting));
  let rows = 0;
  for (const { sql, parameters } of asked) rows += await rowsReadBy(db, sql, parameters);
  return rows;
}

/** The rows that one statement reads. */
export async function rowsReadBy(
  db: Kysely<Schema>,
  statement: string,
  values: readonly unknown[],
): Promise<number> {
  const explained = CompiledQuery.raw(`explain (analyze, format json) ${statement}`, [...values]);
  const { rows } = await db.executeQuery<{ "QUERY PLAN": [{ Plan: Plan }] }>(explained);
  return scanned(rows[0]!["QUERY PLAN"][0].Plan);
}

function scanned(plan: Plan): number {
  const below = (plan.Plans ?? []).reduce((sum, each) => sum + scanned(each), 0);
  if (!plan["Node Type"].includes("Scan")) return below;
  return below + (plan["Actual Rows"] + (plan["Rows Removed by Filter"] ?? 0)) * plan["Actual Loops"];
}
