import { sql } from "kysely";
import type { Db } from "../../src/db/schema.ts";

const BATCH = 10_000;

/** Returns the id of a seeded video. The number of the newest one is the number of videos. */
export function seededVideoId(number: number): string {
  return `video_01kb${String(number).padStart(22, "0")}`;
}

/**
 * Inserts videos with the names and metadata of different customers: 92 % are completed, the others failed, were skipped
 * or were uploaded while AI Transcription was off.
 */
export async function seedManyVideos(db: Db, environmentId: string, count: number): Promise<void> {
  for (let from = 1; from <= count; from += BATCH) {
    const to = Math.min(count, from + BATCH - 1);
    await sql`
      insert into video (id, environment_id, metadata, size_bytes, ai_transcription, created_at, uploaded_at)
      select 'video_01kb' || lpad(n::text, 22, '0'), ${environmentId},
        jsonb_build_object(
          'filename', format('%s %s %s.mp4', topics[1 + n % 7], events[1 + n / 7 % 5], n),
          'customer', format('Customer %s', n % 5000),
          'orderId', md5(n::text)
        ),
        1000000 + n, n % 50 <> 0, at, at
      from generate_series(${from}::int, ${to}::int) as n,
        lateral (select now() - (${count} - n) * interval '1 minute' as at) as times,
        (select array['Quarterly', 'Product', 'Customer', 'Team', 'Security', 'Hiring', 'Budget'] as topics,
          array['review', 'interview', 'planning', 'demo', 'retrospective'] as events) as words`.execute(db);
    await sql`
      insert into transcription (id, video_id, environment_id, status, job_id, attempt, language, word_count, duration,
        progress, file_prefix, failure_code, failure_message, skip_reason, created_at, queued_at, finished_at)
      select 'transcription_01kb' || lpad(n::text, 22, '0'), 'video_01kb' || lpad(n::text, 22, '0'), ${environmentId},
        status, gen_random_uuid(), 1, case when done then (array['en', 'de', 'es', 'fr'])[1 + n / 3 % 4] end,
        case when done then n * 7919 % 20000 end, case when done then n * 104729 % 7200 end,
        1, case when done then 'none' end,
        case when status = 'FAILED' then 'unreadable_media' end,
        case when status = 'FAILED' then 'The file contains neither audio nor video.' end,
        case when status = 'SKIPPED' then 'no_audio_track' end, now(), now(), now()
      from generate_series(${from}::bigint, ${to}::bigint) as n,
        lateral (select case when n % 50 in (1, 2) then 'FAILED' when n % 50 = 3 then 'SKIPPED' else 'COMPLETED' end
          as status) as states,
        lateral (select status = 'COMPLETED' as done) as outcomes
      where n % 50 <> 0`.execute(db);
  }
  await sql`vacuum (analyze) video, transcription`.execute(db);
}
