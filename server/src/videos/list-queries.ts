import type { TranscriptionStatus } from "@subtext/client/contract/transcription";
import { type RawBuilder, sql } from "kysely";
import type { VideoState } from "../db/enums.ts";
import type { Db, VideoRow } from "../db/schema.ts";
import { listVideos } from "./queries.ts";

/** Later queue positions are not computed. */
const MAX_POSITION = 1_000;

export async function listVideosInState(
  db: Db,
  environmentId: string,
  { state, before, limit }: { state: VideoState | null; before: string | null; limit: number },
): Promise<VideoRow[]> {
  if (state === "uploading" || state === "untranscribed") {
    return await db
      .selectFrom("video")
      .selectAll()
      .where("environment_id", "=", environmentId)
      .$if(state === "uploading", (query) => query.where("uploaded_at", "is", null))
      .$if(state === "untranscribed", (query) => query.where(sql<boolean>`ai_transcription is false`))
      .$if(before !== null, (query) => query.where("id", "<", before!))
      .orderBy("id", "desc")
      .limit(limit)
      .execute();
  }
  const transcriptionStatus = state === null ? null : STATUSES[state];
  return await listVideos(db, environmentId, { transcriptionStatus, before, limit });
}

const STATUSES = {
  pending: "PENDING",
  processing: "PROCESSING",
  completed: "COMPLETED",
  failed: "FAILED",
  skipped: "SKIPPED",
} as const;

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
