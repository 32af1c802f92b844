import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { buffer, text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { readConfig } from "@subtext/server/config/config";
import { openDatabase } from "@subtext/server/db/open";
import type { Db, Schema } from "@subtext/server/db/schema";
import { createEnvironment } from "@subtext/server/environments/environments";
import { systemClock } from "@subtext/server/lib/clock";
import { openService } from "@subtext/server/main";
import { localFiles } from "@subtext/server/move/copy-files";
import { createBucket, openObjectStore } from "@subtext/server/storage/backends";
import { createLog } from "@subtext/server/telemetry/log";
import { sql } from "kysely";
import pg from "pg";
import { printTable } from "./table.ts";

/**
 * Rehearses `subtext move` with `--videos` videos and `--files` transcript files per video, from the embedded database
 * and disk to PostgreSQL and S3. Creates and drops a database on the server of `--database-url`, and creates a bucket
 * on the server of `--s3` (the output of `scripts/start-s3 FOLDER`). Kills the command while it copies files, while it
 * copies rows, and after it has committed the rows. Fails if data is lost, duplicated or changed.
 */
const { values } = parseArgs({
  options: {
    "database-url": { type: "string" },
    s3: { type: "string" },
    videos: { type: "string", default: "10000" },
    files: { type: "string", default: "5" },
  },
});
if (!values["database-url"] || !values.s3) {
  console.error("Give --database-url (scripts/start-postgres FOLDER) and --s3 (scripts/start-s3 FOLDER).");
  process.exit(1);
}

const BIN = resolve(import.meta.dirname, "../../server/bin/subtext.js");
const POLL_MS = 5;
/** Every 1000th recording is large enough for a multipart upload. */
const LARGE_EVERY = 1000;
const LARGE_BYTES = 17 * 1024 ** 2;
const TRANSCRIPT_FILES = [
  "transcript.json",
  "transcript.vtt",
  "transcript.txt",
  "confidence.json",
  "waveform.json",
];
const SAMPLES = 200;
const log = createLog("silent");

const server = values["database-url"];
const videos = Number(values.videos);
const name = `move_${Date.now()}`;
const folder = await mkdtemp(join(tmpdir(), "subtext-move-"));
const from = join(folder, "old");
const s3 = JSON.parse(values.s3) as Record<"endpoint" | "region" | "accessKeyId" | "secretAccessKey", string>;
const databaseUrl = Object.assign(new URL(server), { pathname: `/${name}` }).href;
const env = {
  DATABASE_URL: databaseUrl,
  S3_BUCKET: name.replaceAll("_", "-"),
  S3_ENDPOINT: s3.endpoint,
  S3_REGION: s3.region,
  S3_FORCE_PATH_STYLE: "true",
  S3_ACCESS_KEY_ID: s3.accessKeyId,
  S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
  DATA_DIR: join(folder, "new"),
  MODEL_DOWNLOAD: "off",
};
const bucket = readConfig(env).bucket!;
const steps: [string, string][] = [];

await administrate(`create database ${name}`);
try {
  await createBucket(bucket);
  await measure(`create ${videos} videos`, createInstallation);
  const service = await openService({ config: readConfig({ DATA_DIR: from, MODEL_DOWNLOAD: "off" }), log });
  await measure("dry run", () => runToEnd(["--dry-run"]));
  await measure("killed after a third of the files, while the service runs", () =>
    runAndKill(async () => (await countCopied()) > (videos * (1 + Number(values.files))) / 3),
  );
  await measure("the remaining files, while the service runs", () => runToEnd());
  await service.stop();
  await measure("killed while it copied rows, after the service was stopped", () =>
    runAndKill(isCopyingRows),
  );
  const outcome = await measure("killed after the rows were committed", () => runAndKill(isCommitted));
  await measure("the remaining steps", () => (outcome === "ended" ? Promise.resolve() : runToEnd()));
  await measure("compare", compare);
} finally {
  await administrate(`drop database if exists ${name} with (force)`);
  await rm(folder, { recursive: true, force: true });
}
printTable(`A move of ${videos} videos`, ["step", "seconds"], steps);

async function measure<T>(step: string, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const result = await work();
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  steps.push([result === "ended" ? `${step}: ended before` : step, seconds]);
  return result;
}

async function createInstallation(): Promise<void> {
  const service = await openService({ config: readConfig({ DATA_DIR: from, MODEL_DOWNLOAD: "off" }), log });
  const { database } = service.parts;
  const { id } = await createEnvironment(
    { db: database.kysely, clock: systemClock },
    { name: "Moved", aiTranscription: true },
  );
  await insertRows(database.kysely, id);
  await service.stop();
  const words = JSON.stringify(
    Array.from({ length: 200 }, (_, n) => ({ word: "word", start: n / 2, end: n / 2 })),
  );
  for (let n = 1; n <= videos; n += 1) {
    const bytes = n % LARGE_EVERY === 0 ? LARGE_BYTES : 4096;
    await writeFile(join(from, "uploads", idOf("video", n)), randomBytes(bytes));
    const transcript = join(from, "files/transcripts", idOf("transcription", n), "1");
    await mkdir(transcript, { recursive: true });
    for (const file of TRANSCRIPT_FILES.slice(0, Number(values.files)))
      await writeFile(join(transcript, file), `${file} ${n} ${words}`);
  }
}

function idOf(prefix: string, n: number): string {
  return `${prefix}_${String(n).padStart(26, "0")}`;
}

/** Every tenth video is pending. */
async function insertRows(db: Db, environmentId: string): Promise<void> {
  const numbers = sql`generate_series(1, ${videos}::int) as n`;
  const at = sql`now() - n * interval '1 second'`;
  const videoId = sql`'video_' || lpad(n::text, 26, '0')`;
  const id = sql`'transcription_' || lpad(n::text, 26, '0')`;
  const isDone = sql`n % 10 <> 0`;
  await sql`insert into video (id, environment_id, metadata, size_bytes, created_at, uploaded_at, ai_transcription)
    select ${videoId}, ${environmentId}, jsonb_build_object('filename', 'Ünï "cödé" ' || n), 4096, ${at}, ${at}, true
    from ${numbers}`.execute(db);
  await sql`insert into transcription (id, video_id, environment_id, status, job_id, attempt, language, word_count,
      duration, file_prefix, stages, created_at, queued_at, finished_at)
    select ${id}, ${videoId}, ${environmentId}, case when ${isDone} then 'COMPLETED' else 'PENDING' end,
      gen_random_uuid(), case when ${isDone} then 1 else 0 end, case when ${isDone} then 'en' end, 200, 100.1 + n / 7.0,
      case when ${isDone} then 'transcripts/' || ${id} || '/1' end, 'null', ${at}, ${at}, ${at}
    from ${numbers}`.execute(db);
  await sql`insert into transcription_attempt (transcription_id, number, queued_at, started_at, ended_at, outcome)
    select ${id}, 1, ${at}, ${at}, ${at}, 'completed' from ${numbers} where ${isDone}`.execute(db);
  await sql`insert into search_shard (environment_id, passage_count) values (${environmentId}, 0)`.execute(
    db,
  );
  await sql`insert into search_document (transcription_id, environment_id, job_id, language, dictionary, shard, indexed_at)
    select ${id}, ${environmentId}, gen_random_uuid(), 'en', 'english', (select max(number) from search_shard), now()
    from ${numbers} where ${isDone}`.execute(db);
  await sql`insert into search_passage (document, ordinal, start_ms, end_ms, text, lexemes)
    select number, ordinal, ordinal * 5000, ordinal * 5000 + 4999, 'Some words of passage ' || ordinal || ' of ' || number,
      to_tsvector('english', 'Some words of passage ' || ordinal || ' of ' || number)
    from search_document, generate_series(1, 20) as ordinal`.execute(db);
}

function start(args: string[] = []) {
  return spawn(process.execPath, [BIN, "move", "--from", from, ...args], {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function runToEnd(args: string[] = []): Promise<void> {
  const child = start(args);
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (child.exitCode === null) await once(child, "exit");
  if (child.exitCode !== 0) throw new Error(`subtext move failed: ${err}`);
  process.stdout.write(out);
}

/** @returns `ended` if the command ended before it could be killed */
async function runAndKill(isReached: () => Promise<boolean>): Promise<"killed" | "ended"> {
  const child = start();
  child.stdout.resume();
  const errors = text(child.stderr);
  const exit = once(child, "exit");
  while (child.exitCode === null && !(await isReached())) await sleep(POLL_MS);
  child.kill("SIGKILL");
  await exit;
  if (child.exitCode !== null && child.exitCode !== 0)
    throw new Error(`subtext move failed: ${await errors}`);
  return child.exitCode === 0 ? "ended" : "killed";
}

async function countCopied(): Promise<number> {
  const copied = await readFile(join(from, "move.unfinished/copied.jsonl"), "utf8").catch(() => "");
  return copied.split("\n").length;
}

/** Returns whether the command is inserting into the largest table. */
async function isCopyingRows(): Promise<boolean> {
  return await query(
    `select exists (select from pg_stat_activity where datname = $1 and query like 'insert into "search_passage"%')`,
  );
}

async function isCommitted(): Promise<boolean> {
  const hasTables = await query("select to_regclass('service_secret') is not null and $1 <> ''");
  return hasTables && (await query("select exists (select from service_secret where $1 <> '')"));
}

async function query(statement: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return Object.values((await client.query(statement, [name])).rows[0])[0] === true;
  } finally {
    await client.end();
  }
}

async function administrate(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

/** @throws Error if the new installation differs from the old one, or if the old one still starts */
async function compare(): Promise<void> {
  const before = await hashRows({ databaseUrl: null, folder: join(from, "database") });
  const after = await hashRows({ databaseUrl, folder: "" });
  if (before !== after) throw new Error("The rows differ.");
  const objects = await openObjectStore(bucket);
  const stored = new Map<string, number>();
  for (const prefix of ["uploads/", "files/"])
    for await (const { key, sizeBytes } of objects.list(prefix)) stored.set(key, sizeBytes);
  const files = await Array.fromAsync(localFiles(from));
  for (const { key, sizeBytes } of files)
    if (stored.get(key) !== sizeBytes)
      throw new Error(`${key} has ${stored.get(key)} of ${sizeBytes} bytes.`);
  if (stored.size !== files.length) throw new Error(`${stored.size} objects, but ${files.length} files`);
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const { key, path } = files[Math.floor((sample * files.length) / SAMPLES)]!;
    if (!(await buffer(await objects.get(key))).equals(await readFile(path)))
      throw new Error(`${key} differs.`);
  }
  objects.close();
  const refusal = await openService({ config: readConfig({ DATA_DIR: from }), log }).then(
    () => "it started",
    (error: Error) => error.message,
  );
  if (!refusal.includes("was moved to")) throw new Error(`The old installation is not closed: ${refusal}`);
  const service = await openService({ config: readConfig(env), log });
  const state = await service.parts.ownership.state();
  await service.stop();
  if (!state.isOwner) throw new Error(state.message);
}

/** Hashes the tables whose rows a move must not change. */
async function hashRows(options: { databaseUrl: string | null; folder: string }): Promise<string> {
  const database = await openDatabase<Schema>({ ...options, log });
  try {
    const db = database.kysely;
    const { rows: tables } = await sql<{ name: string }>`
      select tablename as name from pg_tables where schemaname = 'public' and tablename not like 'kysely%'
        and tablename not in ('store_record', 'environment_queue', 'queue_clock') order by 1`.execute(db);
    const hashes: string[] = [];
    for (const { name: table } of tables) {
      const { rows } = await sql<{ hash: string }>`
        select count(*) || ' ' || coalesce(md5(string_agg(md5(to_jsonb(t)::text), '' order by md5(to_jsonb(t)::text))), '')
          as hash from ${sql.table(table)} as t`.execute(db);
      hashes.push(`${table} ${rows[0]!.hash}`);
    }
    return hashes.join("\n");
  } finally {
    await database.close();
  }
}
