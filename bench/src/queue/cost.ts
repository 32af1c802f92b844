import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "@subtext/server/db/schema";
import { sql } from "kysely";
import { acceptVideos, type QueueParts } from "./videos.ts";

const VIDEOS = 100;
const IDLE_SECONDS = 10;
const TABLES = ["video", "transcription", "transcription_attempt", "event", "delivery", "delivery_attempt"];

/** Cumulative counters of the current database. */
interface Counts {
  /** Null if the extension pg_stat_statements is not loaded. */
  statements: number | null;
  transactions: number;
  rowsWritten: number;
  walBytes: number;
}

export interface Receiver {
  url: string;
  close(): void;
}

/**
 * Measures PostgreSQL's work per video, from the completed upload to the delivered webhook, minus the work that idle
 * workers cause in the same time. Returns a table row for each counter.
 * @param untilDone resolves when all videos are COMPLETED
 */
export async function measureCost(
  parts: QueueParts,
  { environmentId, untilDone }: { environmentId: string; untilDone: (videos: number) => Promise<void> },
): Promise<string[][]> {
  const { db } = parts;
  const idleFrom = await readCounts(db);
  await sleep(IDLE_SECONDS * 1000);
  const idle = subtractCounts(await readCounts(db), idleFrom);

  const before = performance.now();
  const from = await readCounts(db);
  await acceptVideos(parts, [environmentId], VIDEOS);
  await untilDone(VIDEOS);
  await untilDelivered(db);
  const all = subtractCounts(await readCounts(db), from);
  const share = (performance.now() - before) / 1000 / IDLE_SECONDS;
  const perVideo = (count: (counts: Counts) => number) => (count(all) - count(idle) * share) / VIDEOS;

  const sizes = await sql<{ bytes: number }>`
    select sum(pg_total_relation_size(relid))::float8 as bytes from pg_stat_user_tables
    where relname in (${sql.join(TABLES)})`.execute(db);
  const statements =
    all.statements === null ? "not counted" : perVideo((counts) => counts.statements ?? 0).toFixed(0);
  const idleStatements =
    idle.statements === null ? "not counted" : (idle.statements / IDLE_SECONDS).toFixed(1);
  return [
    ["statements", statements, idleStatements],
    [
      "transactions",
      perVideo((counts) => counts.transactions).toFixed(0),
      (idle.transactions / IDLE_SECONDS).toFixed(1),
    ],
    [
      "rows inserted, updated or deleted",
      perVideo((counts) => counts.rowsWritten).toFixed(0),
      (idle.rowsWritten / IDLE_SECONDS).toFixed(1),
    ],
    [
      "write-ahead log",
      `${(perVideo((counts) => counts.walBytes) / 1024).toFixed(1)} KiB`,
      `${(idle.walBytes / IDLE_SECONDS / 1024).toFixed(1)} KiB`,
    ],
    ["permanent disk space, with indexes", `${(sizes.rows[0]!.bytes / VIDEOS / 1024).toFixed(1)} KiB`, ""],
  ];
}

export async function startReceiver(): Promise<Receiver> {
  const server = createServer((request, response) => request.resume().on("end", () => response.end()));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function untilDelivered(db: Db): Promise<void> {
  for (;;) {
    const waiting = await db
      .selectFrom("delivery")
      .select("id")
      .where("status", "=", "pending")
      .limit(1)
      .execute();
    if (waiting.length === 0) return;
    await sleep(200);
  }
}

async function readCounts(db: Db): Promise<Counts> {
  // An idle PostgreSQL session reports its statistics within 10 seconds.
  await sleep(11_000);
  const { rows } = await sql<Omit<Counts, "statements">>`
    select (xact_commit + xact_rollback)::float8 as transactions,
      (tup_inserted + tup_updated + tup_deleted)::float8 as "rowsWritten",
      pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as "walBytes"
    from pg_stat_database where datname = current_database()`.execute(db);
  const statements = await sql<{ calls: number }>`
    select sum(calls)::float8 as calls from pg_stat_statements
    join pg_database on oid = dbid where datname = current_database()`
    .execute(db)
    .then(
      (result) => result.rows[0]?.calls ?? null,
      () => null,
    );
  return { ...rows[0]!, statements };
}

function subtractCounts(to: Counts, from: Counts): Counts {
  return {
    statements: to.statements === null || from.statements === null ? null : to.statements - from.statements,
    transactions: to.transactions - from.transactions,
    rowsWritten: to.rowsWritten - from.rowsWritten,
    walBytes: to.walBytes - from.walBytes,
  };
}
