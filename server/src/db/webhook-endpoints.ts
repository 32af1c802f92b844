import type { EventType } from "@subtext/client/contract/webhook";
import { sql } from "kysely";
import type { Db, Tx, WebhookEndpointRow } from "./schema.ts";

export interface NewWebhookEndpoint {
  id: string;
  environmentId: string;
  url: string;
  eventTypes: EventType[];
  secret: string;
  metadata: Record<string, unknown>;
  now: Date;
}

export async function insertWebhookEndpoint(db: Db, endpoint: NewWebhookEndpoint): Promise<void> {
  await db
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
    .execute();
}

export async function findWebhookEndpoint(db: Db, id: string): Promise<WebhookEndpointRow | undefined> {
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

export async function listSubscribers(
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
    .execute();
}

export async function markEndpointHealthy(tx: Tx, id: string): Promise<void> {
  await tx
    .updateTable("webhook_endpoint")
    .set({ failing_since: null })
    .where("id", "=", id)
    .where("failing_since", "is not", null)
    .execute();
}

/** @returns since when the endpoint fails, which may be longer than the time given */
export async function markEndpointFailing(tx: Tx, id: string, since: Date): Promise<Date | null> {
  const row = await tx
    .updateTable("webhook_endpoint")
    .set((set) => ({ failing_since: set.fn.coalesce("failing_since", set.val(since)) }))
    .where("id", "=", id)
    .returning("failing_since")
    .executeTakeFirst();
  return row?.failing_since ?? null;
}

export async function disableEndpoint(tx: Tx, id: string, reason: string, now: Date): Promise<void> {
  await tx
    .updateTable("webhook_endpoint")
    .set({ disabled_at: now, disabled_reason: reason })
    .where("id", "=", id)
    .where("disabled_at", "is", null)
    .execute();
}

export async function deleteWebhookEndpoint(db: Db, id: string): Promise<boolean> {
  const row = await db.deleteFrom("webhook_endpoint").where("id", "=", id).returning("id").executeTakeFirst();
  return row !== undefined;
}
