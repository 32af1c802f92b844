import type { TranscriptionStatus } from "@subtext/client/contract/transcription";
import { type RawBuilder, sql } from "kysely";
import type { VideoState } from "../db/enums.ts";
import type { Db, VideoRow } from "../db/schema.ts";

/** Later queue positions are not computed. */
const MAX_POSITION = 1_000;

/**
 * Returns the queue positions of waiting videos, keyed by video id. All environments share one queue. The video at
 * position 1 is claimed next.
 */
export async function queuePositions(
  db: Db,
): Promise<Map<string, { position: number; environmentId: string }>> {
  const { rows } = await sql<{ videoId: string; environmentId: string }>`
    select video_id as "videoId", environment_id as "environmentId" from (
      select id, priority, created_on from pgboss.job
      where name = 'transcribe' and state < 'active' and not blocked and start_after <= now()
      order by priority desc, created_on limit ${MAX_POSITION}
    ) as job join transcription on job_id = job.id and status = 'PENDING'
    order by priority desc, created_on`.execute(db);
  return new Map(
    rows.map(({ videoId, environmentId }, index) => [videoId, { position: index + 1, environmentId }]),
  );
}

export async function findVideos(db: Db, ids: string[]): Promise<VideoRow[]> {
  if (ids.length === 0) return [];
  return await db.selectFrom("video").selectAll().where("id", "in", ids).execute();
}

/** Counts an environment's videos in each state, up to `upTo`, because exact counts would read every row. */
export async function countVideosByState(
  db: Db,
  environmentId: string,
  upTo: number,
): Promise<Record<VideoState, number>> {
  const ofVideos = (condition: RawBuilder<unknown>) => sql`(select count(*)::int from (
    select 1 from video where environment_id = ${environmentId} and ${condition} limit ${upTo}) as found)`;
  const ofTranscriptions = (status: TranscriptionStatus) => sql`(select count(*)::int from (
    select 1 from transcription where environment_id = ${environmentId} and status = ${status} limit ${upTo}) as found)`;
  const { rows } = await sql<Record<VideoState, number>>`select
    ${ofVideos(sql`uploaded_at is null`)} as uploading,
    ${ofTranscriptions("PENDING")} as pending,
    ${ofTranscriptions("PROCESSING")} as processing,
    ${ofTranscriptions("COMPLETED")} as completed,
    ${ofTranscriptions("FAILED")} as failed,
    ${ofTranscriptions("SKIPPED")} as skipped,
    ${ofVideos(sql`ai_transcription is false`)} as untranscribed`.execute(db);
  return rows[0]!;
}
