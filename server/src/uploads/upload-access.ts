import type { FastifyReply, FastifyRequest } from "fastify";
import type { Db } from "../db/schema.ts";
import { findAllowedOrigins } from "../environments/queries.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import type { RecordingStore } from "../storage/recording-store.ts";
import { findVideo } from "../videos/queries.ts";
import { isSigned, readUploadUrl } from "./upload-url.ts";

export interface Uploader {
  environmentId: string;
}

interface UploadAccessDeps {
  db: Db;
  recordings: RecordingStore;
  clock: Clock;
  /** Signs upload URLs. */
  secret: Uint8Array;
}

/**
 * Authorizes a request by its upload URL, which allows a client to send the bytes of one video and to cancel its
 * upload.
 * @returns null if the request has no upload URL
 * @throws AppError `upload_url_invalid`; `upload_not_found`; `upload_expired` if the upload was not started before the
 *   URL expired
 */
export async function authorizeByUrl(
  { db, recordings, clock, secret }: UploadAccessDeps,
  request: FastifyRequest,
): Promise<Uploader | null> {
  const { uploadId } = request.params as { uploadId?: string };
  const query = new URL(request.url, "http://localhost").searchParams;
  if (uploadId === undefined || !isSigned(query)) return null;
  const claims = readUploadUrl(uploadId, query, secret);
  if (!claims) throw new AppError("upload_url_invalid", "This is not an upload URL of this service.");
  const video = await findVideo(db, uploadId);
  if (!video) throw new AppError("upload_not_found", "The upload was canceled, or its video was deleted.");
  const late = clock.now().getTime() >= claims.expires * 1000;
  if (late && video.uploaded_at === null && !(await recordings.inspect(uploadId))?.sizeBytes) {
    throw new AppError("upload_expired", "The upload was not started while its URL was valid.");
  }
  return { environmentId: video.environment_id };
}

/**
 * Refuses pages of origins that the environment does not allow. Only browsers send an origin. Lets the page read the
 * error, because hiding it would not prevent writes.
 * @throws AppError `origin_not_allowed`
 */
export async function checkOrigin(
  { db, publicUrl }: { db: Db; publicUrl: string },
  request: FastifyRequest,
  reply: FastifyReply,
  { environmentId }: Uploader,
): Promise<void> {
  const { origin } = request.headers;
  // The dashboard has the service's own origin.
  if (origin === undefined || origin === publicUrl) return;
  const allowed = await findAllowedOrigins(db, environmentId);
  if (allowed.includes("*")) return;
  if (!allowed.includes(origin)) {
    throw new AppError("origin_not_allowed", `Pages of ${origin} may not upload to this environment.`);
  }
  reply.headers({ "access-control-allow-origin": origin, vary: "Origin" });
}
