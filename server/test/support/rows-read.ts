import { CompiledQuery, type Kysely, type KyselyPlugin, type RootOperationNode } from "kysely";
import type { Db, Schema } from "../../src/db/schema.ts";

interface Plan {
  "Node Type": string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  Plans?: Plan[];
}

/** Counts the rows that the database reads from tables and indexes to run the queries. */
export async function countRowsRead(db: Db, runQueries: (db: Db) => Promise<unknown>): Promise<number> {
  const queries: CompiledQuery[] = [];
  const recorder: KyselyPlugin = {
    transformQuery({ node, queryId }): RootOperationNode {
      queries.push(db.getExecutor().compileQuery(node, queryId));
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  await runQueries(db.withPlugin(recorder));
  let rows = 0;
  for (const { sql, parameters } of queries) rows += await countRowsReadBy(db, sql, parameters);
  return rows;
}

export async function countRowsReadBy(
  db: Kysely<Schema>,
  statement: string,
  values: readonly unknown[],
): Promise<number> {
  const explained = CompiledQuery.raw(`explain (analyze, format json) ${statement}`, [...values]);
  const { rows } = await db.executeQuery<{ "QUERY PLAN": [{ Plan: Plan }] }>(explained);
  return countScanned(rows[0]!["QUERY PLAN"][0].Plan);
}

function countScanned(plan: Plan): number {
  const below = (plan.Plans ?? []).reduce((sum, each) => sum + countScanned(each), 0);
  if (!plan["Node Type"].includes("Scan")) return below;
  return below + (plan["Actual Rows"] + (plan["Rows Removed by Filter"] ?? 0)) * plan["Actual Loops"];
}
