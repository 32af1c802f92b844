import { setImmediate as nextTurn } from "node:timers/promises";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import type { BulkOperationView } from "../../src/admin/contract/bulk-operation.ts";
import { SERVICE } from "../../src/audit/audit-events.ts";
import {
  cancelOperation,
  completeSelection,
  requestOperation,
} from "../../src/bulk-operations/operations.ts";
import {
  deleteOldOperations,
  findOperation,
  insertOperation,
  listOperations,
  listPendingItems,
  type Selection,
  startDownload,
} from "../../src/bulk-operations/queries.ts";
import { type BulkOperationDeps, runBulkOperation } from "../../src/bulk-operations/run.ts";
import { sweepLostJobs } from "../../src/cleanup/reconcile-jobs.ts";
import type { BulkOperationKind } from "../../src/db/enums.ts";
import type { BulkOperationRow } from "../../src/db/tables/videos.ts";
import { newId } from "../../src/lib/ids.ts";
import type { Service } from "../../src/main.ts";
import { newJobId } from "../../src/queue/queue.ts";
import { RunningAttempts } from "../../src/transcription/running-attempts.ts";
import { createUploadLocker } from "../../src/uploads/upload-locker.ts";
import { sendAsCommandLine } from "../admin/operator-requests.ts";
import { freePort } from "../support/free-port.ts";
import { seedTranscript } from "../support/seed-transcript.ts";
import { createTenant, shareService, startService, temporaryFolder, until } from "../support/service.ts";
import { seedFailed } from "./seed-videos.ts";

const subtext = shareService({ start: false });
const open = () => subtext.service.parts.database.kysely;
const NEVER = new AbortController().signal;

function depsOf(
  { parts }: Service,
  onProcessed: (count: number) => unknown = () => {},
): { deps: BulkOperationDeps; hooks: Promise<unknown>[] } {
  const { database, queue, clock, recordings, transcripts, log } = parts;
  const db = database.kysely;
  let processed = 0;
  const hooks: Promise<unknown>[] = [];
  const counting = Object.create(log, {
    info: {
      value: (context: object, message: string) => {
        if (message === "a bulk operation processed a video") {
          processed += 1;
          hooks.push(Promise.resolve(onProcessed(processed)));
        } else log.info(context, message);
      },
    },
  });
  const deps = { db, queue, clock, recordings, transcripts, log: counting };
  const locker = createUploadLocker({ timeoutMs: 1_000 });
  return { deps: { ...deps, locker, running: new RunningAttempts(db) }, hooks };
}

async function ask(environmentId: string, kind: "retry" | "delete", selection: Selection) {
  const { queue, clock } = subtext.service.parts;
  return await requestOperation({ db: open(), queue, clock }, { environmentId, kind, selection }, SERVICE);
}

function jobOf({ id, job_id }: BulkOperationRow, retryCount = 0) {
  return { id: job_id!, subjectId: id, signal: NEVER, retryCount };
}

async function countByStatus(environmentId: string): Promise<Record<string, number>> {
  const rows = await open()
    .selectFrom("transcription")
    .select(["status", ({ fn }) => fn.countAll<number>().as("count")])
    .where("environment_id", "=", environmentId)
    .groupBy("status")
    .execute();
  return Object.fromEntries(rows.map(({ status, count }) => [status, Number(count)]));
}

async function countJobs(environmentId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from pgboss.job where name = 'transcribe' and group_id = ${environmentId}`.execute(
    open(),
  );
  return rows[0]!.count;
}

async function auditOf(id: string) {
  const rows = await open()
    .selectFrom("audit_event")
    .select(["action", "detail"])
    .where("subject_id", "=", id)
    .orderBy("id")
    .execute();
  return rows.map(({ action, detail }) => ({ action, ...detail }));
}

describe("a retry", () => {
  test("takes only FAILED transcriptions, skips the rest and records two audit events", async () => {
    const { environmentId } = await createTenant(subtext);
    const failed = await seedFailed(subtext.service, environmentId, 3);
    const completed = { environmentId, language: "en", text: "Hello." };
    const { videoId } = await seedTranscript(subtext.service, completed);
    const gone = (await seedFailed(subtext.service, environmentId, 1))[0]!;
    const row = await ask(environmentId, "retry", { ids: [...failed, videoId, gone] });
    await open().deleteFrom("video").where("id", "=", gone).execute();

    await runBulkOperation(depsOf(subtext.service).deps, jobOf(row), NEVER);
    expect(await findOperation(open(), environmentId, row.id)).toMatchObject({
      state: "completed",
      matched: 5,
      done: 3,
      skipped: 2,
      failed: 0,
    });
    expect(await countByStatus(environmentId)).toEqual({ PENDING: 3, COMPLETED: 1 });
    expect(await auditOf(row.id)).toEqual([
      { action: "bulk_operation.requested", kind: "retry", matched: 5 },
      {
        action: "bulk_operation.finished",
        kind: "retry",
        state: "completed",
        matched: 5,
        done: 3,
        skipped: 2,
        failed: 0,
      },
    ]);
  });

  test("continues after it was interrupted, and enqueues each video once", async () => {
    const { environmentId } = await createTenant(subtext);
    await seedFailed(subtext.service, environmentId, 70);
    const row = await ask(environmentId, "retry", { matching: {} });
    const shutdown = new AbortController();
    const cut = depsOf(subtext.service, (count) => count === 55 && shutdown.abort(new Error("cut off")));
    await expect(runBulkOperation(cut.deps, jobOf(row), shutdown.signal)).rejects.toThrow("cut off");
    const { PENDING = 0 } = await countByStatus(environmentId);
    expect(PENDING).toBeGreaterThanOrEqual(55);
    expect(PENDING).toBeLessThan(65);

    // The rest of the service must get its turns.
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 1);
    await runBulkOperation(depsOf(subtext.service).deps, jobOf(row, 1), NEVER);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(0);
    expect(await findOperation(open(), environmentId, row.id)).toMatchObject({
      state: "completed",
      done: 70,
      skipped: 0,
    });
    expect(await countJobs(environmentId)).toBe(70);
  });

  test("processes no video twice if two workers run it", async () => {
    const { environmentId } = await createTenant(subtext);
    await seedFailed(subtext.service, environmentId, 60);
    const row = await ask(environmentId, "retry", { matching: {} });
    await Promise.all(
      [0, 1].map((retryCount) =>
        runBulkOperation(depsOf(subtext.service).deps, jobOf(row, retryCount), NEVER),
      ),
    );
    const ended = await findOperation(open(), environmentId, row.id);
    expect(ended!.done + ended!.skipped).toBe(60);
    expect(ended).toMatchObject({ state: "completed", matched: 60, failed: 0 });
    expect(await countJobs(environmentId)).toBe(60);
    expect(await auditOf(row.id)).toHaveLength(2);
  });

  test("stops at once when it is canceled, and counts exactly what it did", async () => {
    const { environmentId } = await createTenant(subtext);
    await seedFailed(subtext.service, environmentId, 120);
    const row = await ask(environmentId, "retry", { matching: {} });
    const cancel = () =>
      cancelOperation(
        { db: open(), clock: subtext.service.parts.clock },
        { environmentId, id: row.id },
        SERVICE,
      );
    const { deps, hooks } = depsOf(subtext.service, (count) => count === 20 && cancel());
    await runBulkOperation(deps, jobOf(row), NEVER);
    await Promise.all(hooks);
    const ended = await findOperation(open(), environmentId, row.id);
    const { PENDING, FAILED } = await countByStatus(environmentId);
    expect(ended).toMatchObject({ state: "canceled", matched: 120, done: PENDING, skipped: 0 });
    expect(PENDING).toBeLessThan(70);
    expect(FAILED).toBe(120 - PENDING!);
    expect((await auditOf(row.id)).map(({ action }) => action)).toEqual([
      "bulk_operation.requested",
      "bulk_operation.canceled",
    ]);
    // Another cancel and another run change nothing.
    expect(await cancel()).toEqual(ended);
    await runBulkOperation(depsOf(subtext.service).deps, jobOf(row), NEVER);
    expect(await countByStatus(environmentId)).toEqual({ PENDING, FAILED });
  });
});

describe("a deletion", () => {
  test("never touches another environment, nor videos that were added later", async () => {
    const { environmentId } = await createTenant(subtext);
    const { environmentId: other } = await createTenant(subtext);
    const own = await seedFailed(subtext.service, environmentId, 2);
    const others = await seedFailed(subtext.service, other, 2);
    const row = await ask(environmentId, "delete", { ids: [...own, ...others, "video_unknown"] });
    expect(row.matched).toBe(2);
    const all = await ask(environmentId, "delete", { matching: { state: "failed" } });
    const later = await seedFailed(subtext.service, environmentId, 1);
    for (const each of [row, all]) {
      await runBulkOperation(depsOf(subtext.service).deps, jobOf(each), NEVER);
    }
    const left = await open()
      .selectFrom("video")
      .select("id")
      .where("environment_id", "in", [environmentId, other])
      .execute();
    expect(new Set(left.map(({ id }) => id))).toEqual(new Set([...others, ...later]));
    expect(await findOperation(open(), environmentId, all.id)).toMatchObject({ done: 0, skipped: 2 });
  });

  test("of all matching videos deletes only those that the filtered list shows", async () => {
    const { environmentId } = await createTenant(subtext);
    await seedFailed(subtext.service, environmentId, 2, { name: "broken" });
    const kept = await seedFailed(subtext.service, environmentId, 1, { name: "other" });
    const { videoId } = await seedTranscript(subtext.service, {
      environmentId,
      language: "en",
      text: "Hello.",
      filename: "broken but transcribed.mp4",
    });
    const row = await ask(environmentId, "delete", { matching: { state: "failed", text: "BROKEN" } });
    expect(row.matched).toBe(2);
    await runBulkOperation(depsOf(subtext.service).deps, jobOf(row), NEVER);
    const left = await open()
      .selectFrom("video")
      .select("id")
      .where("environment_id", "=", environmentId)
      .execute();
    expect(left.map(({ id }) => id).sort()).toEqual([...kept, videoId].sort());
  });

  test("counts a video that cannot be deleted as failed and continues", async () => {
    const { environmentId } = await createTenant(subtext);
    const [first] = await seedFailed(subtext.service, environmentId, 3);
    const row = await ask(environmentId, "delete", { matching: {} });
    await sql`create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$`.execute(
      open(),
    );
    await sql`create trigger refuse before delete on video for each row when (old.id = ${sql.lit(first)}) execute function refuse()`.execute(
      open(),
    );
    await runBulkOperation(depsOf(subtext.service).deps, jobOf(row), NEVER);
    await sql`drop trigger refuse on video`.execute(open());
    expect(await findOperation(open(), environmentId, row.id)).toMatchObject({
      state: "completed",
      done: 2,
      failed: 1,
    });
  });

  test("continues after the service was killed in the middle and is opened again", async () => {
    const dataFolder = await temporaryFolder();
    const port = await freePort();
    const before = await startService({ dataFolder, port, start: false });
    const { environmentId } = await createTenant(before);
    await seedFailed(before.service, environmentId, 60);
    const { database, queue, clock } = before.service.parts;
    const wanted = { environmentId, kind: "delete", selection: { matching: {} } } as const;
    const row = await requestOperation({ db: database.kysely, queue, clock }, wanted, SERVICE);
    const shutdown = new AbortController();
    const { deps } = depsOf(before.service, (count) => count === 52 && shutdown.abort(new Error("killed")));
    await expect(runBulkOperation(deps, jobOf(row), shutdown.signal)).rejects.toThrow("killed");
    await before.service.stop();

    const after = await startService({ dataFolder, port });
    const db = after.service.parts.database.kysely;
    const ended = await until(async () => {
      const found = await findOperation(db, environmentId, row.id);
      return found?.state === "completed" && found;
    });
    expect(ended).toMatchObject({ matched: 60, done: 60, skipped: 0, failed: 0 });
    expect(await db.selectFrom("video").select("id").execute()).toEqual([]);
    expect(await db.selectFrom("bulk_operation_item").select("video_id").execute()).toEqual([]);
  });
});

describe("a selection of more videos than one transaction examines", () => {
  const VIDEOS = 5_001;

  async function seedMany(environmentId: string): Promise<void> {
    await sql`
      insert into video (id, environment_id, metadata, size_bytes, created_at)
      select 'video_' || lpad(n::text, 6, '0') || ${environmentId.split("_")[1]!.slice(6)}, ${environmentId}, '{}', 1, now()
      from generate_series(1, ${VIDEOS}::int) as n`.execute(open());
  }

  const countItems = async ({ id }: { id: string }) =>
    (
      await open()
        .selectFrom("bulk_operation_item")
        .select("video_id")
        .where("operation_id", "=", id)
        .execute()
    ).length;

  /** As if the process had crashed after the first transaction of the request. */
  async function begin(environmentId: string, kind: BulkOperationKind) {
    const job_id = kind === "download" ? null : newJobId();
    const row = { id: newId("operation"), environment_id: environmentId, kind, job_id, requested_by: null };
    return await open()
      .transaction()
      .execute((tx) => insertOperation(tx, { ...row, created_at: new Date() }, { matching: {} }));
  }

  test("lets other transactions run in between, and then has them all", async () => {
    const { environmentId } = await createTenant(subtext);
    await seedMany(environmentId);
    let row: BulkOperationRow | undefined;
    const asking = ask(environmentId, "delete", { matching: { until: new Date(Date.now() + 60_000) } });
    const asked = asking.then((created) => {
      row = created;
    });
    const seen = new Set<number>();
    while (!row) {
      for (const { matched } of await listOperations(open(), environmentId, 1)) seen.add(matched);
      await nextTurn();
    }
    await asked;
    expect([...seen]).toContain(VIDEOS - 1);
    expect(row).toMatchObject({ matched: VIDEOS, selection: null });
    expect(await countItems(row)).toBe(VIDEOS);
    expect(await auditOf(row.id)).toEqual([{ action: "bulk_operation.requested", kind: "delete" }]);
  });

  test("is completed by the job after a crash, without videos that were added later", async () => {
    const { environmentId } = await createTenant(subtext);
    await seedMany(environmentId);
    const row = await begin(environmentId, "retry");
    expect(row.matched).toBe(VIDEOS - 1);
    const last = `video_z${environmentId.split("_")[1]!.slice(1)}`;
    await sql`insert into video (id, environment_id, metadata, size_bytes, created_at)
      values (${last}, ${environmentId}, '{}', 1, now())`.execute(open());
    const shutdown = new AbortController();
    const { deps } = depsOf(subtext.service);
    const running = runBulkOperation(deps, jobOf(row), shutdown.signal);
    await until(async () => ((await findOperation(open(), environmentId, row.id))?.skipped ?? 0) > 0);
    shutdown.abort(new Error("cut off"));
    await expect(running).rejects.toThrow("cut off");
    const found = (await findOperation(open(), environmentId, row.id))!;
    expect(found).toMatchObject({ state: "running", matched: VIDEOS, selection: null, failed: 0 });
    expect((await countItems(row)) + found.skipped).toBe(VIDEOS);

    // The job deletes what a cancellation leaves.
    const { clock } = subtext.service.parts;
    await cancelOperation({ db: open(), clock }, { environmentId, id: row.id }, SERVICE);
    await runBulkOperation(deps, jobOf(row, 1), NEVER);
    expect(await countItems(row)).toBe(0);
  });

  test("ends if the operation is canceled, and the sweep deletes the videos", async () => {
    const { environmentId } = await createTenant(subtext);
    await seedMany(environmentId);
    const row = await begin(environmentId, "download");
    expect(await startDownload(open(), environmentId, row.id)).toBeUndefined();
    const { clock } = subtext.service.parts;
    const canceled = await cancelOperation({ db: open(), clock }, { environmentId, id: row.id }, SERVICE);
    await completeSelection(open(), row.id);
    expect(await findOperation(open(), environmentId, row.id)).toEqual(canceled);
    expect(await listPendingItems(open(), row.id, { after: "", limit: 1 })).toEqual([]);
    const never = new Date(0);
    await deleteOldOperations(open(), { finishedBefore: never, requestedBefore: never });
    expect(await countItems(row)).toBe(0);
  });
});

test("an operation whose job is lost gets a new one, and the old job changes nothing", async () => {
  const { environmentId } = await createTenant(subtext);
  await seedFailed(subtext.service, environmentId, 2);
  const row = await ask(environmentId, "retry", { matching: {} });
  await sql`delete from pgboss.job where id = ${row.job_id}`.execute(open());
  const { queue, log } = subtext.service.parts;
  await sweepLostJobs({ db: open(), queue, log }, NEVER);
  const replaced = (await findOperation(open(), environmentId, row.id))!;
  expect(replaced.job_id).not.toBe(row.job_id);
  await runBulkOperation(depsOf(subtext.service).deps, jobOf(row), NEVER);
  expect(await countByStatus(environmentId)).toEqual({ FAILED: 2 });
  await runBulkOperation(depsOf(subtext.service).deps, jobOf(replaced), NEVER);
  expect(await countByStatus(environmentId)).toEqual({ PENDING: 2 });
});

test("operations that ended long ago are deleted; others are kept", async () => {
  const { environmentId } = await createTenant(subtext);
  const [queued, done] = [
    await ask(environmentId, "retry", { matching: {} }),
    await ask(environmentId, "retry", { matching: {} }),
  ];
  await runBulkOperation(depsOf(subtext.service).deps, jobOf(done), NEVER);
  const now = subtext.service.parts.clock.now().getTime();
  const at = (ms: number) => new Date(now + ms);
  await deleteOldOperations(open(), { finishedBefore: at(-60_000), requestedBefore: at(60_000) });
  expect(await findOperation(open(), environmentId, done.id)).toBeDefined();
  await deleteOldOperations(open(), { finishedBefore: at(60_000), requestedBefore: at(60_000) });
  expect(await findOperation(open(), environmentId, done.id)).toBeUndefined();
  expect(await findOperation(open(), environmentId, queued.id)).toBeDefined();
});

test("the admin API counts, requests, lists and cancels", async () => {
  const { environmentId } = await createTenant(subtext);
  const { environmentId: other } = await createTenant(subtext);
  await seedFailed(subtext.service, environmentId, 3);
  const path = `/environments/${environmentId}/bulk-operations`;
  const matches = await sendAsCommandLine(
    subtext,
    `/environments/${environmentId}/video-matches?state=failed`,
  );
  const { count, countedAt } = matches.json();
  expect(count).toBe(3);
  await seedFailed(subtext.service, environmentId, 1);
  const body = { kind: "retry", videos: { matching: { state: "failed", until: countedAt } } };
  const created = await sendAsCommandLine(subtext, path, { method: "POST", body });
  expect(created.statusCode).toBe(202);
  const operation: BulkOperationView = created.json();
  expect(operation).toMatchObject({ kind: "retry", state: "queued", matched: 3, done: 0, finishedAt: null });
  expect((await sendAsCommandLine(subtext, path)).json()).toEqual({ data: [operation] });
  const elsewhere = `/environments/${other}/bulk-operations`;
  expect((await sendAsCommandLine(subtext, elsewhere)).json()).toEqual({ data: [] });
  const cancel = (start: string) =>
    sendAsCommandLine(subtext, `${start}/${operation.id}/cancel`, { method: "POST" });
  expect((await cancel(elsewhere)).json()).toMatchObject({ status: 404, code: "bulk_operation_not_found" });
  expect((await cancel(path)).json()).toMatchObject({ state: "canceled", done: 0 });
  const invalid = { kind: "retry", videos: { ids: ["x"], matching: {} } };
  expect((await sendAsCommandLine(subtext, path, { method: "POST", body: invalid })).statusCode).toBe(400);
});
