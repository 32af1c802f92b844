import { EVENT_TYPES, type EventType } from "@subtext/client/contract/webhook";
import type { WebhookEndpointChange } from "@subtext/client/contract/webhook-endpoint";
import { type AuditActor, recordEndpointEvent } from "../audit/audit-events.ts";
import type { Db, Tx } from "../db/schema.ts";
import type { WebhookEndpointRow } from "../db/tables/webhooks.ts";
import { requireRoomForEndpoint } from "../environments/limits.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { isPlausibleId, newId } from "../lib/ids.ts";
import { checkMetadata } from "../lib/metadata.ts";
import {
  deleteDeliveries,
  deleteEndpointRow,
  disableEndpoint,
  enableEndpoint,
  findWebhookEndpoint,
  hasMoreDeliveries,
  insertWebhookEndpoint,
  replaceSecret,
  updateWebhookEndpoint,
} from "./endpoint-queries.ts";
import { type EndpointPolicy, parseEndpointUrl } from "./guard-url.ts";
import { newSigningSecret } from "./sign.ts";

/** How long the previous secret also signs deliveries after a rotation. */
export const ROTATION_MS = 24 * 3_600_000;

/** Small enough that other work waits only briefly for the embedded database. */
const DELETE_BATCH = 1_000;

export interface NewEndpointRequest {
  environmentId: string;
  url: string;
  /** Defaults to the completed event. */
  eventTypes?: EventType[];
  /** Included in every event. At most 4 KiB of JSON. */
  metadata?: Record<string, unknown>;
}

/** @throws AppError `webhook_url_rejected`, `invalid_metadata`, `webhook_endpoint_limit_reached` */
export async function createWebhookEndpoint(
  { db, clock, policy }: { db: Db | Tx; clock: Clock; policy: EndpointPolicy },
  { environmentId, url, eventTypes = [EVENT_TYPES[0]], metadata = {} }: NewEndpointRequest,
): Promise<WebhookEndpointRow> {
  const parsed = parseEndpointUrl(url, policy);
  checkMetadata(metadata, "Metadata");
  await requireRoomForEndpoint(db, environmentId);
  return await insertWebhookEndpoint(db, {
    id: newId("endpoint"),
    environmentId,
    url: parsed.href,
    eventTypes,
    secret: newSigningSecret(),
    metadata,
    now: clock.now(),
  });
}

/** @throws AppError `webhook_endpoint_not_found` */
export async function getWebhookEndpoint(
  db: Db | Tx,
  { environmentId, id }: { environmentId: string; id: string },
): Promise<WebhookEndpointRow> {
  const row = isPlausibleId(id) ? await findWebhookEndpoint(db, id) : undefined;
  if (row?.environment_id !== environmentId) {
    throw new AppError(
      "webhook_endpoint_not_found",
      "This environment has no webhook endpoint with this ID.",
    );
  }
  return row;
}

/**
 * Applies all changes or none.
 * @throws AppError `webhook_url_rejected`, `invalid_metadata`, `webhook_endpoint_not_found`
 */
export async function changeWebhookEndpoint(
  { tx, clock, policy }: { tx: Tx; clock: Clock; policy: EndpointPolicy },
  id: string,
  { url, enabled, ...changes }: WebhookEndpointChange,
): Promise<WebhookEndpointRow> {
  if (changes.metadata) checkMetadata(changes.metadata, "Metadata");
  await updateWebhookEndpoint(tx, id, {
    ...changes,
    ...(url !== undefined && { url: parseEndpointUrl(url, policy).href }),
  });
  if (enabled === true) await enableEndpoint(tx, id, clock.now());
  if (enabled === false) await disableEndpoint(tx, id, "Disabled by its owner.", clock.now());
  return requireRow(await findWebhookEndpoint(tx, id));
}

/**
 * Replaces the secret. The previous one also signs for 24 hours.
 * @throws AppError `webhook_endpoint_not_found`
 */
export async function rotateSecret(
  { tx, clock }: { tx: Tx; clock: Clock },
  id: string,
): Promise<WebhookEndpointRow> {
  const previousExpiresAt = new Date(clock.now().getTime() + ROTATION_MS);
  return requireRow(await replaceSecret(tx, id, { secret: newSigningSecret(), previousExpiresAt }));
}

/**
 * Deletes an endpoint and its deliveries. An endpoint can have millions of them, and events wait while their endpoint is
 * being deleted, so many deliveries are deleted before it, in short transactions. Meanwhile the endpoint is disabled, so
 * that it gets no new ones. If the process crashes, it stays disabled until it is deleted again or enabled.
 */
export async function removeWebhookEndpoint(
  deps: { db: Db; clock: Clock },
  actor: AuditActor,
  endpoint: WebhookEndpointRow,
): Promise<void> {
  const { db, clock } = deps;
  const { id } = endpoint;
  if (await hasMoreDeliveries(db, id, DELETE_BATCH)) {
    await disableForDeletion(deps, actor, endpoint);
    let last: string | null = "";
    while (last !== null) last = await deleteDeliveries(db, id, { after: last, limit: DELETE_BATCH });
  }
  await db.transaction().execute(async (tx) => {
    if (!(await deleteEndpointRow(tx, id))) return;
    await recordEndpointEvent({ tx, clock }, actor, "webhook_endpoint.deleted", endpoint);
  });
}

async function disableForDeletion(
  { db, clock }: { db: Db; clock: Clock },
  actor: AuditActor,
  endpoint: WebhookEndpointRow,
): Promise<void> {
  const reason = "It is being deleted.";
  await db.transaction().execute(async (tx) => {
    if (!(await disableEndpoint(tx, endpoint.id, reason, clock.now()))) return;
    await recordEndpointEvent({ tx, clock }, actor, "webhook_endpoint.disabled", endpoint, { reason });
  });
}

/** @throws AppError `webhook_endpoint_disabled` */
export function requireEnabled(endpoint: WebhookEndpointRow): void {
  if (endpoint.disabled_at === null) return;
  throw new AppError(
    "webhook_endpoint_disabled",
    `The endpoint is disabled: ${endpoint.disabled_reason ?? ""} Enable it first.`,
  );
}

/** Throws if the endpoint was deleted concurrently. */
function requireRow(row: WebhookEndpointRow | undefined): WebhookEndpointRow {
  if (!row) throw new AppError("webhook_endpoint_not_found", "The endpoint was just deleted.");
  return row;
}
