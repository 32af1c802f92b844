import { rename } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { type SweepDeps, sweep } from "../../src/cleanup/sweep.ts";
import { changeEnvironment } from "../../src/environments/environments.ts";
import { AppError } from "../../src/lib/errors.ts";
import { newId } from "../../src/lib/ids.ts";
import { findLostJobs } from "../../src/queue/lost-job-queries.ts";
import type { Queue } from "../../src/queue/queue.ts";
import { insertVideo } from "../../src/videos/queries.ts";
import { freePort } from "../support/free-port.ts";
import {
  createTenant,
  MovableClock,
  startService,
  type TestService,
  temporaryFolder,
  until,
  untilEnded,
  upload,
} from "../support/service.ts";
import { readRecording, removeInstallationMark, writeRecording } from "../support/stored-recording.ts";
import { testS3 } from "../support/test-bucket.ts";

const GARBAGE = Buffer.from("no media at all");

test("a video whose job is lost gets a new one and is completed", async () => {
  const dataFolder = await temporaryFolder();
  const port = await freePort();
  const before = await startService({ dataFolder, port, start: false });
  const tenant = await createTenant(before);
  const videoId = await upload(before, tenant, GARBAGE);
  const db = before.service.parts.database.kysely;
  expect(await findLostJobs(db, "transcribe")).toEqual([]);
  await sql`delete from pgboss.job where name = 'transcribe'`.execute(db);
  expect(await findLostJobs(db, "transcribe")).toHaveLength(1);
  expect(await findLostJobs(db, "deliver")).toEqual([]);
  await before.service.stop();

  const after = await startService({ dataFolder, port });
  expect(await untilEnded(after, tenant, videoId)).toMatchObject({ status: "FAILED" });
  expect(after.logged()).toContain("a lost job was replaced");
});

test("a service does not start on files that its database does not know, and leaves them unchanged", async () => {
  const dataFolder = await temporaryFolder();
  const port = await freePort();
  const before = await startService({ dataFolder, port, start: false });
  const tenant = await createTenant(before, { aiTranscription: false });
  const videoId = await upload(before, tenant, GARBAGE);
  // Another database: a new embedded one, or one on PostgreSQL that never saw the files.
  const { kysely, kind } = before.service.parts.database;
  if (kind === "postgres")
    await kysely.deleteFrom("service_secret").where("name", "=", "installation").execute();
  await before.service.stop();
  if (kind === "embedded") await rename(join(dataFolder, "database"), join(dataFolder, "database.old"));

  await expect(startService({ dataFolder, port })).rejects.toMatchObject({ code: "data_folder_mismatch" });
  await removeInstallationMark(before.service);
  await expect(startService({ dataFolder, port })).rejects.toMatchObject({ code: "data_folder_mismatch" });
  expect(await readRecording(before.service, videoId)).toEqual(GARBAGE);
});

test("a second service on the same data folder is refused", async (context) => {
  if (testS3() && process.env.TEST_DATABASE_URL) context.skip("nothing in the folder is exclusive");
  const first = await startService({ start: false });
  await expect(startService({ dataFolder: first.dataFolder })).rejects.toMatchObject({
    code: "data_folder_in_use",
  });
});

test("an unexpected file among the uploads does not stop the sweep", async () => {
  const service = await startService({ start: false });
  await writeRecording(service.service, ".DS_Store", "x");
  await writeRecording(service.service, "video_stray", "x");
  await service.service.stop();
  const again = await startService({ dataFolder: service.dataFolder });
  await until(async () => again.logged().includes("are kept for 7 days"));
  expect(again.logged()).not.toContain("a sweep failed");
});

test("a response recorded for an idempotency key is deleted after a day, with its secret", async () => {
  const dataFolder = await temporaryFolder();
  const clock = new MovableClock();
  const before = await startService({ dataFolder, clock, start: false });
  const { key } = await createTenant(before);
  const create = (name: string) =>
    fetch(`${before.url}/api/v1/webhook-endpoints`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        "idempotency-key": name,
      },
      body: '{"url":"https://example.com/hook"}',
    });
  await create("old");
  clock.advance(23 * 3_600_000);
  await create("young");
  await before.service.stop();
  clock.advance(3_600_001);
  const after = await startService({ dataFolder, clock });
  const db = after.service.parts.database.kysely;
  await until(async () => (await db.selectFrom("idempotency_key").select("key").execute()).length === 1);
  expect(await db.selectFrom("idempotency_key").select("key").execute()).toEqual([{ key: "young" }]);
});

test("if the storage is unavailable, the sweep of uploads stops at the first one and logs it once", async () => {
  const service = await startService({ start: false, env: { LOG_LEVEL: "debug" } });
  const { database, queue, clock, log, recordings, transcripts, ownership } = service.service.parts;
  const db = database.kysely;
  const { environmentId } = await createTenant(service, { aiTranscription: false });
  for (let number = 0; number < 3; number++)
    await insertVideo(db, {
      id: newId("video"),
      environmentId,
      metadata: {},
      sizeBytes: 1,
      now: clock.now(),
    });
  let looks = 0;
  const away = {
    ...recordings,
    async inspect() {
      looks += 1;
      throw new AppError("storage_unavailable", "It is away.");
    },
  };
  const deps = { db, queue, clock, log, transcripts, ownership, recordings: away, uploadExpiryMs: 3_600_000 };
  await sweep(deps, { full: false, signal: new AbortController().signal });
  expect(looks).toBe(1);
  expect(service.logged().match(/a sweep failed/g)).toHaveLength(1);
});

test("deleting an upload while the sweep checks it is not a failure, and later uploads are swept", async () => {
  const service = await startService({ start: false });
  const { database, queue, clock, log, recordings, transcripts, ownership } = service.service.parts;
  const db = database.kysely;
  const { environmentId } = await createTenant(service, { aiTranscription: false });
  const ids = [newId("video"), newId("video")];
  for (const id of ids) {
    await insertVideo(db, { id, environmentId, metadata: {}, sizeBytes: 1, now: clock.now() });
    await writeRecording(service.service, id, "x");
  }
  const deleting = {
    ...recordings,
    async sync(id: string) {
      if (id === ids[0]) {
        await db.deleteFrom("video").where("id", "=", id).execute();
        await recordings.remove(id);
      }
      await recordings.sync(id);
    },
  };
  const deps = {
    db,
    queue,
    clock,
    log,
    transcripts,
    ownership,
    recordings: deleting,
    uploadExpiryMs: 3_600_000,
  };
  await sweep(deps, { full: false, signal: new AbortController().signal });
  const rows = await db.selectFrom("video").select(["id", "uploaded_at"]).execute();
  expect(rows).toEqual([{ id: ids[1], uploaded_at: expect.any(Date) }]);
  expect(service.logged()).not.toContain("could not process an item");
});

describe("one item that cannot be processed", () => {
  /** Sweeps with some failing parts; returns what was counted as failed. */
  async function sweepWith(service: TestService, parts: Partial<SweepDeps>): Promise<string[]> {
    const { database, queue, clock, log, recordings, transcripts, ownership } = service.service.parts;
    const failed: string[] = [];
    await sweep(
      {
        ...{
          db: database.kysely,
          queue,
          clock,
          log,
          recordings,
          transcripts,
          ownership,
          uploadExpiryMs: 3_600_000,
        },
        ...parts,
        onItemFailed: (task) => failed.push(task),
      },
      { full: true, signal: new AbortController().signal },
    );
    expect(service.logged()).not.toContain("a sweep failed");
    return failed;
  }

  async function uploadThree(options: { aiTranscription: boolean }, clock?: MovableClock) {
    const service = await startService({ start: false, ...(clock && { clock }) });
    const tenant = await createTenant(service, { ...options, ...(clock && { clock }) });
    const ids: string[] = [];
    for (let number = 0; number < 3; number++) ids.push(await upload(service, tenant, GARBAGE));
    const db = service.service.parts.database.kysely;
    return { service, tenant, ids, db };
  }

  test("does not stop retention of the others", async () => {
    const clock = new MovableClock();
    const { service, tenant, ids, db } = await uploadThree({ aiTranscription: false }, clock);
    await changeEnvironment(db, tenant.environmentId, { retention: { days: 1, deletes: "recording" } });
    clock.advance(2 * 86_400_000);
    const { recordings } = service.service.parts;
    const remove = async (id: string) => {
      if (id === ids[0]) throw new Error("it cannot be removed");
      await recordings.remove(id);
    };
    // The remains of the first are an obsolete file, which the sweep cannot remove either.
    expect(await sweepWith(service, { recordings: { ...recordings, remove } })).toEqual([
      "retention",
      "stored_files",
    ]);
    const left = await Promise.all(
      ids.map(async (id) => (await readRecording(service.service, id)) !== null),
    );
    expect(left).toEqual([true, false, false]);
  });

  test("does not prevent a new job for the others", async () => {
    const { service, db } = await uploadThree({ aiTranscription: true });
    const { queue } = service.service.parts;
    await sql`delete from pgboss.job where name = 'transcribe'`.execute(db);
    const lost = await findLostJobs(db, "transcribe");
    const send: Queue["sendTranscription"] = async (tx, job) => {
      if (job.transcriptionId === lost[0]!.id) throw new Error("it cannot be sent");
      await queue.sendTranscription(tx, job);
    };
    const refusing = { sendTranscription: send } as Queue;
    expect(await sweepWith(service, { queue: refusing })).toEqual(["lost_jobs"]);
    expect((await findLostJobs(db, "transcribe")).map(({ id }) => id)).toEqual([lost[0]!.id]);
  });

  test("does not prevent the file check of the others", async () => {
    const { service, ids, db } = await uploadThree({ aiTranscription: false });
    const { recordings } = service.service.parts;
    const inspect = async (id: string) => {
      if (id === ids[0]) throw new Error("it cannot be inspected");
      return id === ids[2] ? null : await recordings.inspect(id);
    };
    expect(await sweepWith(service, { recordings: { ...recordings, inspect } })).toEqual(["missing_files"]);
    expect(await db.selectFrom("missing_file").select("video_id").execute()).toEqual([{ video_id: ids[2] }]);
  });
});
