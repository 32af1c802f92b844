import { copyFile, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { FILE_FORMATS, type FileFormat } from "@subtext/client/contract/transcription";
import type { BulkOperationView } from "@subtext/server/admin/contract/bulk-operation";
import type { Db } from "@subtext/server/db/schema";
import { readServiceFile } from "@subtext/server/lib/service-file";
import { fileKey, filePrefix } from "@subtext/server/storage/transcript-files";
import { sql } from "kysely";
import { freePort } from "../../server/test/support/free-port.ts";
import { cpuSeconds, memoryOverTime } from "./process-tree.ts";
import { SpawnedService } from "./spawned-service.ts";
import { printTable } from "./table.ts";

/**
 * Downloads, retries and deletes all of `--videos` videos (10,000 by default), of which half are completed with three
 * files and half failed. Each operation is interrupted early, then repeated. The database is the embedded one, or an
 * empty one at `--database-url`. Fails if an operation leaves out a video.
 */
const { values } = parseArgs({
  options: {
    videos: { type: "string", default: "10000" },
    "database-url": { type: "string" },
  },
});
const VIDEOS = Number(values.videos);
if (!Number.isSafeInteger(VIDEOS) || VIDEOS < 2 || VIDEOS % 2 !== 0) {
  console.error(
    `--videos must be an even number of at least 2, because half of the videos have failed: ${values.videos}`,
  );
  process.exit(1);
}
const POLL_MS = 100;
const WORDS = "Captions follow every word that people say today. ".repeat(100);
/** An interrupted download ends when the client has received this much of the archive. */
const DISCONNECT_AFTER_BYTES = 64 * 1024;
/** Size of the record at the end of a ZIP file, and the offset of its number of files. */
const ZIP_END_BYTES = 22;
const ZIP_COUNT_OFFSET = 10;
const MEBIBYTE = 1024 ** 2;

const folder = await mkdtemp(join(tmpdir(), "subtext-bulk-"));
const databaseUrl = values["database-url"];
const settings = { WORKER_CONCURRENCY: "1", ...(databaseUrl && { DATABASE_URL: databaseUrl }) };
const service = new SpawnedService(join(folder, "data"), await freePort(), settings);
const rows: string[][] = [];
try {
  const { environmentId } = await service.createTenant(null);
  await service.withParts(async ({ database, transcripts }) => {
    const keyOf = (id: string, format: FileFormat) => fileKey(filePrefix(id, 1), format);
    const original = "transcription_original";
    for (const format of FILE_FORMATS) await transcripts.put(keyOf(original, format), Buffer.from(WORDS));
    await seed(database.kysely, environmentId);
    for (let n = 1; n <= VIDEOS; n += 2) {
      for (const format of FILE_FORMATS) {
        const path = (id: string) => join(service.dataFolder, "files", keyOf(id, format));
        await mkdir(dirname(path(transcriptionId(n))), { recursive: true });
        await copyFile(path(original), path(transcriptionId(n)));
      }
    }
  });
  await service.start();
  const { url, token } = (await readServiceFile(service.dataFolder))!;
  const base = `${url}/internal/environments/${environmentId}`;
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const call = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const response = await fetch(base + path, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  };
  const list = () => call("GET", "/videos");

  /** Measures the service during an operation, and how quickly it still lists videos. */
  const measure = async (
    name: string,
    work: () => Promise<{ videos: number; longestPauseMs: number | null }>,
  ) => {
    const pid = service.pid!;
    const memory = memoryOverTime(() => service.pid);
    const before = cpuSeconds(pid).own;
    const start = performance.now();
    let isOver = false;
    let slowestMs = 0;
    const others = (async () => {
      while (!isOver) {
        const asked = performance.now();
        await list();
        slowestMs = Math.max(slowestMs, performance.now() - asked);
        await sleep(500);
      }
    })();
    const { videos, longestPauseMs } = await work();
    console.error(`${name}: ${videos} videos`);
    const seconds = (performance.now() - start) / 1000;
    isOver = true;
    await others;
    rows.push([
      name,
      String(videos),
      seconds.toFixed(1),
      (cpuSeconds(pid).own - before).toFixed(1),
      (Math.max(...memory.stop()) / MEBIBYTE).toFixed(0),
      longestPauseMs === null ? "" : (longestPauseMs / 1000).toFixed(1),
      slowestMs.toFixed(0),
    ]);
  };

  const download = async ({ disconnects }: { disconnects: boolean }) => {
    const { id } = await call<BulkOperationView>("POST", "/downloads", { videos: { matching: {} } });
    const response = await fetch(`${base}/downloads/${id}`, { headers });
    let bytes = 0;
    let end = Buffer.alloc(0);
    for await (const chunk of response.body!) {
      bytes += chunk.length;
      end = Buffer.concat([end, chunk]).subarray(-ZIP_END_BYTES);
      if (disconnects && bytes > DISCONNECT_AFTER_BYTES) return { videos: 0, longestPauseMs: null };
    }
    const files = end.readUInt16LE(ZIP_COUNT_OFFSET);
    // One more file lists the videos that have no transcript.
    const expected = (VIDEOS / 2) * FILE_FORMATS.length + 1;
    if (files !== expected) throw new Error(`The archive has ${files} files instead of ${expected}.`);
    return { videos: VIDEOS, longestPauseMs: null };
  };
  /** @param stopAt share of the videos after which the operation is canceled */
  const operate = async (kind: "retry" | "delete", matching: object, stopAt: number) => {
    let operation = await call<BulkOperationView>("POST", "/bulk-operations", { kind, videos: { matching } });
    const { id, matched } = operation;
    let [changedAt, longestPauseMs] = [performance.now(), 0];
    const processed = ({ done, failed, skipped }: BulkOperationView) => done + failed + skipped;
    while (operation.finishedAt === null) {
      await sleep(POLL_MS);
      const { data } = await call<{ data: BulkOperationView[] }>("GET", "/bulk-operations");
      const current = data.find((each) => each.id === id)!;
      if (processed(current) !== processed(operation)) {
        longestPauseMs = Math.max(longestPauseMs, performance.now() - changedAt);
        changedAt = performance.now();
      }
      operation = current;
      if (processed(operation) >= stopAt * matched && operation.finishedAt === null)
        operation = await call("POST", `/bulk-operations/${id}/cancel`, {});
    }
    const isCanceled = operation.state === "canceled";
    if (isCanceled !== stopAt < 1 || operation.failed > 0) throw new Error(JSON.stringify(operation));
    if (!isCanceled && processed(operation) !== matched) throw new Error(JSON.stringify(operation));
    return { videos: processed(operation), longestPauseMs };
  };

  const ALL = Number.POSITIVE_INFINITY;
  await measure("list only", async () => {
    await sleep(5_000);
    return { videos: 0, longestPauseMs: null };
  });
  await measure("download, disconnected", () => download({ disconnects: true }));
  await measure("download", () => download({ disconnects: false }));
  await measure("retry, canceled", () => operate("retry", { state: "failed" }, 0.1));
  await measure("retry", () => operate("retry", { state: "failed" }, ALL));
  await measure("delete, canceled", () => operate("delete", {}, 0.1));
  await measure("delete", () => operate("delete", {}, ALL));
  const { count } = await call<{ count: number }>("GET", "/video-matches");
  if (count !== 0) throw new Error(`${count} videos remain.`);
} finally {
  await service.end("SIGTERM");
  await rm(folder, { recursive: true, force: true });
}
printTable(
  `Operations on all of ${VIDEOS.toLocaleString("en")} videos, ${databaseUrl ? "PostgreSQL" : "embedded database"}`,
  ["", "videos", "s", "CPU s", "memory, MiB", "longest pause of progress, s", "slowest list, ms"],
  rows,
);

function transcriptionId(n: number): string {
  return `transcription_01kb${String(n).padStart(22, "0")}`;
}

async function seed(db: Db, environmentId: string): Promise<void> {
  await sql`
    insert into video (id, environment_id, metadata, size_bytes, ai_transcription, created_at, uploaded_at)
    select 'video_01kb' || lpad(n::text, 22, '0'), ${environmentId},
      jsonb_build_object('filename', format('Weekly planning %s.mp4', n)), 1000, true, now(), now()
    from generate_series(1, ${VIDEOS}::int) as n`.execute(db);
  await sql`
    insert into transcription (id, video_id, environment_id, status, job_id, attempt, language, word_count, duration,
      progress, file_prefix, failure_code, failure_message, created_at, queued_at, finished_at)
    select id, 'video_01kb' || lpad(n::text, 22, '0'), ${environmentId},
      case when done then 'COMPLETED' else 'FAILED' end, gen_random_uuid(), 1, case when done then 'en' end,
      case when done then 800 end, case when done then 60 end, 1, case when done then 'transcripts/' || id || '/1' end,
      case when not done then 'unreadable_media' end,
      case when not done then 'The file contains neither audio nor video.' end, now(), now(), now()
    from generate_series(1, ${VIDEOS}::int) as n,
      lateral (select 'transcription_01kb' || lpad(n::text, 22, '0') as id, n % 2 = 1 as done) as names`.execute(
    db,
  );
}
