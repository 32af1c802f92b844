import type { TranscriptionStatus } from "@subtext/client/contract/transcription";
import type { VideoMetadata } from "@subtext/client/contract/video";
import { sql } from "kysely";
import type { Db, TranscriptionRow, Tx, VideoRow } from "../db/schema.ts";
import { AppError } from "../lib/errors.ts";
import { isPlausibleId } from "../lib/ids.ts";

export interface NewVideo {
  id: string;
  environmentId: string;
  metadata: VideoMetadata;
  sizeBytes: number | null;
  now: Date;
}

export async function insertVideo(db: Db | Tx, video: NewVideo): Promise<VideoRow> {
  return await db
    .insertInto("video")
    .values({
      id: video.id,
      environment_id: video.environmentId,
      metadata: JSON.stringify(video.metadata),
      size_bytes: video.sizeBytes,
      created_at: video.now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function findVideo(db: Db, id: string): Promise<VideoRow | undefined> {
  return await db.selectFrom("video").selectAll().where("id", "=", id).executeTakeFirst();
}

export interface VideoFilter {
  transcriptionStatus: TranscriptionStatus | null;
  /** Lists only videos that were created before the one with this id. */
  before: string | null;
  limit: number;
}

/** Lists an environment's videos, newest first, at most `limit`. Ids sort by creation time. */
export async function listVideos(
  db: Db,
  environmentId: string,
  { transcriptionStatus, before, limit }: VideoFilter,
): Promise<VideoRow[]> {
  if (transcriptionStatus !== null) {
    // Uses the transcriptions' index, because a scan of all videos would be slow for a rare state.
    return await db
      .selectFrom("transcription")
      .innerJoin("video", "video.id", "transcription.video_id")
      .selectAll("video")
      .where("transcription.environment_id", "=", environmentId)
      .where("transcription.status", "=", transcriptionStatus)
      .$if(before !== null, (query) => query.where("transcription.video_id", "<", before!))
      .orderBy("transcription.video_id", "desc")
      .limit(limit)
      .execute();
  }
  return await db
    .selectFrom("video")
    .selectAll()
    .where("environment_id", "=", environmentId)
    .$if(before !== null, (query) => query.where("id", "<", before!))
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
}

/** Finds transcriptions by video id. The result has no entries for videos without one. */
export async function findTranscriptionsByVideo(
  db: Db,
  ids: string[],
): Promise<Map<string, TranscriptionRow>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom("transcription").selectAll().where("video_id", "in", ids).execute();
  return new Map(rows.map((row) => [row.video_id, row]));
}

export async function findVideosByTranscription(db: Db, ids: string[]): Promise<Map<string, VideoRow>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom("transcription")
    .innerJoin("video", "video.id", "transcription.video_id")
    .selectAll("video")
    .select("transcription.id as transcription_id")
    .where("transcription.id", "in", ids)
    .execute();
  return new Map(rows.map(({ transcription_id, ...video }) => [transcription_id, video]));
}

/**
 * Deletes a video of the environment and every row about it: its transcription, events and deliveries.
 * @returns the deleted row, or undefined if the video does not exist
 */
export async function deleteVideoRows(
  tx: Tx,
  environmentId: string,
  id: string,
): Promise<{ video: VideoRow; transcription: TranscriptionRow | undefined } | undefined> {
  const video = await tx
    .selectFrom("video")
    .selectAll()
    .where("id", "=", id)
    .where("environment_id", "=", environmentId)
    .forUpdate()
    .executeTakeFirst();
  if (!video) return undefined;
  const transcription = await tx
    .selectFrom("transcription")
    .selectAll()
    .where("video_id", "=", id)
    .forUpdate()
    .executeTakeFirst();
  if (transcription) await lockDeliveries(tx, transcription.id);
  await tx.deleteFrom("video").where("id", "=", id).execute();
  return { video, transcription };
}

/** Locks deliveries in the same order as transactions that update several of them, before any is deleted. */
export async function lockDeliveries(tx: Tx, transcriptionId: string): Promise<void> {
  await tx
    .selectFrom("delivery")
    .innerJoin("event", "event.id", "delivery.event_id")
    .select("delivery.id")
    .where("event.transcription_id", "=", transcriptionId)
    .orderBy("delivery.id")
    .forUpdate("delivery")
    .execute();
}

export async function declareVideoSize(db: Db, id: string, sizeBytes: number): Promise<void> {
  await db
    .updateTable("video")
    .set({ size_bytes: sizeBytes })
    .where("id", "=", id)
    .where("uploaded_at", "is", null)
    .execute();
}

/**
 * Finds the row of an open upload and locks it until the transaction ends. Of several completions of one upload, only
 * the first finds it open.
 * @returns undefined if it is complete or deleted
 */
export async function lockOpenUpload(tx: Tx, id: string): Promise<VideoRow | undefined> {
  return await tx
    .selectFrom("video")
    .selectAll()
    .where("id", "=", id)
    .where("uploaded_at", "is", null)
    .forUpdate()
    .executeTakeFirst();
}

export async function completeUpload(
  tx: Tx,
  id: string,
  upload: { sizeBytes: number; aiTranscription: boolean; now: Date },
): Promise<void> {
  await tx
    .updateTable("video")
    .set({
      size_bytes: upload.sizeBytes,
      ai_transcription: upload.aiTranscription,
      uploaded_at: upload.now,
    })
    .where("id", "=", id)
    .execute();
}

/** Returns, for each existing video, whether retention has deleted its recording. */
export async function recordingStates(db: Db, ids: string[]): Promise<Map<string, { deleted: boolean }>> {
  const rows = await db
    .selectFrom("video")
    .select(["id", "recording_deleted_at"])
    .where("id", "in", ids)
    .execute();
  return new Map(rows.map((row) => [row.id, { deleted: row.recording_deleted_at !== null }]));
}

/** Returns those of these ids whose video has a recording or an open upload. */
export async function videosWithRecording(db: Db, ids: string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom("video")
    .select("id")
    .where("id", "in", ids)
    .where("recording_deleted_at", "is", null)
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/** Lists open uploads after the given one, oldest first. */
export async function listOpenUploads(
  db: Db,
  { after, limit }: { after: VideoRow | null; limit: number },
): Promise<VideoRow[]> {
  return await db
    .selectFrom("video")
    .selectAll()
    .where("uploaded_at", "is", null)
    .$if(after !== null, (query) =>
      query.where(sql<boolean>`(created_at, id) > (${after!.created_at}, ${after!.id})`),
    )
    .orderBy("created_at")
    .orderBy("id")
    .limit(limit)
    .execute();
}

/** Deletes the row of an incomplete upload. */
export async function deleteOpenUpload(db: Db, id: string): Promise<boolean> {
  const row = await db
    .deleteFrom("video")
    .where("id", "=", id)
    .where("uploaded_at", "is", null)
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Finds a video of an environment.
 * @throws AppError `video_not_found`
 */
export async function getVideo(db: Db, environmentId: string, id: string): Promise<VideoRow> {
  const video = isPlausibleId(id) ? await findVideo(db, id) : undefined;
  if (video?.environment_id !== environmentId) throw noSuchVideo();
  return video;
}

export function noSuchVideo(): AppError {
  return new AppError("video_not_found", "This environment has no video with this id.");
}
