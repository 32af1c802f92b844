import type { TranscriptionStatus } from "@subtext/client/contract/transcription";
import type { VideoMetadata } from "@subtext/client/contract/video";
import { sql } from "kysely";
import type { Db, Tx } from "../db/schema.ts";
import type { TranscriptionRow } from "../db/tables/transcriptions.ts";
import type { VideoRow } from "../db/tables/videos.ts";
import { AppError } from "../lib/errors.ts";
import { isPlausibleId } from "../lib/ids.ts";

export interface NewVideo {
  id: string;
  environmentId: string;
  metadata: VideoMetadata;
  sizeBytes: number | null;
  /** The video whose recording the new one is a copy of. */
  sourceVideoId?: string;
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
      source_video_id: video.sourceVideoId ?? null,
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
  /** Lists only videos that were created before the video with this id. */
  before: string | null;
  limit: number;
}

/** Newest first. */
export async function listVideos(
  db: Db,
  environmentId: string,
  { transcriptionStatus, before, limit }: VideoFilter,
): Promise<VideoRow[]> {
  if (transcriptionStatus !== null) {
    // Uses the index of transcriptions, because a scan of all videos would be slow for a rare status.
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

/** Returns transcriptions keyed by video id, without entries for videos that have none. */
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
 * Deletes a video and every row that belongs to it.
 * @returns the deleted rows; undefined if the environment has no such video
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

/** Locks deliveries before their deletion, in the order in which other transactions lock several of them. */
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
 * Finds the row of an incomplete upload and locks it until the transaction ends, so that only one of several
 * completions finds it.
 * @returns undefined if the upload is complete or deleted
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

/** Returns for each existing video whether retention has deleted its recording. */
export async function recordingStates(db: Db, ids: string[]): Promise<Map<string, { deleted: boolean }>> {
  const rows = await db
    .selectFrom("video")
    .select(["id", "recording_deleted_at"])
    .where("id", "in", ids)
    .execute();
  return new Map(rows.map((row) => [row.id, { deleted: row.recording_deleted_at !== null }]));
}

/** Returns the ids of videos that have a recording or an incomplete upload. */
export async function videosWithRecording(db: Db, ids: string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom("video")
    .select("id")
    .where("id", "in", ids)
    .where("recording_deleted_at", "is", null)
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/** Lists incomplete uploads after the given one, oldest first. */
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

/** Deletes the row of an incomplete upload. Returns false if there is none. */
export async function deleteOpenUpload(db: Db, id: string): Promise<boolean> {
  const row = await db
    .deleteFrom("video")
    .where("id", "=", id)
    .where("uploaded_at", "is", null)
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

/** @throws AppError `video_not_found` */
export async function getVideo(db: Db, environmentId: string, id: string): Promise<VideoRow> {
  const video = isPlausibleId(id) ? await findVideo(db, id) : undefined;
  if (video?.environment_id !== environmentId) throw noSuchVideo();
  return video;
}

export function noSuchVideo(): AppError {
  return new AppError("video_not_found", "This environment has no video with this ID.");
}
