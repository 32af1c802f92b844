import type { Db } from "@subtext/server/db/schema";
import type { Clock } from "@subtext/server/lib/clock";
import { newId } from "@subtext/server/lib/ids";
import type { Queue } from "@subtext/server/queue/queue";
import { acceptUpload } from "@subtext/server/uploads/accept-upload";
import { sql } from "kysely";

export interface QueueParts {
  db: Db;
  queue: Queue;
  clock: Clock;
}

/** Inserts videos without recordings and accepts their uploads one by one, as the service does. */
export async function acceptVideos(
  parts: QueueParts,
  environmentIds: string[],
  count: number,
): Promise<void> {
  for (let number = 0; number < count; number++) {
    const id = newId("video");
    await parts.db
      .insertInto("video")
      .values({
        id,
        environment_id: environmentIds[number % environmentIds.length]!,
        metadata: "{}",
        size_bytes: 1,
        created_at: parts.clock.now(),
      })
      .execute();
    await acceptUpload(parts, { videoId: id, sizeBytes: 1 });
  }
}

/**
 * Inserts rows and jobs like those of `acceptUpload` in bulk. The jobs are queued one millisecond apart. With `flood`,
 * the first 90% belong to one environment.
 */
export async function fillBacklog(
  { db }: QueueParts,
  { rows, environments, flood }: { rows: number; environments: number; flood: boolean },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`insert into environment (id, name, ai_transcription, created_at)
    select 'env_' || lpad(n::text, 8, '0'), 'Environment ' || n, true, now()
    from generate_series(1, ${environments}::int) as n`.execute(tx);
    await sql`create temporary table backlog on commit drop as
    select n, 'video_' || lpad(n::text, 26, '0') as video_id, 'transcription_' || lpad(n::text, 26, '0') as id,
      'env_' || lpad((case when ${flood} and n <= ${rows}::int * 0.9 then 1
        else 1 + n % ${environments}::int end)::text, 8, '0') as environment_id,
      gen_random_uuid() as job_id, now() - interval '1 day' + n * interval '1 millisecond' as at
    from generate_series(1, ${rows}::int) as n`.execute(tx);
    await sql`insert into video (id, environment_id, metadata, size_bytes, created_at, uploaded_at, ai_transcription)
    select video_id, environment_id, '{}', 1, at, at, true from backlog`.execute(tx);
    await sql`insert into transcription (id, video_id, environment_id, status, job_id, stages, created_at, queued_at)
    select id, video_id, environment_id, 'PENDING', job_id, 'null', at, at from backlog`.execute(tx);
    await sql`create temporary table tagged on commit drop as
    select backlog.*, (row_number() over (partition by environment_id order by n) - 1) * 1000 as start from backlog`.execute(
      tx,
    );
    await sql`insert into environment_queue (environment_id, finish_tag)
    select environment_id, max(start) + 1000 from tagged group by environment_id`.execute(tx);
    await sql`insert into pgboss.job (id, name, data, priority, group_id, created_on, start_after, keep_until,
      expire_seconds, heartbeat_seconds, retry_limit, retry_delay, retry_backoff, policy)
    select job_id, 'transcribe', jsonb_build_object('subjectId', id,
        'tag', jsonb_build_object('start', start, 'work', 1000, 'charge', 1000)),
      -start / 1000, environment_id, at, at, at + interval '1 year', 3600, 10, 1000, 1, true, 'standard' from tagged`.execute(
      tx,
    );
  });
  await sql`analyze`.execute(db);
}
