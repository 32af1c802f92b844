import { claimTranscription } from "@subtext/server/pipeline/claim";
import { createLog } from "@subtext/server/telemetry/log";
import { listVideos, transcriptionsOfVideos } from "@subtext/server/videos/queries";
import { PgBoss } from "pg-boss";
import { fillBacklog, type QueueParts } from "./queue-videos.ts";

const CLAIMS = 200;
const PAGES = 50;
const PAGE = 50;

export interface Backlog {
  rows: number;
  environments: number;
  /** Whether one environment has nine in ten, before all others, and some in work. */
  flood: boolean;
}

/** A line of the table: what was queued, and what it costs to take one and to list some. */
export async function measureBacklog(parts: QueueParts, url: string, backlog: Backlog): Promise<string[]> {
  await fillBacklog(parts, backlog);
  const boss = new PgBoss({ connectionString: url, supervise: false, schedule: false, max: 1 });
  await boss.start();
  const claims: number[] = [];
  const { signal } = new AbortController();
  for (let number = 0; number < CLAIMS; number++) {
    const before = performance.now();
    const [job] = await boss.fetch<{ subjectId: string }>("transcribe");
    const row = await claimTranscription(
      { ...parts, log: createLog("silent"), maxConcurrentPerEnvironment: null },
      { id: job!.id, subjectId: job!.data.subjectId, signal },
      signal,
    );
    claims.push(performance.now() - before);
    if (!row) throw new Error("a job had nothing to do");
  }
  await boss.stop({ graceful: false });

  const pages: number[] = [];
  for (let number = 0; number < PAGES; number++) {
    const before = performance.now();
    const videos = await listVideos(parts.db, "env_00000001", {
      transcriptionStatus: "PENDING",
      before: null,
      limit: PAGE,
    });
    await transcriptionsOfVideos(
      parts.db,
      videos.map(({ id }) => id),
    );
    pages.push(performance.now() - before);
  }
  const { rows, environments, flood } = backlog;
  return [
    String(rows),
    String(environments),
    flood ? "yes" : "no",
    `${quantile(claims, 0.5).toFixed(1)} ms`,
    `${quantile(claims, 0.99).toFixed(1)} ms`,
    `${quantile(pages, 0.5).toFixed(1)} ms`,
  ];
}

/** @param share 0 … 1 */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
