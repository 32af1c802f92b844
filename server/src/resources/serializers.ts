import {
  type FailureCode,
  type FileFormat,
  type SkipReason,
  TRANSCRIPT_FORMATS,
  type Transcription,
  type TranscriptionFiles,
} from "@subtext/client/contract/transcription";
import type { TranscriptionSummary, Video, VideoMetadata } from "@subtext/client/contract/video";
import type {
  Delivery,
  WebhookEndpoint,
  WebhookEndpointWithSecret,
} from "@subtext/client/contract/webhook-endpoint";
import type { PublicTranscription, PublicVideo } from "../api-keys/key-and-video-queries.ts";
import type { DeliveryAttemptRow, DeliveryRow, WebhookEndpointRow } from "../db/tables/webhooks.ts";
import { safeFileName } from "../storage/content-disposition.ts";
import { currentPrefix, fileKey } from "../storage/transcript-files.ts";
import type { TranscriptStore } from "../storage/transcript-store.ts";

export const FILE_URL_LIFETIME_SECONDS = 300;

/** Signs new file URLs on each call. */
export async function serializeTranscription(
  row: PublicTranscription,
  {
    transcripts,
    now,
    videoMetadata,
  }: { transcripts: TranscriptStore; now: Date; videoMetadata: VideoMetadata },
): Promise<Transcription> {
  const completed = row.status === "COMPLETED";
  const prefix = currentPrefix(row);
  return {
    id: row.id,
    videoId: row.video_id,
    environmentId: row.environment_id,
    status: row.status,
    language: row.language,
    wordCount: row.word_count,
    duration: row.duration,
    files: prefix === null ? null : await presignFiles(row, prefix, { transcripts, now, videoMetadata }),
    createdAt: row.created_at.toISOString(),
    completedAt: completed && row.finished_at ? row.finished_at.toISOString() : null,
  };
}

async function presignFiles(
  row: PublicTranscription,
  prefix: string,
  {
    transcripts,
    now,
    videoMetadata,
  }: { transcripts: TranscriptStore; now: Date; videoMetadata: VideoMetadata },
): Promise<TranscriptionFiles> {
  const presign = async (format: FileFormat) => {
    const { contentType } = TRANSCRIPT_FORMATS[format];
    const { url, expiresAt } = await transcripts.presign(fileKey(prefix, format), {
      contentType,
      fileName: transcriptFileName(row, videoMetadata, format),
      lifetimeSeconds: FILE_URL_LIFETIME_SECONDS,
      now,
    });
    return [format, { url, expiresAt: expiresAt.toISOString(), contentType }];
  };
  // During a rolling upgrade, a newer process may have written a format that this one does not know.
  const formats = row.file_formats.filter((format) => Object.hasOwn(TRANSCRIPT_FORMATS, format));
  return Object.fromEntries(await Promise.all(formats.map(presign))) as TranscriptionFiles;
}

/** Returns a name such as `holiday.en.vtt`, the form in which players look for captions. */
export function transcriptFileName(
  row: Pick<PublicTranscription, "video_id" | "language">,
  metadata: VideoMetadata,
  extension: string,
): string {
  return `${videoFileStem(row.video_id, metadata)}.${row.language}.${extension}`;
}

/** Returns the name of the uploaded file without its folders and extension, or the video's id if it is unknown. */
export function videoFileStem(videoId: string, metadata: VideoMetadata): string {
  const uploadedName = uploadedFileName(metadata) ?? "";
  const base = uploadedName.split(/[\\/]/).at(-1) ?? "";
  const stem = base.replace(/\.[^.]{1,5}$/, "");
  return stem === "" ? videoId : safeFileName(stem);
}

/** Clients use either key. */
export function uploadedFileName(metadata: VideoMetadata): string | null {
  return metadata.filename ?? metadata.name ?? null;
}

export function serializeVideo(row: PublicVideo, transcription: PublicTranscription | undefined): Video {
  return {
    id: row.id,
    environmentId: row.environment_id,
    status: row.uploaded_at === null ? "uploading" : "uploaded",
    filename: uploadedFileName(row.metadata),
    metadata: row.metadata,
    sizeBytes: row.size_bytes,
    createdAt: row.created_at.toISOString(),
    uploadedAt: iso(row.uploaded_at),
    transcription: transcription ? serializeSummary(transcription) : null,
  };
}

function serializeSummary(row: PublicTranscription): TranscriptionSummary {
  const { status, failure_code: code, failure_message: message } = row;
  return {
    id: row.id,
    status,
    language: row.language,
    wordCount: row.word_count,
    duration: row.duration,
    // A PENDING transcription has the failure of its last attempt, but another attempt will follow.
    failure:
      status === "FAILED" && code !== null ? { code: code as FailureCode, message: message ?? "" } : null,
    skipReason: row.skip_reason as SkipReason | null,
    incomplete: row.incomplete,
    createdAt: row.created_at.toISOString(),
    completedAt: status === "COMPLETED" ? iso(row.finished_at) : null,
  };
}

export function serializeWebhookEndpoint(row: WebhookEndpointRow, now: Date): WebhookEndpoint {
  const { previous_secret_expires_at: previousExpiresAt } = row;
  return {
    id: row.id,
    environmentId: row.environment_id,
    url: row.url,
    eventTypes: row.event_types,
    metadata: row.metadata,
    enabled: row.disabled_at === null,
    disabledAt: iso(row.disabled_at),
    disabledReason: row.disabled_reason,
    failingSince: iso(row.failing_since),
    previousSecretExpiresAt: previousExpiresAt && previousExpiresAt > now ? iso(previousExpiresAt) : null,
    createdAt: row.created_at.toISOString(),
  };
}

/** Only the responses to a creation, a secret rotation and `reveal-secret` contain the secret. */
export function serializeWebhookEndpointWithSecret(
  row: WebhookEndpointRow,
  now: Date,
): WebhookEndpointWithSecret {
  return { ...serializeWebhookEndpoint(row, now), secret: row.secret };
}

export type DeliveryWithAttempts = DeliveryRow & {
  transcription_id: string | null;
  /** The last `MAX_LISTED_ATTEMPTS`. */
  attemptRows: DeliveryAttemptRow[];
};

export function serializeDelivery(delivery: DeliveryWithAttempts): Delivery {
  return {
    id: delivery.id,
    webhookEndpointId: delivery.endpoint_id,
    eventId: delivery.event_id,
    eventType: delivery.event_type,
    transcriptionId: delivery.transcription_id,
    status: delivery.status,
    createdAt: delivery.created_at.toISOString(),
    nextAttemptAt: iso(delivery.next_attempt_at),
    finishedAt: iso(delivery.finished_at),
    attempts: delivery.attemptRows.map((attempt) => ({
      number: attempt.number,
      attemptedAt: attempt.attempted_at.toISOString(),
      latencyMs: attempt.latency_ms,
      statusCode: attempt.status_code,
      failure: attempt.failure,
      responseStart: attempt.response_start,
    })),
  };
}

function iso(date: Date | null): string | null {
  return date === null ? null : date.toISOString();
}
