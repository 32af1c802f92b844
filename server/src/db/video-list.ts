import type { VideoState } from "@subtext/dashboard/contract/video";
import { sql } from "kysely";
import type { Db, VideoRow } from "./schema.ts";
import { listVideos } from "./videos.ts";

/** Places in the queue are counted so far; whoever waits behind is told no number. */
export const COUNTED_PLACES = 1_000;

/** Videos of an environment in one state, or all, newest first; each state is read from an index of its own. */
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

/** The first in the queue, of all environments, oldest first: 1 is next. By the videos' ids. */
export async function queuePlaces(db: Db): Promise<Map<string, { place: number; environmentId: string }>> {
  const rows = await db
    .selectFrom("transcription")
    .select(["video_id", "environment_id"])
    .where("status", "=", "PENDING")
    .orderBy("created_at")
    .orderBy("id")
    .limit(COUNTED_PLACES)
    .execute();
  return new Map(
    rows.map((row, index) => [row.video_id, { place: index + 1, environmentId: row.environment_id }]),
  );
}

export async function findVideos(db: Db, ids: string[]): Promise<VideoRow[]> {
  if (ids.length === 0) return [];
  return await db.selectFrom("video").selectAll().where("id", "in", ids).execute();
}
