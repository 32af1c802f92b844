import { sql } from "kysely";
import type { Db, Tx } from "../db/schema.ts";
import { AppError } from "../lib/errors.ts";

/**
 * Limits per environment. They protect against runaway clients and are far above normal use. Concurrent requests may
 * exceed them slightly.
 */

/** Limited, because every sweep checks each unfinished upload. */
export const MAX_OPEN_UPLOADS = 1_000;
/** Limits the total bytes, as a multiple of the largest allowed upload. */
export const MAX_OPEN_FULL_SIZE_UPLOADS = 100;
/** Limited, because each endpoint adds a delivery to every event. */
export const MAX_WEBHOOK_ENDPOINTS = 50;
/** Low enough to make leaked keys easy to find. */
export const MAX_VALID_API_KEYS = 100;

/**
 * @param sizeBytes size of the new upload; if its length is deferred, size of its first content, and `requireRoomToGrow`
 *   checks it later
 * @param maxUploadBytes limit of a single upload
 * @throws AppError `open_upload_limit_reached`
 */
export async function requireRoomForUpload(
  db: Db | Tx,
  environmentId: string,
  { sizeBytes, maxUploadBytes }: { sizeBytes: number; maxUploadBytes: number },
): Promise<void> {
  const { count, bytes } = await sumOpenUploads(db, environmentId, { upTo: MAX_OPEN_UPLOADS });
  if (count < MAX_OPEN_UPLOADS && bytes + sizeBytes <= maxOpenBytes(maxUploadBytes)) return;
  throw openUploadLimitReached(maxUploadBytes);
}

/**
 * Checks the total bytes again when an upload with a deferred length receives more of it, or declares it.
 * @param sizeBytes size of the upload afterwards
 * @throws AppError `open_upload_limit_reached`
 */
export async function requireRoomToGrow(
  db: Db,
  upload: { id: string; environment_id: string },
  { sizeBytes, maxUploadBytes }: { sizeBytes: number; maxUploadBytes: number },
): Promise<void> {
  const others = { upTo: MAX_OPEN_UPLOADS, except: upload.id };
  const { bytes } = await sumOpenUploads(db, upload.environment_id, others);
  if (bytes + sizeBytes > maxOpenBytes(maxUploadBytes)) throw openUploadLimitReached(maxUploadBytes);
}

function maxOpenBytes(maxUploadBytes: number): number {
  return MAX_OPEN_FULL_SIZE_UPLOADS * maxUploadBytes;
}

function openUploadLimitReached(maxUploadBytes: number): AppError {
  return new AppError(
    "open_upload_limit_reached",
    `An environment may have at most ${MAX_OPEN_UPLOADS} unfinished uploads, totaling at most ${maxOpenBytes(maxUploadBytes)} bytes. Finish or cancel some of them.`,
  );
}

/** @throws AppError `webhook_endpoint_limit_reached` */
export async function requireRoomForEndpoint(db: Db | Tx, environmentId: string): Promise<void> {
  const count = await countWebhookEndpoints(db, environmentId, MAX_WEBHOOK_ENDPOINTS);
  if (count < MAX_WEBHOOK_ENDPOINTS) return;
  throw new AppError(
    "webhook_endpoint_limit_reached",
    `An environment may have at most ${MAX_WEBHOOK_ENDPOINTS} webhook endpoints. Delete one first.`,
  );
}

/** @throws AppError `api_key_limit_reached` */
export async function requireRoomForKey(db: Db, environmentId: string, now: Date): Promise<void> {
  const count = await countValidApiKeys(db, environmentId, { now, upTo: MAX_VALID_API_KEYS });
  if (count < MAX_VALID_API_KEYS) return;
  throw new AppError(
    "api_key_limit_reached",
    `An environment may have at most ${MAX_VALID_API_KEYS} valid API keys. Revoke one first.`,
  );
}

/** `bytes` is the total of the declared sizes, and of the received bytes of uploads with a deferred length. */
async function sumOpenUploads(
  db: Db | Tx,
  environmentId: string,
  { upTo, except = "" }: { upTo: number; except?: string },
): Promise<{ count: number; bytes: number }> {
  const { rows } = await sql<{ count: number; bytes: number }>`
    select count(*)::int as count, coalesce(sum(bytes), 0)::float8 as bytes
    from (select coalesce(size_bytes, received_bytes) as bytes from video
      where environment_id = ${environmentId} and uploaded_at is null and id <> ${except} limit ${upTo}) as open
  `.execute(db);
  return rows[0]!;
}

async function countWebhookEndpoints(db: Db | Tx, environmentId: string, upTo: number): Promise<number> {
  const rows = await db
    .selectFrom("webhook_endpoint")
    .select("id")
    .where("environment_id", "=", environmentId)
    .limit(upTo)
    .execute();
  return rows.length;
}

async function countValidApiKeys(
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
