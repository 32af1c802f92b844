import type { TranscriptionStatus } from "@subtext/client/contract/transcription";
import { type RawBuilder, sql } from "kysely";
import type { VideoState } from "./enums.ts";
import type { Db, Tx } from "./schema.ts";

/** The first three are quantities with a limit; they are counted only up to the given limit. */

/** Total of the declared lengths, without uploads of deferred length. */
export async function sumOpenUploads(
  db: Db | Tx,
  environmentId: string,
  upTo: number,
): Promise<{ count: number; bytes: number }> {
  const { rows } = await sql<{ count: number; bytes: number }>`
    select count(*)::int as count, coalesce(sum(size_bytes), 0)::float8 as bytes
    from (select size_bytes from video
      where environment_id = ${environmentId} and uploaded_at is null limit ${upTo}) as open
  `.execute(db);
  return rows[0]!;
}

export async function countWebhookEndpoints(
  db: Db | Tx,
  environmentId: string,
  upTo: number,
): Promise<number> {
  const rows = await db
    .selectFrom("webhook_endpoint")
    .select("id")
    .where("environment_id", "=", environmentId)
    .limit(upTo)
    .execute();
  return rows.length;
}

/** Counts valid keys only: neither revoked nor expired. */
export async function countValidApiKeys(
  db: Db | Tx,
  environmentId: string,
  { now, upTo }: { now: Date; upTo: number },
): Promise<number> {
  const rows = await db
    .selectFrom("api_key")
    .select("id")
    .where("environment_id", "=", environmentId)
    .where("revoked_at", "is", null)
    .where((where) => where.or([where("expires_at", "is", null), where("expires_at", ">", now)]))
    .limit(upTo)
    .execute();
  return rows.length;
}

/** Of all environments. */
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

/** Of all environments; reads every row. */
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

/**
 * How many videos an environment has in each state, counted only up to `upTo`: exact counts of large numbers would
 * read every row.
 */
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

/** Running transcriptions of all environments, longest first. */
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
