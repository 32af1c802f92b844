import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { SERVICE } from "../../src/audit/audit-events.ts";
import { recordMissingFiles } from "../../src/cleanup/missing-file-queries.ts";
import type { Tx } from "../../src/db/schema.ts";
import { newId } from "../../src/lib/ids.ts";
import { lockEnvironmentQueue, removeQueuedJob } from "../../src/queue/fair-queueing.ts";
import { newJobId } from "../../src/queue/queue.ts";
import { bringForward, enqueue, type TranscriptionJob } from "../../src/queue/transcription-jobs.ts";
import { deleteVideoRows } from "../../src/videos/queries.ts";
import { deleteEndpointRow } from "../../src/webhooks/endpoint-queries.ts";
import { createWebhookEndpoint, removeWebhookEndpoint } from "../../src/webhooks/endpoints.ts";
import { insertDelivery, insertEvent, lockUndelivered } from "../../src/webhooks/queries.ts";
import { emitCompleted } from "../support/emit-completed.ts";
import { seedTranscript } from "../support/seed-transcript.ts";
import { createTenant, shareService, until } from "../support/service.ts";

/** The embedded database runs one transaction at a time. */
const isPostgres = Boolean(process.env.TEST_DATABASE_URL);
const subtext = shareService({ start: false });

/**
 * Runs `work` in a transaction, and `other` while the transaction is open.
 * @param then last part of the transaction, which runs once `other` waits for its locks
 */
async function runDuringTransaction(
  work: (tx: Tx) => Promise<unknown>,
  other: () => Promise<unknown>,
  then: (tx: Tx) => Promise<unknown> = async () => {},
): Promise<unknown> {
  const db = subtext.service.parts.database.kysely;
  const { promise: done, resolve: finish } = Promise.withResolvers<void>();
  const { promise: letGo, resolve: release } = Promise.withResolvers<void>();
  const first = db.transaction().execute(async (tx) => {
    await work(tx);
    finish();
    await letGo;
    await then(tx);
  });
  await done;
  const second = other();
  // If `other` does not wait for the transaction, it ends first.
  await Promise.race([second, new Promise((resolve) => setTimeout(resolve, 500))]).catch(() => {});
  release();
  const [, outcome] = await Promise.all([first, second]);
  return outcome;
}

describe.skipIf(!isPostgres)("concurrent transactions", () => {
  test("a transcription completes while a webhook endpoint is being deleted", async () => {
    const { environmentId } = await createTenant(subtext);
    const { database, clock, endpointPolicy: policy } = subtext.service.parts;
    const db = database.kysely;
    const options = { environmentId, url: "https://example.com/hook" };
    const { id: deleted } = await createWebhookEndpoint({ db, clock, policy }, options);
    const { id: remaining } = await createWebhookEndpoint({ db, clock, policy }, options);
    await runDuringTransaction(
      (tx) => deleteEndpointRow(tx, deleted),
      () => emitCompleted(subtext.service, environmentId),
    );
    const deliveries = await db
      .selectFrom("delivery")
      .select("endpoint_id")
      .where("endpoint_id", "in", [deleted, remaining])
      .execute();
    expect(deliveries).toEqual([{ endpoint_id: remaining }]);
  });

  test("a transcription completes without a delivery to a webhook endpoint whose deliveries are being deleted in batches", async () => {
    const { environmentId } = await createTenant(subtext);
    const { database, clock, endpointPolicy: policy } = subtext.service.parts;
    const db = database.kysely;
    const options = { environmentId, url: "https://example.com/hook" };
    const endpoint = await createWebhookEndpoint({ db, clock, policy }, options);
    await emitCompleted(subtext.service, environmentId);
    await sql`
      with copy as (
        insert into event (id, environment_id, type, transcription_id, detail, created_at)
        select event.id || '_' || number, environment_id, type, transcription_id, detail, created_at
        from event, generate_series(1, 1000) as number where environment_id = ${environmentId}
        returning id, type, created_at
      )
      insert into delivery (id, event_id, event_type, endpoint_id, status, job_id, created_at)
      select copy.id, copy.id, copy.type, ${endpoint.id}, 'succeeded', gen_random_uuid(), copy.created_at
      from copy`.execute(db);
    const deliveries = (of: Tx | typeof db) =>
      of.selectFrom("delivery").select("id").where("endpoint_id", "=", endpoint.id).orderBy("id", "desc");
    const { promise: isLocked, resolve: locked } = Promise.withResolvers<void>();
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
    const locking = db.transaction().execute(async (tx) => {
      await deliveries(tx).limit(1).forUpdate().execute();
      locked();
      await isReleased;
    });
    await isLocked;
    const removal = removeWebhookEndpoint({ db, clock }, SERVICE, endpoint);
    await until(async () => (await deliveries(db).execute()).length === 1);
    await emitCompleted(subtext.service, environmentId);
    expect(await deliveries(db).execute()).toHaveLength(1);
    release();
    await Promise.all([locking, removal]);
    expect(await deliveries(db).execute()).toEqual([]);
    expect(
      await db.selectFrom("webhook_endpoint").select("id").where("id", "=", endpoint.id).execute(),
    ).toEqual([]);
    const audited = db.selectFrom("audit_event").select("action").where("subject_id", "=", endpoint.id);
    expect((await audited.orderBy("id").execute()).map(({ action }) => action)).toEqual([
      "webhook_endpoint.disabled",
      "webhook_endpoint.deleted",
    ]);
  });

  test("missing files are recorded for other videos, but not for one that is being deleted", async () => {
    const { environmentId } = await createTenant(subtext);
    const seed = () => seedTranscript(subtext.service, { environmentId, language: "en", text: "Gone." });
    const [{ videoId: deleted }, { videoId: remaining }] = [await seed(), await seed()];
    const db = subtext.service.parts.database.kysely;
    const missing = [deleted, remaining].map((videoId) => ({ videoId, part: "recording" as const }));
    await runDuringTransaction(
      (tx) => deleteVideoRows(tx, environmentId, deleted),
      () => recordMissingFiles(db, { checkedIds: [deleted, remaining], missing, now: new Date() }),
    );
    const noted = await db.selectFrom("missing_file").select("video_id").execute();
    expect(noted).toEqual([{ video_id: remaining }]);
  });

  test.each<
    [
      string,
      number,
      (tx: Tx, made: { videoId: string; endpointId: string; environmentId: string }) => Promise<unknown>,
    ]
  >([
    ["deleting a video", 0, (tx, { environmentId, videoId }) => deleteVideoRows(tx, environmentId, videoId)],
    ["deleting a webhook endpoint", 0, (tx, { endpointId }) => deleteEndpointRow(tx, endpointId)],
    [
      "redelivering to a webhook endpoint",
      2,
      (tx, { endpointId }) => lockUndelivered(tx, endpointId, { since: new Date(0), limit: 10 }),
    ],
  ])("%s waits for deliveries that are being settled, without a deadlock", async (_what, left, change) => {
    const { environmentId } = await createTenant(subtext);
    const { database, clock, endpointPolicy: policy } = subtext.service.parts;
    const db = database.kysely;
    const { videoId, transcriptionId } = await seedTranscript(subtext.service, {
      environmentId,
      language: "en",
      text: "Told.",
    });
    const options = { environmentId, url: "https://example.com/hook" };
    const { id: endpointId } = await createWebhookEndpoint({ db, clock, policy }, options);
    let now = clock.now();
    // Insert the later id first, because rows are deleted in their physical order.
    const ids = [newId("delivery"), newId("delivery")].toSorted();
    for (const id of ids.toReversed()) {
      // Clocks of processes differ, so ids and times may have different orders.
      now = new Date(now.getTime() + 1_000);
      const eventId = newId("event");
      const about = { environmentId, transcriptionId, detail: {}, now };
      await db.transaction().execute(async (tx) => {
        const type = "transcriptions.transcription.completed";
        await insertEvent(tx, { id: eventId, type, ...about });
        await insertDelivery(tx, { id, eventId, eventType: type, endpointId, jobId: newJobId(), now });
        await tx.updateTable("delivery").set({ attempts: 1 }).where("id", "=", id).execute();
      });
    }
    const lock = async (tx: Tx, id: string) =>
      await tx.selectFrom("delivery").select("id").where("id", "=", id).forUpdate().execute();
    await runDuringTransaction(
      (tx) => lock(tx, ids[0]!),
      () => db.transaction().execute((tx) => change(tx, { videoId, endpointId, environmentId })),
      (tx) => lock(tx, ids[1]!),
    );
    const found = await db.selectFrom("delivery").select("id").where("id", "in", ids).execute();
    expect(found).toHaveLength(left);
  });

  test.each<[string, (tx: Tx, job: TranscriptionJob) => Promise<void>]>([
    ["removing", (tx, { environmentId, jobId }) => removeQueuedJob(tx, environmentId, jobId)],
    ["bringing forward", (tx, job) => bringForward({ tx, queue: subtext.service.parts.queue }, job)],
  ])("%s a queued transcription waits for retagging, without a deadlock", async (_what, change) => {
    const { environmentId } = await createTenant(subtext);
    const { database, queue } = subtext.service.parts;
    const job = { jobId: newJobId(), transcriptionId: newId("transcription"), environmentId };
    await database.kysely.transaction().execute((tx) => enqueue({ tx, queue }, job));
    await runDuringTransaction(
      (tx) => lockEnvironmentQueue(tx, environmentId),
      () => database.kysely.transaction().execute((tx) => change(tx, job)),
      (tx) => sql`update pgboss.job set priority = priority where id = ${job.jobId}`.execute(tx),
    );
  });
});

if (!isPostgres) {
  describe("concurrent transactions", () => {
    test.skip("are not tested: TEST_DATABASE_URL names no PostgreSQL", () => {});
  });
}
