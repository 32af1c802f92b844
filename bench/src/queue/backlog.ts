import type { Database } from "@subtext/server/db/database";
import type { Schema } from "@subtext/server/db/schema";
import type { JobTag } from "@subtext/server/queue/fair-queueing";
import { createLog } from "@subtext/server/telemetry/log";
import { claimTranscription } from "@subtext/server/transcription/claim";
import { findTranscriptionsByVideo, listVideos } from "@subtext/server/videos/queries";
import { sql } from "kysely";
import { PgBoss } from "pg-boss";
import { quantile } from "../statistics.ts";
import { fillBacklog, type QueueParts } from "./videos.ts";

const CLAIMS = 500;
const WARM_UP_CLAIMS = 20;
const PAGES = 50;
const PAGE_SIZE = 50;

export interface Backlog {
  rows: number;
  environments: number;
  /** Whether one environment has 90% of the jobs. */
  flood: boolean;
  /** Number of jobs claimed before the measurement. Claiming them leaves dead entries at the start of the index. */
  claimedBefore: number;
}

/** In milliseconds. */
export interface Percentiles {
  p50: number;
  p99: number;
}

export interface BacklogResult extends Backlog {
  database: "postgres" | "embedded";
  fetch: Percentiles;
  claimTransaction: Percentiles;
  page: Percentiles;
  /** `select 1` between fetches, as a baseline for the machine and the driver. */
  roundTrip: Percentiles;
}

export async function measureBacklog(
  parts: QueueParts,
  database: Database<Schema>,
  backlog: Backlog,
): Promise<BacklogResult> {
  const { db } = parts;
  await fillBacklog(parts, backlog);
  const boss = new PgBoss({ ...database.boss, supervise: false, schedule: false, migrate: false });
  await boss.start();
  if (backlog.claimedBefore > 0) {
    await sql`
      update pgboss.job set state = 'active', started_on = now() where name = 'transcribe' and id in (
        select id from pgboss.job where name = 'transcribe' order by priority desc, created_on
        limit ${backlog.claimedBefore})`.execute(db);
  }
  const fetches: number[] = [];
  const claims: number[] = [];
  const roundTrips: number[] = [];
  const { signal } = new AbortController();
  for (let number = 0; number < WARM_UP_CLAIMS + CLAIMS; number++) {
    const startedAt = performance.now();
    const [job] = await boss.fetch<{ subjectId: string; tag: JobTag }>("transcribe");
    const fetchedAt = performance.now();
    const claim = await claimTranscription(
      { ...parts, log: createLog("silent"), maxConcurrentPerEnvironment: null },
      { id: job!.id, subjectId: job!.data.subjectId, tag: job!.data.tag, signal },
      signal,
    );
    if (!claim) throw new Error("a fetched job could not be claimed");
    if (number < WARM_UP_CLAIMS) continue;
    fetches.push(fetchedAt - startedAt);
    claims.push(performance.now() - fetchedAt);
    const before = performance.now();
    await sql`select 1`.execute(db);
    roundTrips.push(performance.now() - before);
  }
  // The embedded database has only one connection, so it must stay open.
  await boss.stop({ graceful: false, close: database.kind === "postgres" });

  const pages: number[] = [];
  for (let number = 0; number < PAGES; number++) {
    const before = performance.now();
    const videos = await listVideos(db, "env_00000001", {
      transcriptionStatus: "PENDING",
      before: null,
      limit: PAGE_SIZE,
    });
    await findTranscriptionsByVideo(
      db,
      videos.map(({ id }) => id),
    );
    pages.push(performance.now() - before);
  }
  return {
    database: database.kind,
    ...backlog,
    fetch: percentiles(fetches),
    claimTransaction: percentiles(claims),
    page: percentiles(pages),
    roundTrip: percentiles(roundTrips),
  };
}

function percentiles(values: number[]): Percentiles {
  const rounded = (share: number) => Math.round(quantile(values, share) * 100) / 100;
  return { p50: rounded(0.5), p99: rounded(0.99) };
}
