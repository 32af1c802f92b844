import type { UploadTicket, VideoMetadata } from "@subtext/client/contract/video";
import type { Db, Tx } from "../db/schema.ts";
import type { VideoRow } from "../db/tables/videos.ts";
import { requireRoomForUpload } from "../environments/limits.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { checkMetadata } from "../lib/metadata.ts";
import { insertVideo } from "../videos/queries.ts";
import { UPLOADS_PATH } from "./tus-endpoint.ts";
import type { UploadStore } from "./upload-store.ts";
import { signUploadUrl } from "./upload-url.ts";

export interface OfferDeps {
  db: Db | Tx;
  clock: Clock;
  store: UploadStore;
  maxUploadBytes: number;
  publicUrl: string;
  /** Signs upload URLs. */
  secret: Uint8Array;
}

/**
 * Creates a video without data, and a URL that accepts exactly `sizeBytes` bytes without an API key.
 * @param expiresInSeconds time within which the upload must start; once started, it may take any length of time
 * @throws AppError `invalid_metadata`, `payload_too_large`, `storage_full`, `open_upload_limit_reached`
 */
export async function offerUpload(
  { db, clock, store, maxUploadBytes, publicUrl, secret }: OfferDeps,
  {
    environmentId,
    metadata,
    sizeBytes,
    expiresInSeconds,
  }: { environmentId: string; metadata: VideoMetadata; sizeBytes: number; expiresInSeconds: number },
): Promise<{ row: VideoRow; upload: UploadTicket }> {
  checkMetadata(metadata, "Metadata");
  if (sizeBytes > maxUploadBytes) {
    throw new AppError("payload_too_large", `An upload may have at most ${maxUploadBytes} bytes.`);
  }
  await store.requireSpace(sizeBytes);
  await requireRoomForUpload(db, environmentId, { sizeBytes, maxUploadBytes });
  const now = clock.now();
  const id = newId("video");
  // The first request of the upload creates its file. A row without a file is allowed, but not a file without a row.
  const row = await insertVideo(db, { id, environmentId, metadata, sizeBytes, now });
  const expires = Math.floor(now.getTime() / 1000) + expiresInSeconds;
  const signed = signUploadUrl({ videoId: id, expires }, secret);
  return {
    row,
    upload: {
      url: `${publicUrl}${UPLOADS_PATH}/${id}?${signed}`,
      expiresAt: new Date(expires * 1000).toISOString(),
    },
  };
}
