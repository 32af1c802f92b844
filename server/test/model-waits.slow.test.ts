import { sql } from "kysely";
import { expect, test } from "vitest";
import { wakeWaiting } from "../src/pipeline/wake-waiting.ts";
import { createTenant, shareService } from "./support/service.ts";

const service = shareService({ start: false });
const WAITING = 260;

test("all that wait for the model are woken, each once, however many they are and many of one moment", async () => {
  const { environmentId } = await createTenant(service);
  const { database, queue, log } = service.service.parts;
  const db = database.kysely;
  const numbers = sql`generate_series(1, ${WAITING}::int) as number`;
  await sql`
    insert into video (id, environment_id, metadata, created_at)
    select 'video_' || number, ${environmentId}, '{}', now() from ${numbers}`.execute(db);
  await sql`
    insert into transcription (id, video_id, environment_id, status, job_id, created_at, due_at, failure_code)
    select 'transcription_' || number, 'video_' || number, ${environmentId}, 'PENDING', gen_random_uuid(),
      date_trunc('second', now()) + number / 120 * interval '1 ms', now() + interval '1 hour', 'language_unsupported'
    from ${numbers}`.execute(db);
  const states = async () => {
    const { rows } = await sql<{ waiting: number; jobs: number }>`
      select
        (select count(*) from transcription where due_at is not null) as waiting,
        (select count(*) from pgboss.job join transcription on job_id = job.id) as jobs`.execute(db);
    const { rows: sent } = await sql<{ count: number }>`
      select count(*) from pgboss.job where name = 'transcribe'`.execute(db);
    return { ...rows[0], sent: sent[0]?.count };
  };

  await wakeWaiting({ db, queue, log }, AbortSignal.abort());
  expect(await states()).toEqual({ waiting: WAITING, jobs: 0, sent: 0 });

  await wakeWaiting({ db, queue, log }, new AbortController().signal);
  expect(await states()).toEqual({ waiting: 0, jobs: WAITING, sent: WAITING });
});
