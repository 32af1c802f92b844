import { EVENT_TYPES, type EventType } from "@subtext/client/contract/webhook";
import type { Clock } from "../clock.ts";
import type { Db } from "../db/schema.ts";
import { insertWebhookEndpoint } from "../db/webhook-endpoints.ts";
import { newId } from "../ids.ts";
import { checkMetadata } from "../metadata.ts";
import { type EndpointPolicy, parseEndpointUrl } from "./guard-url.ts";
import { newSigningSecret } from "./sign.ts";

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
  checkMetadata(metadata, "Metadata");
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
