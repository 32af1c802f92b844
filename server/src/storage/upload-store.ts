import { FileStore } from "@tus/file-store";
import { Upload } from "@tus/utils";
import type { Db } from "../db/schema.ts";
import { declareVideoSize, deleteOpenUpload, findVideo } from "../db/videos.ts";
import type { Sources } from "./sources.ts";

/**
 * The tus store on disk. What is known of an upload is its video's row, not a file beside it: a crash can
 * not leave the two at odds, and every process sees the same. The row is made before the store is asked,
 * by the one who knows whose upload it is.
 */
export function openDiskUploadStore(options: {
  folder: string;
  db: Db;
  sources: Sources;
  expiryMs: number;
}): FileStore {
  const { folder, db, sources, expiryMs } = options;
  return new FileStore({
    directory: folder,
    expirationPeriodInMilliseconds: expiryMs,
    configstore: {
      async get(id: string): Promise<Upload | undefined> {
        const video = await findVideo(db, id);
        if (!video) return undefined;
        const file = await sources.inspect(id);
        const lastSign = Math.max(video.created_at.getTime(), file?.writtenAt.getTime() ?? 0);
        return new Upload({
          id,
          offset: 0,
          metadata: video.metadata,
          // What the tus server counts the expiry from: an upload that moves does not expire.
          creation_date: new Date(lastSign).toISOString(),
          ...(video.size_bytes !== null && { size: video.size_bytes }),
        });
      },
      async set(id: string, upload: Upload): Promise<void> {
        if (upload.size !== undefined) await declareVideoSize(db, id, upload.size);
      },
      async delete(id: string): Promise<void> {
        await deleteOpenUpload(db, id);
      },
    },
  });
}
