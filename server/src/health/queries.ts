import { sql } from "kysely";
import type { Db } from "../db/schema.ts";

export async function countQueue(
  db: Db,
): Promise<{ pending: number; processing: number; oldestPendingAt: Date | null }> {
  const { rows } = await sql<{ status: string; count: number; oldest: Date }>`
    select status, count(*)::int as count, min(queued_at) as oldest
    from transcription where status in ('PENDING', 'PROCESSING') group by status
  `.execute(db);
  const of = (status: string) => rows.find((row) => row.status === status);
  return {
    pending: of("PENDING")?.count ?? 0,
    processing: of("PROCESSING")?.count ?? 0,
    oldestPendingAt: of("PENDING")?.oldest ?? null,
  };
}

/** Returns whether the tables exist but lack the index for the text search of the video list. */
export async function lacksTextIndex(db: Db): Promise<boolean> {
  const { rows } = await sql<{ lacks: boolean }>`
    select to_regclass('video') is not null and to_regclass('video_metadata_text') is null as lacks`.execute(
    db,
  );
  return rows[0]!.lacks;
}

/** Slow with many videos, because it reads every row. */
export async function sumUploads(db: Db): Promise<{ videos: number; bytes: number }> {
  const { rows } = await sql<{ videos: number; bytes: number }>`
    select count(*)::int as videos, coalesce(sum(size_bytes), 0)::float8 as bytes
    from video where uploaded_at is not null
  `.execute(db);
  return rows[0]!;
}

export async function databaseBytes(db: Db): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select pg_database_size(current_database())::float8 as bytes
  `.execute(db);
  return rows[0]!.bytes;
}

/** Lists running transcriptions, longest-running first. */
export async function listRunning(db: Db, limit: number) {
  return await db
    .selectFrom("transcription")
    .innerJoin("video", "video.id", "transcription.video_id")
    .select([
      "video.id",
      "video.environment_id",
      "video.metadata",
      "transcription.progress",
      "transcription.remaining_seconds",
      "transcription.started_at",
    ])
    .where("status", "=", "PROCESSING")
    .orderBy("transcription.started_at")
    .limit(limit)
    .execute();
}
