import { sql } from "kysely";
import type { RetentionPolicy } from "../db/enums.ts";
import type { Db, Tx } from "../db/schema.ts";
import type { VideoRow } from "../db/tables/videos.ts";
import { retentionOf } from "../environments/queries.ts";
import { removeCheckpoints } from "../transcription/checkpoint-queries.ts";
import { lockDeliveries } from "./queries.ts";

const ENDED = ["COMPLETED", "FAILED", "SKIPPED"] as const;

const DAY_MS = 86_400_000;

export function dueBefore({ days }: RetentionPolicy, now: Date): Date {
  return new Date(now.getTime() - days * DAY_MS);
}

export interface DuePosition {
  uploadedAt: Date;
  id: string;
}

/**
 * Finds due videos of an environment in the order of their uploads. A video is due if its transcription ended before
 * `before`, or its upload if it has no transcription.
 * @param hasRecording selects videos that still have a recording, or videos whose recording was already deleted
 */
export async function findDue(
  db: Db,
  environmentId: string,
  {
    before,
    hasRecording,
    after,
    limit,
  }: { before: Date; hasRecording: boolean; after: DuePosition | null; limit: number },
): Promise<DuePosition[]> {
  return await dueQuery(db, environmentId, { before, hasRecording })
    .select(["video.id", "video.uploaded_at as uploadedAt"])
    .$if(after !== null, (query) =>
      query.where(sql<boolean>`(video.uploaded_at, video.id) > (${after!.uploadedAt}, ${after!.id})`),
    )
    .orderBy("video.uploaded_at")
    .orderBy("video.id")
    .limit(limit)
    .$narrowType<{ uploadedAt: Date }>()
    .execute();
}

/** Counts due videos, up to `upTo`. */
export async function countDue(
  db: Db,
  environmentId: string,
  { retention, now, upTo }: { retention: RetentionPolicy; now: Date; upTo: number },
): Promise<number> {
  const before = dueBefore(retention, now);
  let count = 0;
  for (const hasRecording of retention.deletes === "recording" ? [true] : [true, false]) {
    const { found } = await db
      .selectFrom(
        dueQuery(db, environmentId, { before, hasRecording })
          .select("video.id")
          .limit(upTo - count)
          .as("due"),
      )
      .select((query) => query.fn.countAll<number>().as("found"))
      .executeTakeFirstOrThrow();
    count += Number(found);
    if (count >= upTo) return upTo;
  }
  return count;
}

function dueQuery(
  db: Db,
  environmentId: string,
  { before, hasRecording }: { before: Date; hasRecording: boolean },
) {
  return db
    .selectFrom("video")
    .leftJoin("transcription", "transcription.video_id", "video.id")
    .where("video.environment_id", "=", environmentId)
    .where("video.recording_deleted_at", hasRecording ? "is" : "is not", null)
    .where("video.uploaded_at", "<", before)
    .where((where) =>
      where.or([
        where("transcription.id", "is", null),
        where.and([
          where("transcription.status", "in", ENDED),
          where("transcription.finished_at", "<", before),
        ]),
      ]),
    );
}

/**
 * Deletes a due video, or only marks its recording as deleted, according to the current policy. Locks the video and
 * checks again whether it is due. The caller removes the files after the commit.
 * @returns null if the video is not due
 */
export async function deleteDue(
  tx: Tx,
  { environmentId, videoId, now }: { environmentId: string; videoId: string; now: Date },
): Promise<{
  deleted: RetentionPolicy["deletes"];
  transcriptionId: string | null;
  posterPrefix: string | null;
} | null> {
  const environment = await tx
    .selectFrom("environment")
    .selectAll()
    .where("id", "=", environmentId)
    .forShare()
    .executeTakeFirst();
  const retention = environment && retentionOf(environment);
  if (!retention) return null;
  const video = await lockVideo(tx, videoId);
  if (!video?.uploaded_at) return null;
  const transcription = await tx
    .selectFrom("transcription")
    .select(["id", "status", "finished_at", "poster_prefix"])
    .where("video_id", "=", videoId)
    .forUpdate()
    .executeTakeFirst();
  if (transcription && !ENDED.some((status) => status === transcription.status)) return null;
  const since = transcription ? transcription.finished_at : video.uploaded_at;
  if (since === null || since >= dueBefore(retention, now)) return null;
  const taken = {
    deleted: retention.deletes,
    transcriptionId: transcription?.id ?? null,
    posterPrefix: transcription?.poster_prefix ?? null,
  };
  if (retention.deletes === "video") {
    if (transcription) await lockDeliveries(tx, transcription.id);
    await tx.deleteFrom("video").where("id", "=", videoId).execute();
    return taken;
  }
  if (video.recording_deleted_at !== null) return null;
  await tx.updateTable("video").set({ recording_deleted_at: now }).where("id", "=", videoId).execute();
  if (transcription) {
    await removeCheckpoints(tx, transcription.id);
    // The poster is a frame of the recording. Setting its end time also stops a job that is making it.
    await tx
      .updateTable("transcription")
      .set({ poster_prefix: null, poster_ended_at: now })
      .where("id", "=", transcription.id)
      .execute();
  }
  return taken;
}

async function lockVideo(tx: Tx, id: string): Promise<VideoRow | undefined> {
  return await tx.selectFrom("video").selectAll().where("id", "=", id).forUpdate().executeTakeFirst();
}
