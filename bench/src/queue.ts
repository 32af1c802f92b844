import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { Database } from "@subtext/server/db/database";
import { migrate } from "@subtext/server/db/migrate";
import { openDatabase } from "@subtext/server/db/open";
import type { Schema } from "@subtext/server/db/schema";
import { createEnvironment } from "@subtext/server/environments/environments";
import { systemClock } from "@subtext/server/lib/clock";
import { Queue } from "@subtext/server/queue/queue";
import { createLog } from "@subtext/server/telemetry/log";
import { createWebhookEndpoint } from "@subtext/server/webhooks/endpoints";
import { createEndpointPolicy } from "@subtext/server/webhooks/guard-url";
import { sql } from "kysely";
import pg from "pg";
import { measureApiUnderLoad } from "./api/under-load.ts";
import { type Backlog, type BacklogResult, measureBacklog, type Percentiles } from "./queue/backlog.ts";
import { measureCost, startReceiver } from "./queue/cost.ts";
import { acceptVideos, type QueueParts } from "./queue/videos.ts";
import { CONCURRENCY, RECOGNITION_MS, startWorkers, stopWorkers } from "./queue/workers.ts";
import { measureYielding, type YieldingResult } from "./queue/yielding.ts";
import { quantile } from "./statistics.ts";
import { printTable } from "./table.ts";

/**
 * Measures the queue. Creates and drops databases on the PostgreSQL server of `--database-url`. `--only` runs one part:
 *
 * - `workers`: start latency, and throughput of 1, 2 and 4 worker processes with an engine that only waits.
 * - `cost`: PostgreSQL's work per video. Counts statements if the server loads pg_stat_statements.
 * - `api`: response times of the API under full worker load, in `--rounds` rounds.
 * - `backlog`: fetching, claiming and listing with up to `--backlog` queued videos (at most 100,000 on the embedded
 *   database). `--json` prints a line of JSON for each backlog.
 * - `yielding`: how a recording of `--hours` yields to short clips that arrive every `--clip-every` seconds. Slices and
 *   clips are scaled down from a recording of 12 hours. Requires ffmpeg.
 */
const { values } = parseArgs({
  options: {
    "database-url": { type: "string" },
    backlog: { type: "string", default: "1000000" },
    json: { type: "boolean", default: false },
    rounds: { type: "string", default: "3" },
    hours: { type: "string", default: "2" },
    "clip-every": { type: "string", default: "20" },
    only: { type: "string" },
  },
});
const server = values["database-url"];
if (server === undefined) {
  console.error(
    "--database-url is required. `scripts/start-postgres FOLDER` starts PostgreSQL and prints its URL.",
  );
  process.exit(1);
}

const WORKERS = [1, 2, 4];
const VIDEOS_PER_WORKER = 40;
const STARTS = 100;

const folder = await mkdtemp(join(tmpdir(), "subtext-bench-"));
try {
  const isSelected = (part: string) => values.only === undefined || values.only === part;
  if (isSelected("yielding")) await printYielding();
  if (isSelected("workers")) await withDatabase(server, measureWorkers);
  if (isSelected("cost")) await withDatabase(server, printCost);
  if (isSelected("api")) {
    await withDatabase(server, ({ parts, url }) =>
      measureApiUnderLoad(parts, { url, folder, rounds: Number(values.rounds) }),
    );
  }
  if (isSelected("backlog")) {
    const results: BacklogResult[] = [];
    const report = (result: BacklogResult) => {
      results.push(result);
      if (values.json) console.log(JSON.stringify(result));
    };
    for (const backlog of backlogs(Number(values.backlog))) {
      await withDatabase(server, async ({ parts, database }) => {
        report(await measureBacklog(parts, database, backlog));
      });
    }
    for (const backlog of backlogs(Math.min(100_000, Number(values.backlog)))) {
      await withEmbeddedDatabase(async ({ parts, database }) => {
        report(await measureBacklog(parts, database, backlog));
      });
    }
    if (!values.json) printBacklogs(results);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

function backlogs(maxRows: number): Backlog[] {
  const sizes = [1_000, 10_000, 100_000, 1_000_000].filter((rows) => rows <= maxRows);
  const one = { environments: 1, flood: false, claimedBefore: 0 };
  return [
    ...sizes.map((rows) => ({ ...one, rows })),
    { rows: sizes.at(-1)!, environments: 1_000, flood: true, claimedBefore: 0 },
    { rows: sizes.at(-1)! + 100_000, environments: 1_000, flood: false, claimedBefore: 100_000 },
  ];
}

function printBacklogs(results: BacklogResult[]): void {
  const ms = ({ p50, p99 }: Percentiles) => [`${p50.toFixed(2)} ms`, `${p99.toFixed(2)} ms`];
  printTable(
    "With a backlog: p50 and p99 of the fetch statement, the claim transaction, a page of 50 videos, and `select 1`",
    [
      "database",
      "queued",
      "environments",
      "flood",
      "claimed before",
      "fetch",
      "p99",
      "claim",
      "p99",
      "page",
      "p99",
      "select 1",
      "p99",
    ],
    results.map((result) => [
      result.database,
      String(result.rows - result.claimedBefore),
      String(result.environments),
      result.flood ? "yes" : "no",
      String(result.claimedBefore),
      ...ms(result.fetch),
      ...ms(result.claimTransaction),
      ...ms(result.page),
      ...ms(result.roundTrip),
    ]),
  );
}

async function printYielding(): Promise<void> {
  const hours = Number(values.hours);
  const clipIntervalSeconds = Number(values["clip-every"]);
  const results: YieldingResult[] = [];
  for (const withClips of [false, true]) {
    await withEmbeddedDatabase(async ({ parts }) => {
      const options = { folder: await mkdtemp(join(folder, "yielding-")), hours, clipIntervalSeconds };
      results.push(await measureYielding(parts, { ...options, withClips }));
    });
  }
  const [alone, withClips] = results as [YieldingResult, YieldingResult];
  const percent = (share: number) => `${(share * 100).toFixed(1)}%`;
  printTable(
    `A recording of ${hours} h on one worker, alone and with a clip every ${clipIntervalSeconds} s`,
    ["", "worker time", "attempts", "resuming", "resuming, share of worker time", "throughput lost"],
    results.map((result) => [
      result === alone ? "alone" : "with clips",
      `${result.workSeconds.toFixed(1)} s`,
      String(result.attempts),
      `${result.resumeSeconds.toFixed(1)} s`,
      percent(result.resumeSeconds / result.workSeconds),
      percent(1 - alone.workSeconds / result.workSeconds),
    ]),
  );
  printTable(
    "From enqueued to started",
    ["environment of the clip", "wait", "limit"],
    withClips.clips.map(({ environment, waitSeconds, boundSeconds }) => [
      environment,
      `${waitSeconds.toFixed(1)} s`,
      `${boundSeconds.toFixed(1)} s`,
    ]),
  );
}

interface Opened {
  parts: QueueParts;
  database: Database<Schema>;
}

async function withDatabase(
  url: string,
  measure: (opened: Opened & { url: string }) => Promise<void>,
): Promise<void> {
  const name = `bench_queue_${process.pid}_${Date.now()}`;
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  await admin.query(`create database ${name}`);
  const databaseUrl = new URL(url);
  databaseUrl.pathname = `/${name}`;
  try {
    await withOpenDatabase(databaseUrl.href, folder, (opened) =>
      measure({ ...opened, url: databaseUrl.href }),
    );
  } finally {
    await admin.query(`drop database ${name} with (force)`);
    await admin.end();
  }
}

async function withEmbeddedDatabase(measure: (opened: Opened) => Promise<void>): Promise<void> {
  await withOpenDatabase(null, await mkdtemp(join(folder, "embedded-")), measure);
}

async function withOpenDatabase(
  databaseUrl: string | null,
  databaseFolder: string,
  measure: (opened: Opened) => Promise<void>,
): Promise<void> {
  const log = createLog("error");
  const database = await openDatabase<Schema>({ databaseUrl, folder: join(databaseFolder, "database"), log });
  await migrate(database.kysely);
  const queue = new Queue(database.boss, database.kind, log);
  await queue.start();
  try {
    await measure({ parts: { db: database.kysely, queue, clock: systemClock }, database });
  } finally {
    await queue.stop(1_000);
    await database.close();
  }
}

async function measureWorkers({ parts, url }: { parts: QueueParts; url: string }): Promise<void> {
  const { id: environmentId } = await createEnvironment(parts, { name: "Bench", aiTranscription: true });
  const lines: string[][] = [];
  let alone = 0;
  for (const count of WORKERS) {
    const workers = await startWorkers({ url, folder, count });
    const videos = VIDEOS_PER_WORKER * count;
    const before = performance.now();
    const since = systemClock.now();
    await acceptVideos(parts, [environmentId], videos);
    await untilCompleted(parts, since, videos);
    const perSecond = (videos / (performance.now() - before)) * 1000;
    if (count === 1) alone = perSecond;
    const ideal = (CONCURRENCY * count * 1000) / RECOGNITION_MS;
    lines.push([
      String(count),
      String(videos),
      perSecond.toFixed(1),
      (perSecond / ideal).toFixed(2),
      (perSecond / (alone * count)).toFixed(2),
    ]);
    await stopWorkers(workers);
  }
  printTable(
    `Worker processes with ${CONCURRENCY} concurrent jobs, each of which waits ${RECOGNITION_MS} ms`,
    ["workers", "videos", "per second", "of the theoretical maximum", "efficiency relative to one"],
    lines,
  );

  const workers = await startWorkers({ url, folder, count: 1 });
  const since = systemClock.now();
  for (let video = 0; video < STARTS; video++) {
    await acceptVideos(parts, [environmentId], 1);
    await sleep(RECOGNITION_MS / CONCURRENCY + 50);
  }
  await untilCompleted(parts, since, STARTS);
  await stopWorkers(workers);
  const attempts = await parts.db
    .selectFrom("transcription_attempt")
    .select(["queued_at", "started_at"])
    .where("queued_at", ">=", since)
    .execute();
  const waits = attempts.map(({ queued_at, started_at }) => started_at.getTime() - queued_at.getTime());
  printTable(
    "From enqueued to started, with a free worker",
    ["videos", "p50", "p99"],
    [[String(waits.length), `${quantile(waits, 0.5)} ms`, `${quantile(waits, 0.99)} ms`]],
  );
}

async function printCost({ parts, url }: { parts: QueueParts; url: string }): Promise<void> {
  await sql`create extension if not exists pg_stat_statements`.execute(parts.db).catch(() => {});
  const receiver = await startReceiver();
  const { id: environmentId } = await createEnvironment(parts, { name: "Bench", aiTranscription: true });
  const policy = createEndpointPolicy({ allowHttp: true, allowPrivateNetworks: ["127.0.0.1/32"] });
  await createWebhookEndpoint({ ...parts, policy }, { environmentId, url: receiver.url });
  const workers = await startWorkers({ url, folder, count: 1, recognitionMs: 0 });
  try {
    const since = systemClock.now();
    const lines = await measureCost(parts, {
      environmentId,
      untilDone: (videos) => untilCompleted(parts, since, videos),
    });
    printTable("PostgreSQL's work", ["", "per video", "per second with an idle worker"], lines);
  } finally {
    await stopWorkers(workers);
    receiver.close();
  }
}

async function untilCompleted({ db }: QueueParts, since: Date, count: number): Promise<void> {
  for (;;) {
    const { completed } = await db
      .selectFrom("transcription")
      .select(({ fn }) => fn.countAll<number>().as("completed"))
      .where("status", "=", "COMPLETED")
      .where("created_at", ">=", since)
      .executeTakeFirstOrThrow();
    if (Number(completed) >= count) return;
    await sleep(20);
  }
}
