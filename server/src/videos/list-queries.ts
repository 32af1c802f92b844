import type { TranscriptionStatus } from "@subtext/client/contract/transcription";
import { type RawBuilder, sql } from "kysely";
import type { VideoState } from "../db/enums.ts";
import type { Db } from "../db/schema.ts";
import type { VideoRow } from "../db/tables/videos.ts";

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
