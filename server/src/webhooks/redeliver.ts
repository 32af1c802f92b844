import { MAX_REDELIVERIES, type Redelivering } from "@subtext/client/contract/webhook-endpoint";
import type { Tx } from "../db/schema.ts";
import type { WebhookEndpointRow } from "../db/tables/webhooks.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { isPlausibleId, newId } from "../lib/ids.ts";
import { newJobId, type Queue } from "../queue/queue.ts";
import type { DeliveryWithAttempts } from "../resources/serializers.ts";
import { emitTestEvent } from "./emit.ts";
import { requireEnabled } from "./endpoints.ts";
import { findDelivery, lockUndelivered, restartDelivery } from "./queries.ts";

interface RedeliverDeps {
  tx: Tx;
  queue: Queue;
  clock: Clock;
}

/**
 * Sends a test event through the queue, like all other events.
 * @throws AppError `webhook_endpoint_disabled`
 */
export async function sendTestEvent(
  { tx, queue, clock }: RedeliverDeps,
  endpoint: WebhookEndpointRow,
): Promise<DeliveryWithAttempts> {
  requireEnabled(endpoint);
  const deliveryId = newId("delivery");
  await emitTestEvent({ tx, queue, now: clock.now() }, endpoint, deliveryId);
  return await getDelivery(tx, endpoint, deliveryId);
}

/**
 * Sends an event again with the same id and a new retry schedule. An attempt in progress may still reach the receiver,
 * but is not recorded.
 * @throws AppError `delivery_not_found`, `webhook_endpoint_disabled`
 */
export async function redeliver(
  deps: RedeliverDeps,
  endpoint: WebhookEndpointRow,
  deliveryId: string,
): Promise<DeliveryWithAttempts> {
  await getDelivery(deps.tx, endpoint, deliveryId);
  requireEnabled(endpoint);
  await restart(deps, endpoint, deliveryId);
  return await getDelivery(deps.tx, endpoint, deliveryId);
}

/**
 * Redelivers failed, canceled and retrying deliveries that were created at or after `since`, oldest first.
 * @throws AppError `webhook_endpoint_disabled`
 */
export async function redeliverFailed(
  deps: RedeliverDeps,
  endpoint: WebhookEndpointRow,
  since: Date,
): Promise<Redelivering> {
  requireEnabled(endpoint);
  const found = await lockUndelivered(deps.tx, endpoint.id, { since, limit: MAX_REDELIVERIES + 1 });
  const chosen = found.slice(0, MAX_REDELIVERIES);
  for (const { id } of chosen) await restart(deps, endpoint, id);
  return { count: chosen.length, hasMore: found.length > chosen.length };
}

async function restart(
  { tx, queue, clock }: RedeliverDeps,
  endpoint: WebhookEndpointRow,
  deliveryId: string,
): Promise<void> {
  const jobId = newJobId();
  await restartDelivery(tx, deliveryId, jobId, clock.now());
  await queue.send(tx, "deliver", { id: jobId, subjectId: deliveryId, group: endpoint.id });
}

async function getDelivery(
  tx: Tx,
  endpoint: WebhookEndpointRow,
  deliveryId: string,
): Promise<DeliveryWithAttempts> {
  const row = isPlausibleId(deliveryId) ? await findDelivery(tx, endpoint.id, deliveryId) : undefined;
  if (!row) throw new AppError("delivery_not_found", "The endpoint has no delivery with this ID.");
  return row;
}
