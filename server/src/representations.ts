import {
  FILE_CONTENT_TYPES,
  type FileFormat,
  type Transcription,
  type TranscriptionFiles,
} from "@subtext/client/contract/transcription";
import type { VideoMetadata } from "@subtext/client/contract/video";
import type { TranscriptionRow } from "./db/schema.ts";
import { safeFileName } from "./storage/content-disposition.ts";
import type { Storage } from "./storage/storage.ts";
import { fileKey } from "./storage/transcript-files.ts";

export const FILE_URL_LIFETIME_SECONDS = 300;

/** What a client sees of a transcription: ten fields, with file URLs that are made now. */
export async function representTranscription(
  row: TranscriptionRow,
  { storage, now, videoMetadata }: { storage: Storage; now: Date; videoMetadata: VideoMetadata },
): Promise<Transcription> {
  const completed = row.status === "COMPLETED";
  return {
    id: row.id,
    videoId: row.video_id,
    environmentId: row.environment_id,
    status: row.status,
    language: row.language,
    wordCount: row.word_count,
    duration: row.duration,
    files:
      row.file_prefix === null
        ? null
        : await presignFiles(row, row.file_prefix, { storage, now, videoMetadata }),
    createdAt: row.created_at.toISOString(),
    completedAt: completed && row.finished_at ? row.finished_at.toISOString() : null,
  };
}

async function presignFiles(
  row: TranscriptionRow,
  prefix: string,
  { storage, now, videoMetadata }: { storage: Storage; now: Date; videoMetadata: VideoMetadata },
): Promise<TranscriptionFiles> {
  const presign = async <Format extends FileFormat>(format: Format) => {
    const contentType = FILE_CONTENT_TYPES[format];
    const { url, expiresAt } = await storage.presign(fileKey(prefix, format), {
      contentType,
      fileName: `${fileStem(row, videoMetadata)}.${format}`,
      lifetimeSeconds: FILE_URL_LIFETIME_SECONDS,
      now,
    });
    return { url, expiresAt: expiresAt.toISOString(), contentType };
  };
  const [vtt, json, txt] = await Promise.all([presign("vtt"), presign("json"), presign("txt")]);
  return { vtt, json, txt };
}

/** `holiday.en`, after the name of the uploaded file where one was told, as players look for captions. */
function fileStem(row: TranscriptionRow, metadata: VideoMetadata): string {
  const uploadedName = metadata.filename ?? metadata.name ?? "";
  const base = uploadedName.split(/[\\/]/).at(-1) ?? "";
  const stem = base.replace(/\.[^.]{1,5}$/, "");
  return `${stem === "" ? row.video_id : safeFileName(stem)}.${row.language}`;
}
