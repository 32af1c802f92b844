import type { EventType } from "@subtext/client/contract/webhook";
import { sql } from "kysely";
import type { Db, Tx } from "../db/schema.ts";
import type { WebhookEndpointRow } from "../db/tables/webhooks.ts";

export interface NewWebhookEndpoint {
  id: string;
  environmentId: string;
  url: string;
  eventTypes: EventType[];
  secret: string;
  metadata: Record<string, unknown>;
  now: Date;
}

export async function insertWebhookEndpoint(
  db: Db | Tx,
  endpoint: NewWebhookEndpoint,
): Promise<WebhookEndpointRow> {
  return await db
    .insertInto("webhook_endpoint")
    .values({
      id: endpoint.id,
      environment_id: endpoint.environmentId,
      url: endpoint.url,
      event_types: JSON.stringify(endpoint.eventTypes),
      secret: endpoint.secret,
      metadata: JSON.stringify(endpoint.metadata),
      created_at: endpoint.now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function findWebhookEndpoint(db: Db | Tx, id: string): Promise<WebhookEndpointRow | undefined> {
  return await db.selectFrom("webhook_endpoint").selectAll().where("id", "=", id).executeTakeFirst();
}

export async function listWebhookEndpoints(db: Db, environmentId: string): Promise<WebhookEndpointRow[]> {
  return await db
    .selectFrom("webhook_endpoint")
    .selectAll()
    .where("environment_id", "=", environmentId)
    .orderBy("created_at")
    .execute();
}

/** Lists endpoints, newest first, that were created before the endpoint with the id `before`. */
export async function pageOfWebhookEndpoints(
  db: Db,
  environmentId: string,
  { before, limit }: { before: string | null; limit: number },
): Promise<WebhookEndpointRow[]> {
  return await db
    .selectFrom("webhook_endpoint")
    .selectAll()
    .where("environment_id", "=", environmentId)
    .$if(before !== null, (query) => query.where("id", "<", before!))
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
}

export interface WebhookEndpointUpdate {
  url?: string;
  eventTypes?: EventType[];
  metadata?: Record<string, unknown>;
}

/** A new URL resets `failing_since`. */
export async function updateWebhookEndpoint(
  db: Db | Tx,
  id: string,
  { url, eventTypes, metadata }: WebhookEndpointUpdate,
): Promise<void> {
  const changes = {
    ...(url !== undefined && {
      url,
      failing_since: sql<Date | null>`case when url = ${url} then failing_since end`,
    }),
    ...(eventTypes !== undefined && { event_types: JSON.stringify(eventTypes) }),
    ...(metadata !== undefined && { metadata: JSON.stringify(metadata) }),
  };
  if (Object.keys(changes).length === 0) return;
  await db.updateTable("webhook_endpoint").set(changes).where("id", "=", id).execute();
}

/** Also resets `failing_since`. Does nothing if the endpoint is enabled. */
export async function enableEndpoint(db: Db | Tx, id: string, now: Date): Promise<void> {
  await db
    .updateTable("webhook_endpoint")
    .set({ disabled_at: null, disabled_reason: null, failing_since: null, enabled_at: now })
    .where("id", "=", id)
    .where("disabled_at", "is not", null)
    .execute();
}

/** The current secret becomes the previous one and also signs until it expires. */
export async function replaceSecret(
  tx: Tx,
  id: string,
  { secret, previousExpiresAt }: { secret: string; previousExpiresAt: Date },
): Promise<WebhookEndpointRow | undefined> {
  return await tx
    .updateTable("webhook_endpoint")
    .set((set) => ({
      previous_secret: set.ref("secret"),
      previous_secret_expires_at: previousExpiresAt,
      secret,
    }))
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirst();
}

/**
 * Locks the enabled endpoints that are subscribed to the type until the transaction ends. Waits for endpoints that are
 * being deleted, and omits them.
 */
export async function lockSubscribers(
  tx: Tx,
  environmentId: string,
  type: EventType,
): Promise<{ id: string }[]> {
  return await tx
    .selectFrom("webhook_endpoint")
    .select("id")
    .where("environment_id", "=", environmentId)
    .where("disabled_at", "is", null)
    .where(sql<boolean>`event_types @> ${JSON.stringify([type])}::jsonb`)
    .orderBy("id")
    .forKeyShare()
    .execute();
}

/**
 * @param endpoint as it was when the attempt started
 * @returns when the endpoint started to fail, which may be before `since`; null if its URL was changed or it was enabled
 *   again during the attempt
 */
export async function markEndpointFailing(
  tx: Tx,
  { id, url, enabled_at: enabledAt }: Pick<WebhookEndpointRow, "id" | "url" | "enabled_at">,
  since: Date,
): Promise<Date | null> {
  const row = await tx
    .updateTable("webhook_endpoint")
    .set((set) => ({ failing_since: set.fn.coalesce("failing_since", set.val(since)) }))
    .where("id", "=", id)
    .where("url", "=", url)
    .where("enabled_at", "is not distinct from", enabledAt)
    .returning("failing_since")
    .executeTakeFirst();
  return row?.failing_since ?? null;
}

/** @returns whether the endpoint was enabled */
export async function disableEndpoint(tx: Db | Tx, id: string, reason: string, now: Date): Promise<boolean> {
  const row = await tx
    .updateTable("webhook_endpoint")
    .set({ disabled_at: now, disabled_reason: reason })
    .where("id", "=", id)
    .where("disabled_at", "is", null)
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

/** @returns whether an endpoint has more than `count` deliveries */
export async function hasMoreDeliveries(db: Db, endpointId: string, count: number): Promise<boolean> {
  const found = db.selectFrom("delivery").select("id").where("endpoint_id", "=", endpointId);
  return (await found.offset(count).limit(1).execute()).length > 0;
}

/**
 * Deletes one batch of an endpoint's deliveries, in the order of their ids, after the delivery `after`. Locks them in the
 * order in which attempts are recorded.
 * @returns the last deleted id; null if there are no more
 */
export async function deleteDeliveries(
  db: Db,
  endpointId: string,
  { after, limit }: { after: string; limit: number },
): Promise<string | null> {
  const { rows } = await sql<{ last: string | null }>`
    with batch as materialized (
      select id from delivery where endpoint_id = ${endpointId} and id > ${after}
      order by id limit ${limit} for update
    ), deleted as (
      delete from delivery where id in (select id from batch)
    )
    select max(id) as last from batch`.execute(db);
  return rows[0]!.last;
}

/**
 * Deletes an endpoint and its remaining deliveries. Locks pending deliveries first, in the order in which attempts are
 * recorded.
 */
export async function deleteEndpointRow(db: Db | Tx, id: string): Promise<boolean> {
  const { rows } = await sql`
    with endpoint as materialized (
      select id from webhook_endpoint where id = ${id} for update
    ), pending as materialized (
      select delivery.id from delivery where endpoint_id = (select id from endpoint) and status = 'pending'
      order by delivery.id for update
    )
    delete from webhook_endpoint where id = ${id} and (select count(*) from pending) >= 0
    returning id`.execute(db);
  return rows.length > 0;
}
