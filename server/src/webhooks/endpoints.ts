import { EVENT_TYPES, type EventType } from "@subtext/client/contract/webhook";
import type { Clock } from "../clock.ts";
import type { Db } from "../db/schema.ts";
import { insertWebhookEndpoint } from "../db/webhook-endpoints.ts";
import { AppError } from "../errors.ts";
import { newId } from "../ids.ts";
import { type EndpointPolicy, parseEndpointUrl } from "./guard-url.ts";
import { newSigningSecret } from "./sign.ts";

const MAX_METADATA_BYTES = 4096;

export interface NewEndpointRequest {
  environmentId: string;
  url: string;
  /** What is left out means the completed event alone. */
  eventTypes?: EventType[];
  /** Sent back with every event, ≤ 4 KB of JSON. */
  metadata?: Record<string, unknown>;
}

/**
 * Subscribes a URL. The secret signs every delivery to it.
 * @throws AppError `webhook_url_rejected`, `invalid_metadata`
 */
export async function createWebhookEndpoint(
  { db, clock, policy }: { db: Db; clock: Clock; policy: EndpointPolicy },
  { environmentId, url, eventTypes = [EVENT_TYPES[0]], metadata = {} }: NewEndpointRequest,
): Promise<{ id: string; secret: string }> {
  const parsed = parseEndpointUrl(url, policy);
  const metadataText = JSON.stringify(metadata);
  if (Buffer.byteLength(metadataText) > MAX_METADATA_BYTES) {
    throw new AppError("invalid_metadata", `Metadata may hold ${MAX_METADATA_BYTES} bytes of JSON.`);
  }
  // PostgreSQL can keep neither U+0000 nor half a character; JSON.stringify escapes both.
  if (/\\u(0000|d[89a-f][0-9a-f]{2})/.test(metadataText)) {
    throw new AppError("invalid_metadata", "Metadata may hold neither U+0000 nor lone surrogates.");
  }
  const id = newId("endpoint");
  const secret = newSigningSecret();
  await insertWebhookEndpoint(db, {
    id,
    environmentId,
    url: parsed.href,
    eventTypes,
    secret,
    metadata,
    now: clock.now(),
  });
  return { id, secret };
}
