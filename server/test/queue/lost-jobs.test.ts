import { sql } from "kysely";
import { expect, test } from "vitest";
import { sweepLostJobs } from "../../src/cleanup/reconcile-jobs.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { assignNewJob, findLostJobs, MAX_LOST_JOBS } from "../../src/queue/lost-job-queries.ts";
import { newJobId } from "../../src/queue/queue.ts";
import { findWebhookEndpoint } from "../../src/webhooks/endpoint-queries.ts";
import { createWebhookEndpoint } from "../../src/webhooks/endpoints.ts";
import { sendTestEvent } from "../../src/webhooks/redeliver.ts";
import { createTenant, shareService } from "../support/service.ts";
import { StateWorld } from "../transcription/state-model.ts";

const service = shareService({ start: false });

test("a transcription whose worker has a clock two hours ahead is retried within seconds", async () => {
  const { environmentId } = await createTenant(service);
  const { parts } = service.service;
  const world = new StateWorld(parts, [environmentId], null);
  world.advance(7_200);
  await world.upload(environmentId);
  const [job] = await world.waitingJobs();
  await world.take(job!.id);
  await world.running[0]!.end("fault");
  const { rows } = await sql<{ seconds: number }>`
    select extract(epoch from start_after - now())::float8 as seconds from pgboss.job
    where name = 'transcribe' and state = 'created'`.execute(parts.database.kysely);
  expect(rows).toHaveLength(1);
  expect(rows[0]!.seconds).toBeLessThan(60);
  const { rows: due } = await sql<{ seconds: number }>`
    select extract(epoch from due_at - now())::float8 as seconds from transcription
    where environment_id = ${environmentId}`.execute(parts.database.kysely);
  expect(due[0]!.seconds).toBeLessThan(60);
  await world.clear();
});

test("a transcription whose worker and job are both lost gets a new job, and another worker completes it", async () => {
  const { environmentId } = await createTenant(service);
  const { parts } = service.service;
  const world = new StateWorld(parts, [environmentId], null);
  await world.upload(environmentId);
  const [lost] = await world.waitingJobs();
  await world.take(lost!.id);
  await sql`delete from pgboss.job where id = ${lost!.id}`.execute(parts.database.kysely);

  await world.sweep();
  const [job] = await world.waitingJobs();
  expect(job?.id).not.toBe(lost!.id);
  await world.take(job!.id);
  await world.running.find(({ attempt }) => attempt === 2)!.end("complete");
  const [row] = (await world.rows()).values();
  expect(row).toMatchObject({ status: "COMPLETED", attempt: 2, crash_count: 1 });
  await world.clear();
});

test("a delivery's new job counts toward its endpoint's limit, and is due when the lost one was", async () => {
  const { environmentId } = await createTenant(service);
  const { database, endpointPolicy, queue, log } = service.service.parts;
  const db = database.kysely;
  const deps = { db, clock: systemClock, policy: endpointPolicy };
  const made = await createWebhookEndpoint(deps, { environmentId, url: "https://example.com/hook" });
  const endpoint = (await findWebhookEndpoint(db, made.id))!;
  await db.transaction().execute((tx) => sendTestEvent({ tx, queue, clock: systemClock }, endpoint));
  await db
    .updateTable("delivery")
    .set({ next_attempt_at: new Date(Date.now() + 3_600_000) })
    .execute();
  await sql`delete from pgboss.job where name = 'deliver'`.execute(db);
  expect(await findLostJobs(db, "deliver")).toHaveLength(1);

  await sweepLostJobs({ db, queue, log }, new AbortController().signal);
  expect(await findLostJobs(db, "deliver")).toEqual([]);
  const { rows } = await sql<{ group: string; minutes: number }>`
    select group_id as "group", round(extract(epoch from start_after - now()) / 60)::int as minutes
    from pgboss.job where name = 'deliver'`.execute(db);
  expect(rows).toEqual([{ group: endpoint.id, minutes: 60 }]);
});

test("an emptied queue is refilled by one sweep, however long it was", async () => {
  const { environmentId } = await createTenant(service);
  const { database, queue, log } = service.service.parts;
  const db = database.kysely;
  const many = MAX_LOST_JOBS + 1;
  const idOf = (kind: string) => sql`${kind} || '_' || lpad(number::text, 26, '0')`;
  const numbers = sql`generate_series(1, ${many}::int) as number`;
  await sql`
    insert into video (id, environment_id, metadata, created_at, uploaded_at)
    select ${idOf("video")}, ${environmentId}, '{}', now(), now() from ${numbers}`.execute(db);
  await sql`
    insert into transcription (id, video_id, environment_id, status, job_id, created_at, queued_at)
    select ${idOf("transcription")}, ${idOf("video")}, ${environmentId}, 'PENDING', gen_random_uuid(), now(), now()
    from ${numbers}`.execute(db);
  const [lost] = await findLostJobs(db, "transcribe");
  await sweepLostJobs({ db, queue, log }, new AbortController().signal);
  expect(await findLostJobs(db, "transcribe")).toEqual([]);
  const { rows } = await sql`
    select from pgboss.job join transcription on job.id = job_id where environment_id = ${environmentId}`.execute(
    db,
  );
  expect(rows).toHaveLength(many);

  const assign = async (jobId: string) => {
    const named = { id: lost!.id, jobId };
    return await db.transaction().execute((tx) => assignNewJob(tx, "transcribe", named, newJobId()));
  };
  expect(await assign(lost!.jobId)).toBe(false);
  const ended = await db
    .updateTable("transcription")
    .set({ status: "FAILED", failure_code: "unreadable_media", finished_at: new Date() })
    .where("id", "=", lost!.id)
    .returning("job_id")
    .executeTakeFirstOrThrow();
  expect(await assign(ended.job_id)).toBe(false);
});
