import type { VideoMetadata } from "@subtext/client/contract/webhook";
import type { Db, Tx, VideoRow } from "./schema.ts";

export interface NewVideo {
  id: string;
  environmentId: string;
  metadata: VideoMetadata;
  sizeBytes: number | null;
  now: Date;
}

export async function insertVideo(db: Db, video: NewVideo): Promise<void> {
  await db
    .insertInto("video")
    .values({
      id: video.id,
      environment_id: video.environmentId,
      metadata: JSON.stringify(video.metadata),
      size_bytes: video.sizeBytes,
      created_at: video.now,
    })
    .execute();
}

export async function findVideo(db: Db, id: string): Promise<VideoRow | undefined> {
  return await db.selectFrom("video").selectAll().where("id", "=", id).executeTakeFirst();
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
 * The row of an upload that is still open, locked until the transaction ends: of several completions of one
 * upload only the first finds it open.
 * @returns undefined where it is complete already or gone
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

/** Of these ids, the ones that videos have. */
export async function existingVideoIds(db: Db, ids: string[]): Promise<Set<string>> {
  const rows = await db.selectFrom("video").select("id").where("id", "in", ids).execute();
  return new Set(rows.map(({ id }) => id));
}

export async function listOpenUploads(db: Db): Promise<VideoRow[]> {
  return await db
    .selectFrom("video")
    .selectAll()
    .where("uploaded_at", "is", null)
    .orderBy("created_at")
    .execute();
}

/** Removes the row of an upload that never completed. */
export async function deleteOpenUpload(db: Db, id: string): Promise<boolean> {
  const row = await db
    .deleteFrom("video")
    .where("id", "=", id)
    .where("uploaded_at", "is", null)
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}
