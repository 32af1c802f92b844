import type { SentEventType } from "@subtext/client/contract/webhook";
import type { DeliveryStatus } from "@subtext/client/contract/webhook-endpoint";
import type { Db } from "../db/schema.ts";

export interface LatestDelivery {
  endpoint_id: string;
  id: string;
  event_type: SentEventType;
  status: DeliveryStatus;
  created_at: Date;
  /** HTTP status of the last attempt; null without an attempt or a response. */
  status_code: number | null;
  failure: string | null;
}

/** Returns the latest delivery to each endpoint, keyed by endpoint id. Endpoints without deliveries are omitted. */
export async function latestDeliveries(
  db: Db,
  endpointIds: readonly string[],
): Promise<Map<string, LatestDelivery>> {
  if (endpointIds.length === 0) return new Map();
  const rows = await db
    .selectFrom("webhook_endpoint as endpoint")
    .innerJoinLateral(
      (of) =>
        of
          .selectFrom("delivery")
          .select(["id", "event_id", "status", "created_at", "attempts"])
          .whereRef("delivery.endpoint_id", "=", "endpoint.id")
          .orderBy("id", "desc")
          .limit(1)
          .as("latest"),
      (join) => join.onTrue(),
    )
    .innerJoin("event", "event.id", "latest.event_id")
    .leftJoin("delivery_attempt as attempt", (join) =>
      join.onRef("attempt.delivery_id", "=", "latest.id").onRef("attempt.number", "=", "latest.attempts"),
    )
    .select([
      "endpoint.id as endpoint_id",
      "latest.id",
      "event.type as event_type",
      "latest.status",
      "latest.created_at",
      "attempt.status_code",
      "attempt.failure",
    ])
    .where("endpoint.id", "in", endpointIds)
    .execute();
  return new Map(rows.map((row) => [row.endpoint_id, row]));
}

/** Counts deliveries created at or after `since`, grouped by endpoint and status. */
export async function countDeliveries(
  db: Db,
  endpointIds: readonly string[],
  since: Date,
): Promise<{ endpoint_id: string; status: DeliveryStatus; count: number }[]> {
  if (endpointIds.length === 0) return [];
  const rows = await db
    .selectFrom("delivery")
    .select((of) => ["endpoint_id", "status", of.fn.countAll<string>().as("count")])
    .where("endpoint_id", "in", endpointIds)
    .where("created_at", ">=", since)
    .groupBy(["endpoint_id", "status"])
    .execute();
  return rows.map((row) => ({ ...row, count: Number(row.count) }));
}
