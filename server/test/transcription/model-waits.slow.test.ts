import { sql } from "kysely";
import { expect, test } from "vitest";
import { enqueue } from "../../src/queue/transcription-jobs.ts";
import { wakeWaiting } from "../../src/transcription/wake-waiting.ts";
import { createTenant, shareService } from "../support/service.ts";

const service = shareService({ start: false });
const WAITING = 260;

test("all transcriptions that wait for the model become due with new tags, even if many have the same time", async () => {
  const { environmentId } = await createTenant(service);
  const { database, queue, log } = service.service.parts;
  const db = database.kysely;
  const numbers = sql`generate_series(1, ${WAITING}::int) as number`;
  await sql`
    insert into video (id, environment_id, metadata, created_at)
    select 'video_' || number, ${environmentId}, '{}', now() from ${numbers}`.execute(db);
  await sql`
    insert into transcription
      (id, video_id, environment_id, status, job_id, created_at, queued_at, due_at, failure_code)
    select 'transcription_' || number, 'video_' || number, ${environmentId}, 'PENDING', gen_random_uuid(),
      date_trunc('second', now()) + number / 120 * interval '1 ms', now(), now() + interval '1 hour',
      'language_unsupported'
    from ${numbers}`.execute(db);
  await db.transaction().execute(async (tx) => {
    const rows = await tx.selectFrom("transcription").select(["id", "job_id"]).execute();
    for (const { id: transcriptionId, job_id: jobId } of rows) {
      await enqueue({ tx, queue }, { jobId, transcriptionId, environmentId, delayMs: 3_600_000 });
    }
  });
  const states = async () => {
    const { rows } = await sql<{ waiting: number; due: number; tags: number }>`
      select
        (select count(*) from transcription where due_at is not null) as waiting,
        (select count(*) from pgboss.job join transcription on job_id = job.id where start_after <= now()) as due,
        (select count(distinct data->'tag'->>'start') from pgboss.job where name = 'transcribe') as tags`.execute(
      db,
    );
    return rows[0];
  };

  await wakeWaiting({ db, queue, log }, AbortSignal.abort());
  expect(await states()).toEqual({ waiting: WAITING, due: 0, tags: WAITING });

  // Meanwhile, other environments have been served.
  const virtualTime = 10_000_000;
  await db.updateTable("queue_clock").set({ virtual_time: virtualTime }).execute();
  await wakeWaiting({ db, queue, log }, new AbortController().signal);
  expect(await states()).toEqual({ waiting: 0, due: WAITING, tags: WAITING });
  const { rows } = await sql<{ first: number }>`
    select min((data->'tag'->>'start')::bigint) as first from pgboss.job where name = 'transcribe'`.execute(
    db,
  );
  expect(rows[0]!.first).toBe(virtualTime);
});
