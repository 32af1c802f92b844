import { type RawBuilder, sql } from "kysely";
import type { Db } from "../db/schema.ts";
import type { VideoRow } from "../db/tables/videos.ts";

/** Activity is recorded at most this often, because uploads expire after an hour or more. */
const RECORD_EVERY_MS = 60_000;

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

/**
 * Passes on the bytes of an upload and records their arrival, immediately and then once a minute. An unavailable
 * database delays only the end of the stream.
 */
export async function* recordActivity(
  db: Db,
  videoId: string,
  content: AsyncIterable<Buffer>,
  { everyMs = RECORD_EVERY_MS }: { everyMs?: number } = {},
): AsyncGenerator<Buffer> {
  let recordedAt = Number.NEGATIVE_INFINITY;
  let recorded = Promise.resolve();
  try {
    for await (const chunk of content) {
      const now = performance.now();
      if (now - recordedAt >= everyMs) {
        recordedAt = now;
        recorded = touchUpload(db, videoId).catch(() => {});
      }
      yield chunk;
    }
  } finally {
    await recorded;
  }
}

/** Skips a locked row, whose transaction accepts or deletes the upload. */
async function touchUpload(db: Db, videoId: string): Promise<void> {
  await sql`
    update video set upload_active_at = clock_timestamp() where id in (
      select id from video
      where id = ${videoId} and uploaded_at is null and upload_active_at < ${timeAgo(RECORD_EVERY_MS)}
      for no key update skip locked
    )`.execute(db);
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
