import type { Transcription } from "@subtext/client/contract/transcription";
import {
  TEST_EVENT_TYPE,
  type WebhookPayload,
  type WebhookTestEvent,
} from "@subtext/client/contract/webhook";
import type { EventRow, WebhookEndpointRow } from "../db/tables/webhooks.ts";
import { serializeTranscription } from "../resources/serializers.ts";
import type { TranscriptStore } from "../storage/transcript-store.ts";
import type { EventSubject } from "./due-delivery-queries.ts";
import { ROTATION_MS } from "./endpoints.ts";
import { signWebhook, type WebhookHeaders } from "./sign.ts";

export interface WebhookRequest {
  url: string;
  /** Sent in addition to `constantHeaders`. */
  headers: WebhookHeaders;
  /** JSON. */
  body: string;
}

interface RequestDeps {
  transcripts: TranscriptStore;
  findSubject(transcriptionId: string): Promise<EventSubject | undefined>;
}

/**
 * Renders the request of an attempt at a given time. Bodies are not stored: each attempt renders its own, and the
 * dashboard renders those of past attempts again, so the result must depend only on the arguments.
 * @returns undefined if the transcription was deleted
 */
export async function renderRequest(
  deps: RequestDeps,
  event: EventRow,
  endpoint: WebhookEndpointRow,
  { at, secrets }: { at: Date; secrets: readonly string[] },
): Promise<WebhookRequest | undefined> {
  const payload = await renderPayload(deps, event, endpoint, at);
  if (!payload) return undefined;
  const body = JSON.stringify(payload);
  return {
    url: endpoint.url,
    headers: signWebhook({ id: event.id, timestamp: at, body, secrets }),
    body,
  };
}

/** Signs new file URLs for each attempt, so that they are valid even if the attempt is a day later. */
async function renderPayload(
  { transcripts, findSubject }: RequestDeps,
  event: EventRow,
  endpoint: WebhookEndpointRow,
  at: Date,
): Promise<WebhookPayload | WebhookTestEvent | undefined> {
  const { metadata } = endpoint;
  const timestamp = event.created_at.toISOString();
  if (event.type === TEST_EVENT_TYPE || event.transcription_id === null) {
    const data = { webhookEndpointId: endpoint.id, environmentId: endpoint.environment_id };
    return { type: TEST_EVENT_TYPE, timestamp, data, metadata };
  }
  const transcription = await findSubject(event.transcription_id);
  if (!transcription) return undefined;
  const videoMetadata = transcription.video_metadata;
  const serialized = await serializeTranscription(transcription, { transcripts, now: at, videoMetadata });
  const { duration: _duration, ...detail } = event.detail;
  return {
    type: event.type,
    timestamp,
    data: { ...asOfEvent(event, serialized), ...detail, videoMetadata },
    metadata,
  };
}

/** A failed event still reports the failure after the transcription was reprocessed. */
function asOfEvent(event: EventRow, transcription: Transcription): Transcription {
  if (event.type !== "transcriptions.transcription.failed") return transcription;
  return {
    ...transcription,
    status: "FAILED",
    language: null,
    wordCount: null,
    duration: event.detail.duration ?? null,
    files: null,
    completedAt: null,
  };
}

export function activeSecrets(endpoint: WebhookEndpointRow, now: Date): string[] {
  const { secret, previous_secret: previous, previous_secret_expires_at: expiresAt } = endpoint;
  return previous && expiresAt && now < expiresAt ? [secret, previous] : [secret];
}

/**
 * Returns the secrets that signed a past attempt, back to the rotation before the last one. Do not use this for a new
 * attempt: if a process whose clock is ahead has rotated the secret, the receiver may know only the new one.
 */
export function secretsAt(endpoint: WebhookEndpointRow, then: Date): string[] {
  const { previous_secret: previous, previous_secret_expires_at: expiresAt } = endpoint;
  const isBeforeRotation = previous && expiresAt && then.getTime() < expiresAt.getTime() - ROTATION_MS;
  return isBeforeRotation ? [previous] : activeSecrets(endpoint, then);
}
