import type { DeliveryStatus } from "@subtext/client/contract/webhook-endpoint";
import { keyPrefix } from "../api-keys/api-keys.ts";
import { wordsEtag } from "../corrections/etag.ts";
import type { ApiKeyRow, EnvironmentRow } from "../db/tables/environments.ts";
import type { OperatorInvitationRow } from "../db/tables/operators.ts";
import type { TranscriptionRow } from "../db/tables/transcriptions.ts";
import type { VideoRow } from "../db/tables/videos.ts";
import type { WebhookEndpointRow } from "../db/tables/webhooks.ts";
import { retentionOf } from "../environments/queries.ts";
import type { Operator } from "../operators/queries.ts";
import { serializeWebhookEndpoint } from "../resources/serializers.ts";
import type { LatestDelivery } from "../webhooks/endpoint-health-queries.ts";
import type { EventWithDeliveries } from "../webhooks/queries.ts";
import type { ApiKeyView } from "./contract/api-key.ts";
import type { EnvironmentSummaryView, EnvironmentView } from "./contract/environment.ts";
import type { InvitationView, OperatorView } from "./contract/operator.ts";
import type { QueueView, TranscriptionView } from "./contract/transcription.ts";
import type { PosterView, TranscriptionSummaryView } from "./contract/video.ts";
import type { WebhookEndpointView } from "./contract/webhook.ts";

/** Converts database rows to objects of the admin API. All times are ISO 8601 UTC with milliseconds. */

export function toEnvironmentSummary(row: EnvironmentRow): EnvironmentSummaryView {
  return {
    id: row.id,
    name: row.name,
    aiTranscription: row.ai_transcription,
    createdAt: row.created_at.toISOString(),
  };
}

export function toEnvironmentView(row: EnvironmentRow, weight: number): EnvironmentView {
  return {
    ...toEnvironmentSummary(row),
    allowedOrigins: row.allowed_origins,
    retention: retentionOf(row),
    weight,
    vocabulary: row.vocabulary,
  };
}

export function toOperatorView(operator: Operator): OperatorView {
  const { id, name, email, role, environments, created_at } = operator;
  return { id, name, email, role, environments, createdAt: created_at.toISOString() };
}

export function toInvitationView({
  id,
  email,
  role,
  environments,
  created_at,
  expires_at,
}: OperatorInvitationRow): InvitationView {
  return {
    id,
    email,
    role,
    environments,
    createdAt: created_at.toISOString(),
    expiresAt: expires_at.toISOString(),
  };
}

export function toApiKeyView(row: ApiKeyRow): ApiKeyView {
  return {
    id: row.id,
    environmentId: row.environment_id,
    name: row.name,
    prefix: keyPrefix(row.id),
    permissions: row.permissions,
    createdAt: row.created_at.toISOString(),
    expiresAt: iso(row.expires_at),
    lastUsedAt: iso(row.last_used_at),
    revokedAt: iso(row.revoked_at),
  };
}

export function toWebhookEndpointView(
  row: WebhookEndpointRow,
  known: {
    latest: LatestDelivery | undefined;
    counts: readonly { status: DeliveryStatus; count: number }[];
    now: Date;
  },
): WebhookEndpointView {
  const { latest, counts, now } = known;
  const recent = { pending: 0, succeeded: 0, failed: 0, canceled: 0 };
  for (const { status, count } of counts) recent[status] = count;
  return {
    ...serializeWebhookEndpoint(row, now),
    health: {
      latest: latest
        ? {
            deliveryId: latest.id,
            eventType: latest.event_type,
            status: latest.status,
            createdAt: latest.created_at.toISOString(),
            statusCode: latest.status_code,
            failure: latest.failure,
          }
        : null,
      recent,
    },
  };
}

export function toTranscriptionSummaryView(row: TranscriptionRow): TranscriptionSummaryView {
  return {
    id: row.id,
    videoId: row.video_id,
    environmentId: row.environment_id,
    status: row.status,
    progress: row.progress,
    remainingSeconds: row.remaining_seconds,
    language: row.language,
    wordCount: row.word_count,
    wordsEtag: row.status === "COMPLETED" ? wordsEtag(row) : null,
    duration: row.duration,
    failure:
      row.failure_code === null ? null : { code: row.failure_code, message: row.failure_message ?? "" },
    skipReason: row.skip_reason,
    createdAt: row.created_at.toISOString(),
    startedAt: iso(row.started_at),
    finishedAt: iso(row.finished_at),
  };
}

export function toPosterView({
  poster_prefix: prefix,
  poster_levels: levels,
}: Pick<TranscriptionRow, "poster_prefix" | "poster_levels">): PosterView | null {
  if (prefix !== null) return { kind: "frame" };
  return levels === null
    ? null
    : { kind: "levels", levels: [...levels].map((digit) => Number.parseInt(digit, 16)) };
}

export function toTranscriptionView(
  row: TranscriptionRow,
  { video, events }: { video: VideoRow; events: EventWithDeliveries[] },
): Omit<TranscriptionView, keyof QueueView> {
  return {
    ...toTranscriptionSummaryView(row),
    video: {
      sizeBytes: video.size_bytes,
      metadata: video.metadata,
      createdAt: video.created_at.toISOString(),
      uploadedAt: iso(video.uploaded_at),
    },
    attempt: row.attempt,
    failureCount: row.failure_count,
    crashCount: row.crash_count,
    engine: row.engine,
    decoder: row.decoder,
    incomplete: row.incomplete,
    stages: row.stages,
    languageSegments: row.language_segments,
    events: events.map((event) => ({
      id: event.id,
      type: event.type,
      createdAt: event.created_at.toISOString(),
      deliveries: event.deliveries.map((delivery) => ({
        id: delivery.id,
        endpointId: delivery.endpoint_id,
        status: delivery.status,
        attempts: delivery.attempts,
      })),
    })),
  };
}

function iso(date: Date | null): string | null {
  return date === null ? null : date.toISOString();
}
