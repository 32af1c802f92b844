import type { FastifyRequest } from "fastify";
import type { Db, Tx } from "../db/schema.ts";
import type { VideoRow } from "../db/tables/videos.ts";
import {
  findRecordedResponse,
  fingerprintRequest,
  lockIdempotencyKey,
  readIdempotencyKey,
  recordResponse,
} from "../http/idempotency.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { findVideo } from "../videos/queries.ts";

interface UploadCreation {
  environmentId: string;
  key: string;
  fingerprint: string;
  now: Date;
}

/**
 * Reads the `Idempotency-Key` of a request that creates an upload. Returns null if there is none.
 * @throws AppError `invalid_request`
 */
export function readCreation(
  request: FastifyRequest,
  environmentId: string,
  clock: Clock,
): UploadCreation | null {
  const key = readIdempotencyKey(request);
  if (key === null) return null;
  const { headers } = request;
  const content = [headers["upload-length"] ?? null, headers["upload-metadata"] ?? null];
  return { environmentId, key, fingerprint: fingerprintRequest(request, content), now: clock.now() };
}

/**
 * Finds the upload that the first request with this key created. Returns undefined if this is the first request, or if
 * the upload was deleted.
 * @throws AppError `idempotency_key_reused`
 */
export async function findCreated(db: Db | Tx, creation: UploadCreation): Promise<VideoRow | undefined> {
  const known = await findRecordedResponse(db, creation);
  return known && (await findVideo(db, (JSON.parse(known.body) as { videoId: string }).videoId));
}

/**
 * Inserts the video and the record of its key in one transaction.
 * @throws AppError `idempotency_key_reused`; `idempotency_key_in_use`, after which a retry finds the video
 */
export async function insertOnce(
  db: Db,
  creation: UploadCreation,
  insert: (tx: Tx) => Promise<VideoRow>,
): Promise<void> {
  const { environmentId, key, fingerprint, now } = creation;
  await db.transaction().execute(async (tx) => {
    await lockIdempotencyKey(tx, environmentId, key);
    if (await findCreated(tx, creation)) {
      throw new AppError(
        "idempotency_key_in_use",
        "Another request with this key has just created the upload.",
        {
          headers: { "retry-after": "1" },
        },
      );
    }
    const { id } = await insert(tx);
    await recordResponse(tx, environmentId, key, {
      fingerprint,
      status: 201,
      body: JSON.stringify({ videoId: id }),
      now,
    });
  });
}
