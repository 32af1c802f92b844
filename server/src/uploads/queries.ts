import { type RawBuilder, sql } from "kysely";
import type { Db } from "../db/schema.ts";
import type { VideoRow } from "../db/tables/videos.ts";
import { requireRoomToGrow } from "../environments/limits.ts";
import { AppError } from "../lib/errors.ts";

/** Activity is recorded at most this often, because uploads expire after an hour or more. */
const RECORD_EVERY_MS = 60_000;
/** Each open upload may exceed the limit of its environment by this fraction of the largest allowed upload. */
const MAX_UNRECORDED_SHARE = 0.01;

/** Finds a video and the time since its upload last received bytes, by the database's clock. */
export async function findUpload(
  db: Db,
  videoId: string,
): Promise<(VideoRow & { idleMs: number }) | undefined> {
  return await db
    .selectFrom("video")
    .selectAll()
    .select(
      sql<number>`(extract(epoch from clock_timestamp() - upload_active_at) * 1000)::float8`.as("idleMs"),
    )
    .where("id", "=", videoId)
    .executeTakeFirst();
}

interface ActivityOptions {
  /** Bytes that the upload had before. */
  offset: number;
  maxUploadBytes: number;
  everyMs?: number;
}

/**
 * Passes on the bytes of an upload and records their arrival, immediately and then once a minute. If the upload's length
 * is deferred, also records how many have arrived, at least every 1 % of the largest allowed upload. An unavailable
 * database delays only the end of the stream.
 * @throws AppError `open_upload_limit_reached` during an upload with a deferred length
 */
export async function* recordActivity(
  db: Db,
  videoId: string,
  content: AsyncIterable<Buffer>,
  { offset, maxUploadBytes, everyMs = RECORD_EVERY_MS }: ActivityOptions,
): AsyncGenerator<Buffer> {
  const everyBytes = maxUploadBytes * MAX_UNRECORDED_SHARE;
  let receivedBytes = offset;
  let recordedAt = Number.NEGATIVE_INFINITY;
  let recordedBytes = offset;
  let recorded = Promise.resolve();
  let refusal: AppError | undefined;
  let isDeferred = true;
  const record = async () => {
    try {
      isDeferred = await recordReceived(db, videoId, { receivedBytes, everyBytes, maxUploadBytes });
    } catch (error) {
      if (error instanceof AppError && error.code === "open_upload_limit_reached") refusal = error;
    }
  };
  try {
    for await (const chunk of content) {
      if (refusal) throw refusal;
      receivedBytes += chunk.length;
      const now = performance.now();
      if (now - recordedAt >= everyMs || (isDeferred && receivedBytes - recordedBytes >= everyBytes)) {
        recordedAt = now;
        recordedBytes = receivedBytes;
        recorded = recorded.then(record);
      }
      yield chunk;
    }
  } finally {
    await recorded;
  }
}

/**
 * Skips a locked row, whose transaction accepts or deletes the upload.
 * @returns whether the upload's length is deferred
 * @throws AppError `open_upload_limit_reached`
 */
async function recordReceived(
  db: Db,
  videoId: string,
  {
    receivedBytes,
    everyBytes,
    maxUploadBytes,
  }: { receivedBytes: number; everyBytes: number; maxUploadBytes: number },
): Promise<boolean> {
  const { rows } = await sql<{
    id: string;
    environment_id: string;
    is_deferred: boolean;
    is_recorded: boolean;
  }>`
    with recorded as (
      update video set upload_active_at = clock_timestamp(), received_bytes = ${receivedBytes} where id in (
        select id from video
        where id = ${videoId} and uploaded_at is null and (upload_active_at < ${timeAgo(RECORD_EVERY_MS)}
          or size_bytes is null and received_bytes <= ${receivedBytes}::float8 - ${everyBytes}::float8)
        for no key update skip locked
      ) returning id
    )
    select id, environment_id, size_bytes is null as is_deferred, exists (select from recorded) as is_recorded
    from video where id = ${videoId}`.execute(db);
  const [upload] = rows;
  if (upload?.is_deferred && upload.is_recorded) {
    await requireRoomToGrow(db, upload, { sizeBytes: receivedBytes, maxUploadBytes });
  }
  return upload?.is_deferred ?? false;
}

/** Deletes the row of an incomplete upload that has received no bytes for `expiryMs`. */
export async function deleteExpiredUpload(db: Db, videoId: string, expiryMs: number): Promise<boolean> {
  const row = await db
    .deleteFrom("video")
    .where("id", "=", videoId)
    .where("uploaded_at", "is", null)
    .where("upload_active_at", "<", timeAgo(expiryMs))
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

function timeAgo(ms: number): RawBuilder<Date> {
  return sql<Date>`clock_timestamp() - ${ms}::float8 * interval '1 millisecond'`;
}
