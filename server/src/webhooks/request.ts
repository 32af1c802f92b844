import type { Transcription } from "@subtext/client/contract/transcription";
import {
  TEST_EVENT_TYPE,
  type WebhookPayload,
  type WebhookTestEvent,
} from "@subtext/client/contract/webhook";
import type { EventRow, WebhookEndpointRow } from "../db/schema.ts";
import { representTranscription } from "../resources/resources.ts";
import type { Storage } from "../storage/transcript-store.ts";
import type { EventSubject } from "./due-delivery-queries.ts";
import { ROTATION_MS } from "./endpoints.ts";
import { signWebhook, type WebhookHeaders } from "./sign.ts";

export interface WebhookRequest {
  url: string;
  /** Besides those that every request has. */
  headers: WebhookHeaders;
  /** JSON. */
  body: string;
}

interface RequestDeps {
  storage: Storage;
  findSubject(transcriptionId: string): Promise<EventSubject | undefined>;
}

/**
 * What an attempt at this time sends. Nothing but the arguments goes into it, so that the request of an attempt
 * can be shown later: its body is made anew at every attempt, and not kept.
 * @returns undefined where what the event is about is gone
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

/** Its file URLs are made for this attempt, so a retry a day later carries ones that work. */
async function renderPayload(
  { storage, findSubject }: RequestDeps,
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
  const represented = await representTranscription(transcription, { storage, now: at, videoMetadata });
  const { duration: _ofThen, ...told } = event.detail;
  return {
    type: event.type,
    timestamp,
    data: { ...asOf(event, represented), ...told, videoMetadata },
    metadata,
  };
}

/** A failed transcription may have been reprocessed since; what the event tells stays what it told first. */
function asOf(event: EventRow, transcription: Transcription): Transcription {
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

/** At an attempt that is made now. */
export function secretsInForce(endpoint: WebhookEndpointRow, now: Date): string[] {
  const { secret, previous_secret: previous, previous_secret_expires_at: expiresAt } = endpoint;
  return previous && expiresAt && now < expiresAt ? [secret, previous] : [secret];
}

/**
 * At an attempt of the past, as far back as the rotation before the last. Not for one that is made now: where
 * another process, whose clock is ahead, rotated the secret, its receiver may know the new one alone.
 */
export function secretsThen(endpoint: WebhookEndpointRow, then: Date): string[] {
  const { previous_secret: previous, previous_secret_expires_at: expiresAt } = endpoint;
  const isBeforeRotation = previous && expiresAt && then.getTime() < expiresAt.getTime() - ROTATION_MS;
  return isBeforeRotation ? [previous] : secretsInForce(endpoint, then);
}
