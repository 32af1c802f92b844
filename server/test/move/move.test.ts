import { randomBytes, randomUUID } from "node:crypto";
import { cp, mkdtemp, readdir, readFile, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { sql } from "kysely";
import { pino } from "pino";
import { describe, expect, inject, onTestFinished, test, vi } from "vitest";
import { SETTING_NAMES } from "../../src/config/settings.ts";
import { openDatabase } from "../../src/db/open.ts";
import type { Schema } from "../../src/db/schema.ts";
import { CopiedFiles } from "../../src/move/copied-files.ts";
import { copyFiles } from "../../src/move/copy-files.ts";
import type { ObjectStore } from "../../src/storage/object-store.ts";
import { fileKey, filePrefix } from "../../src/storage/transcript-files.ts";
import { sendAsCommandLine } from "../admin/operator-requests.ts";
import { runCommandWith } from "../support/run-command.ts";
import { startS3Proxy } from "../support/s3-proxy.ts";
import { seedSearchable, seedTranscript } from "../support/seed-transcript.ts";
import {
  createTenant,
  type StartOptions,
  startService,
  type Tenant,
  type TestService,
  untilEnded,
  upload,
} from "../support/service.ts";
import { readRecording, writeRecording } from "../support/stored-recording.ts";
import { bucketEnv, openTestBucket, testS3 } from "../support/test-bucket.ts";
import { makeTestDatabase } from "../support/test-database.ts";

const s3 = testS3();
const server = process.env.TEST_DATABASE_URL;
const MIB = 1024 ** 2;
const TUS = { "tus-resumable": "1.0.0" };
/** The settings of a test run on PostgreSQL or S3 do not apply to the services of these tests. */
const UNSET = Object.fromEntries(
  SETTING_NAMES.filter((name) => name === "DATABASE_URL" || name.startsWith("S3_")).map((name) => [name, ""]),
);

interface Target {
  database: Record<string, string>;
  bucket: Record<string, string>;
  both: Record<string, string>;
  objects: ObjectStore;
}

async function newTarget(): Promise<Target> {
  const name = `move-${randomUUID()}`;
  const database = { DATABASE_URL: await makeTestDatabase(server!, name.replaceAll("-", "_")) };
  const objects = await openTestBucket(s3!, name);
  onTestFinished(() => objects.close());
  const bucket = bucketEnv(s3!, name);
  return { database, bucket, both: { ...database, ...bucket }, objects };
}

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "subtext-move-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await cp(inject("templateDataFolder"), folder, { recursive: true });
  return folder;
}

async function startOn(dataFolder: string, env: Record<string, string> = {}, options: StartOptions = {}) {
  return await startService({ start: false, ...options, dataFolder, env: { ...UNSET, ...env } });
}

const move = (env: Record<string, string>, ...args: string[]) => runCommandWith(["move", ...args], env);

/** A video with a transcript of these words, whose recording has the content. */
async function seed(
  { service }: TestService,
  { environmentId }: Tenant,
  words: string,
  content: Buffer | string,
) {
  return await seedSearchable(service, {
    environmentId,
    language: "en",
    text: words,
    store: ({ videoId }) => writeRecording(service, videoId, content),
  });
}

async function expectServed(
  { service }: TestService,
  { videoId, transcriptionId }: { videoId: string; transcriptionId: string },
  content: Buffer,
): Promise<void> {
  expect((await readRecording(service, videoId))?.equals(content)).toBe(true);
  const key = fileKey(filePrefix(transcriptionId, 1), "json");
  expect(await text(await service.parts.transcripts.read(key))).toContain("word");
}

/** All rows of all tables, except those that a move changes. */
async function rowsOf(options: {
  databaseUrl: string | null;
  folder: string;
}): Promise<Record<string, string[]>> {
  const database = await openDatabase<Schema>({ ...options, log: pino({ level: "silent" }) });
  try {
    const { rows: tables } = await sql<{ name: string }>`
      select tablename as name from pg_tables where schemaname = 'public' and tablename not in
      ('kysely_migration', 'kysely_migration_lock', 'store_record', 'environment_queue', 'queue_clock')
    `.execute(database.kysely);
    const all: Record<string, string[]> = {};
    for (const { name } of tables) {
      const { rows } = await sql<{ row: string }>`
        select to_jsonb(t)::text as row from ${sql.table(name)} as t`.execute(database.kysely);
      all[name] = rows.map(({ row }) => row).sort();
    }
    return all;
  } finally {
    await database.close();
  }
}

async function patch({ url }: TestService, { key }: Tenant, id: string, offset: number, content: Buffer) {
  return await fetch(`${url}/api/v1/uploads/${id}`, {
    method: "PATCH",
    headers: {
      ...TUS,
      authorization: `Bearer ${key}`,
      "upload-offset": String(offset),
      "content-type": "application/offset+octet-stream",
    },
    body: new Uint8Array(content),
  });
}

async function beginUpload({ url }: TestService, { key }: Tenant, size: number): Promise<string> {
  const created = await fetch(`${url}/api/v1/uploads`, {
    method: "POST",
    headers: { ...TUS, authorization: `Bearer ${key}`, "upload-length": String(size) },
  });
  return created.headers.get("location")?.split("/").at(-1) ?? "";
}

async function keysOf(objects: ObjectStore): Promise<string[]> {
  return (await Array.fromAsync(objects.list(""))).map(({ key }) => key).sort();
}

describe.skipIf(!s3 || !server)("subtext move", () => {
  test("copies files while the service runs and the rest after it was stopped, and the new service has everything", {
    timeout: 120_000,
  }, async () => {
    const { both, database, objects } = await newTarget();
    const dataFolder = await newFolder();
    const source = await startOn(dataFolder);
    const tenant = await createTenant(source);
    const large = randomBytes(20 * MIB + 3);
    const kept = await seed(source, tenant, "kept words", large);
    const gone = await seed(source, tenant, "deleted words", "deleted");
    const queued = await upload(source, tenant, Buffer.from("no media"));
    const growing = randomBytes(8 * MIB);
    const uploadId = await beginUpload(source, tenant, growing.length);
    expect((await patch(source, tenant, uploadId, 0, growing.subarray(0, 6 * MIB))).status).toBe(204);

    const env = { ...both, DATA_DIR: dataFolder };
    const first = await move(env);
    expect(first).toMatchObject({ exitCode: 0, out: expect.stringContaining("Stop the service, then") });
    // It still runs.
    await sendAsCommandLine(source, `/environments/${tenant.environmentId}/videos/${gone.videoId}`, {
      method: "DELETE",
    });
    const small = Buffer.from("added later");
    const late = await seed(source, tenant, "late words", small);
    expect((await patch(source, tenant, uploadId, 6 * MIB, growing.subarray(6 * MIB, 7 * MIB))).status).toBe(
      204,
    );
    await expect(startOn(await newFolder(), { ...both, DATA_DIR: dataFolder })).rejects.toThrow(
      "is not finished",
    );
    await source.service.stop();

    const second = await move(env);
    expect(second).toMatchObject({
      exitCode: 0,
      out: expect.stringContaining("counts and checksums match"),
    });
    expect(second.out).toContain("all were verified");
    const [before, after] = [
      await rowsOf({ databaseUrl: null, folder: join(dataFolder, "database") }),
      await rowsOf({ databaseUrl: database.DATABASE_URL!, folder: "" }),
    ];
    expect(before.video).toHaveLength(4);
    expect(after).toEqual(before);
    const keys = await keysOf(objects);
    expect(keys).toEqual(expect.arrayContaining(["installation", "store.json", `uploads/${late.videoId}`]));
    expect(keys.filter((key) => key.includes(gone.videoId) || key.includes(gone.transcriptionId))).toEqual(
      [],
    );
    expect(keys).not.toContain("move.json");

    const target = await startOn(await newFolder(), both, { start: true });
    expect(await target.service.parts.ownership.state()).toEqual({ isOwner: true });
    await expectServed(target, kept, large);
    await expectServed(target, late, small);
    const head = await fetch(`${target.url}/api/v1/uploads/${uploadId}`, {
      method: "HEAD",
      headers: { ...TUS, authorization: `Bearer ${tenant.key}` },
    });
    expect(head.headers.get("upload-offset")).toBe(String(7 * MIB));
    expect((await patch(target, tenant, uploadId, 7 * MIB, growing.subarray(7 * MIB))).status).toBe(204);
    expect((await readRecording(target.service, uploadId))?.equals(growing)).toBe(true);
    // The job was created again.
    expect((await untilEnded(target, tenant, queued)).status).toBe("FAILED");

    await expect(startOn(dataFolder)).rejects.toThrow(/was moved to PostgreSQL at .+ and the bucket .+ on /);
    expect(await move(env)).toMatchObject({ exitCode: 1, err: expect.stringContaining("already") });
  });

  test("is continued after it failed between the database and the bucket, and until then no service starts", async () => {
    const { both, bucket, objects } = await newTarget();
    const dataFolder = await newFolder();
    const source = await startOn(dataFolder);
    const seeded = await seed(source, await createTenant(source), "all words", "content");
    await source.service.stop();
    const proxy = await startS3Proxy(Number(new URL(s3!.endpoint).port));
    const env = { ...both, DATA_DIR: dataFolder };
    for (const [method, object] of [
      ["PUT", "installation"],
      ["PUT", "store.json"],
      ["DELETE", "move.json"],
    ]) {
      proxy.refuse = (request) =>
        request.method === method && request.url?.split("?")[0]?.endsWith(`/${object}`)
          ? { status: 400, code: "InvalidRequest" }
          : null;
      const failed = await move({ ...env, S3_ENDPOINT: proxy.endpoint });
      expect([object, failed.exitCode, failed.out]).toEqual([object, 1, ""]);
      await expect(startOn(dataFolder)).rejects.toThrow("is not finished. Run `npx subtext move` again");
      await expect(startOn(dataFolder, both)).rejects.toThrow("is not finished");
    }
    const other = await move({ ...env, ...bucket, S3_PREFIX: "elsewhere" });
    expect(other).toMatchObject({ exitCode: 1, err: expect.stringContaining("with the same settings") });

    expect(await move(env)).toMatchObject({ exitCode: 0 });
    expect(await readdir(dataFolder)).not.toContain("move.unfinished");
    expect(await keysOf(objects)).not.toContain("move.json");
    const target = await startOn(dataFolder, both);
    expect(await target.service.parts.ownership.state()).toEqual({ isOwner: true });
    await expectServed(target, seeded, Buffer.from("content"));
  });

  test("moves only the database, and later the files", async () => {
    const { database, both } = await newTarget();
    const dataFolder = await newFolder();
    const source = await startOn(dataFolder);
    const tenant = await createTenant(source);
    const first = await seed(source, tenant, "first words", "first");
    expect(await move({ ...database, DATA_DIR: dataFolder })).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining("Stop it, then run this command again"),
    });
    expect(await readdir(dataFolder)).not.toContain("move.unfinished");
    await source.service.stop();
    const elsewhere = await move({ ...database, DATA_DIR: tmpdir() }, "--from", dataFolder);
    expect(elsewhere).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining("Set DATA_DIR to this folder"),
    });

    const moved = await move({ ...database, DATA_DIR: dataFolder });
    expect(moved).toMatchObject({ exitCode: 0, out: expect.not.stringContaining("uploads") });
    await expect(startOn(dataFolder)).rejects.toThrow("was moved to PostgreSQL at");
    // If the old database is used again, it must not delete files of the new one.
    await rename(join(dataFolder, "moved.json"), join(dataFolder, "kept.json"));
    const old = await startOn(dataFolder);
    expect(await old.service.parts.ownership.state()).toMatchObject({ reason: "other_database" });
    await old.service.stop();
    await rename(join(dataFolder, "kept.json"), join(dataFolder, "moved.json"));
    const middle = await startOn(dataFolder, database);
    expect(await middle.service.parts.ownership.state()).toEqual({ isOwner: true });
    await expectServed(middle, first, Buffer.from("first"));
    const second = await seed(middle, tenant, "second words", "second");
    await middle.service.stop();

    expect(await move({ ...both, DATA_DIR: tmpdir() }, "--from", dataFolder)).toMatchObject({ exitCode: 0 });
    await expect(startOn(dataFolder, database)).rejects.toThrow("and the bucket");
    const target = await startOn(await newFolder(), both);
    expect(await target.service.parts.ownership.state()).toEqual({ isOwner: true });
    await expectServed(target, first, Buffer.from("first"));
    await expectServed(target, second, Buffer.from("second"));
  });

  test("moves only the files, and the embedded database stays", async () => {
    const { bucket } = await newTarget();
    const dataFolder = await newFolder();
    const source = await startOn(dataFolder);
    const seeded = await seed(source, await createTenant(source), "some words", "content");
    await source.service.stop();
    expect(await move({ ...bucket, DATA_DIR: dataFolder })).toMatchObject({ exitCode: 0 });
    await expect(startOn(dataFolder)).rejects.toThrow("was moved to the bucket");
    await rm(join(dataFolder, "uploads"), { recursive: true });
    await rm(join(dataFolder, "files"), { recursive: true });
    const target = await startOn(dataFolder, bucket);
    expect(await target.service.parts.ownership.state()).toEqual({ isOwner: true });
    await expectServed(target, seeded, Buffer.from("content"));
  });

  test("refuses a target that has other data, and says what is missing", async () => {
    const used = await newTarget();
    const dataFolder = await newFolder();
    const source = await startOn(dataFolder);
    await seedTranscript(source.service, { ...(await createTenant(source)), language: "en", text: "words" });
    await source.service.stop();
    const other = await startOn(await newFolder(), used.both);
    await other.service.stop();
    const unused = await newTarget();
    const refusal = async (env: Record<string, string>) =>
      (await move({ ...env, DATA_DIR: dataFolder })).err.trim().split("\n").at(-1);
    expect(await refusal(used.database)).toContain("already contains an installation");
    expect(await refusal(used.bucket)).toContain("already contains files");
    expect(await refusal({})).toContain("Set DATABASE_URL, S3_BUCKET, or both");
    expect(await refusal({ ...unused.bucket, S3_BUCKET: "no-such-bucket" })).toContain("create-bucket");
    expect((await move({ ...unused.both, DATA_DIR: tmpdir() })).err).toContain(
      "There is no Subtext installation",
    );

    const claimed = await newTarget();
    await claimed.objects.put("move.json", Buffer.from("another move"));
    expect(await refusal(claimed.bucket)).toContain("already contains files");
    expect(await readdir(dataFolder)).not.toContain("move.unfinished");
  });

  test("with --dry-run shows sizes and times, and writes nothing", async () => {
    const { both, database, objects } = await newTarget();
    const dataFolder = await newFolder();
    const source = await startOn(dataFolder);
    await seed(source, await createTenant(source), "some words", "content");
    const databaseOnly = { ...database, DATA_DIR: dataFolder };
    expect((await move(databaseOnly, "--dry-run")).out).toMatch(/^next +Stop the service, then run: /m);
    await source.service.stop();
    expect((await move(databaseOnly, "--dry-run")).out).toMatch(/^next +\S* ?subtext move$/m);
    const before = (await readdir(dataFolder)).filter((name) => name !== "move.lock");
    const { exitCode, out } = await move({ ...both, DATA_DIR: dataFolder }, "--dry-run");
    expect([exitCode, out]).toEqual([
      0,
      expect.stringMatching(/^files +2 files, 0\.0 MiB → the bucket move-/m),
    ]);
    expect(out).toMatch(/^database +\d+\.\d MiB → PostgreSQL at 127\.0\.0\.1:\d+\/move_/m);
    expect(out).toMatch(/^downtime +about 0:\d\d/m);
    expect((await readdir(dataFolder)).filter((name) => name !== "move.lock")).toEqual(before);
    expect(await keysOf(objects)).toEqual([]);
    expect(await rowsOf({ databaseUrl: database.DATABASE_URL!, folder: "" })).toEqual({});
  });
});

test("a list of copied files that cannot be written is an error, and does not end the process", async () => {
  const copied = await CopiedFiles.open(join(await newFolder(), "missing", "copied.jsonl"));
  const file = { key: "uploads/video_1", sizeBytes: 1, modifiedNs: "1", etag: '"1"' };
  await vi.waitFor(() => expect(() => copied.add(file)).toThrow("ENOENT"));
  await expect(copied.close()).rejects.toThrow("ENOENT");
});

describe.skipIf(!s3)("a copy of files", () => {
  async function newCopy() {
    const from = await newFolder();
    const objects = await openTestBucket(s3!, `copy-${randomUUID()}`);
    onTestFinished(() => objects.close());
    const path = join(from, "uploads", "video_1");
    await cp(import.meta.filename, path);
    const copy = async (changed: Partial<ObjectStore> = {}) => {
      const copied = await CopiedFiles.open(join(from, "copied.jsonl"));
      let uploads = 0;
      const counting: ObjectStore = {
        ...objects,
        ...changed,
        async put(key, content) {
          uploads += 1;
          await (changed.put ?? objects.put)(key, content);
        },
      };
      try {
        await copyFiles({ from, objects: counting, copied, onProgress: () => {} });
        return uploads;
      } finally {
        await copied.close();
      }
    };
    return { objects, path, copy };
  }

  test("is not repeated unless the file or the object has changed", async () => {
    const { objects, path, copy } = await newCopy();
    expect(await copy()).toBe(1);
    expect(await copy()).toBe(0);
    const content = await readFile(path);
    await objects.put("uploads/video_1", Buffer.alloc(content.length));
    expect(await copy()).toBe(1);
    expect(await text(await objects.get("uploads/video_1"))).toBe(content.toString());
    await cp(join(import.meta.dirname, "../support/service.ts"), path);
    expect(await copy()).toBe(1);
  });

  test("whose ETag is not the MD5 is read back, and one that differs is an error", async () => {
    const { objects, copy } = await newCopy();
    const encrypting: Partial<ObjectStore> = {
      async *list(prefix) {
        for await (const object of objects.list(prefix)) yield { ...object, etag: `"of ${object.key}"` };
      },
    };
    const damaging: Partial<ObjectStore> = {
      put: (key, content) => objects.put(key, Buffer.alloc(content.length)),
    };
    await expect(copy({ ...encrypting, ...damaging })).rejects.toThrow("differs from its file");
    await expect(copy(damaging)).rejects.toThrow("differs from its file");
    expect(await copy(encrypting)).toBe(1);
    expect(await copy(encrypting)).toBe(0);
  });
});
