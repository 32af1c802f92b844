import type { SentEventType } from "@subtext/client/contract/webhook";
import {
  DELIVERY_STATUSES,
  type DeliveryStatus,
  MAX_LISTED_ATTEMPTS,
} from "@subtext/client/contract/webhook-endpoint";
import { sql } from "kysely";
import type { Db, Tx } from "../db/schema.ts";
import type { DeliveryRow, EventDetail, EventRow } from "../db/tables/webhooks.ts";
import type { DeliveryWithAttempts } from "../resources/serializers.ts";

export async function insertEvent(
  tx: Tx,
  event: {
    id: string;
    environmentId: string;
    type: SentEventType;
    detail: EventDetail;
    now: Date;
  } & ({ transcriptionId: string } | { endpointId: string }),
): Promise<void> {
  await tx
    .insertInto("event")
    .values({
      id: event.id,
      environment_id: event.environmentId,
      type: event.type,
      ...("transcriptionId" in event
        ? { transcription_id: event.transcriptionId }
        : { endpoint_id: event.endpointId }),
      detail: JSON.stringify(event.detail),
      created_at: event.now,
    })
    .execute();
}

export async function findEvent(db: Db, id: string): Promise<EventRow | undefined> {
  return await db.selectFrom("event").selectAll().where("id", "=", id).executeTakeFirst();
}

export async function insertDelivery(
  tx: Tx,
  delivery: {
    id: string;
    eventId: string;
    eventType: SentEventType;
    endpointId: string;
    jobId: string;
    now: Date;
  },
): Promise<void> {
  await tx
    .insertInto("delivery")
    .values({
      id: delivery.id,
      event_id: delivery.eventId,
      event_type: delivery.eventType,
      endpoint_id: delivery.endpointId,
      status: "pending",
      job_id: delivery.jobId,
      next_attempt_at: delivery.now,
      created_at: delivery.now,
    })
    .execute();
}

export async function attemptTime(db: Db, deliveryId: string, number: number): Promise<Date | null> {
  const row = await db
    .selectFrom("delivery_attempt")
    .select("attempted_at")
    .where("delivery_id", "=", deliveryId)
    .where("number", "=", number)
    .executeTakeFirst();
  return row?.attempted_at ?? null;
}

export interface RecordedAttempt {
  number: number;
  attemptedAt: Date;
  latencyMs: number;
  statusCode: number | null;
  failure: string | null;
  responseStart: string | null;
}

export type DeliveryOutcome =
  | { status: "pending"; jobId: string; nextAttemptAt: Date; heldUntil: Date | null; earlyAttempts: number }
  | { status: "succeeded" | "failed" | "canceled"; finishedAt: Date };

/** Records an attempt and the resulting status. Returns false if another process has settled the delivery. */
export async function settleAttempt(
  tx: Tx,
  delivery: { id: string; jobId: string },
  attempt: RecordedAttempt,
  outcome: DeliveryOutcome,
): Promise<boolean> {
  const updated = await tx
    .updateTable("delivery")
    .set({
      attempts: attempt.number,
      status: outcome.status,
      ...(outcome.status === "pending"
        ? {
            job_id: outcome.jobId,
            next_attempt_at: outcome.nextAttemptAt,
            held_until: outcome.heldUntil,
            early_attempts: outcome.earlyAttempts,
          }
        : { next_attempt_at: null, finished_at: outcome.finishedAt }),
    })
    .where("id", "=", delivery.id)
    .where("job_id", "=", delivery.jobId)
    .where("status", "=", "pending")
    .returning("id")
    .executeTakeFirst();
  if (!updated) return false;
  await tx
    .insertInto("delivery_attempt")
    .values({
      delivery_id: delivery.id,
      number: attempt.number,
      attempted_at: attempt.attemptedAt,
      latency_ms: attempt.latencyMs,
      status_code: attempt.statusCode,
      failure: attempt.failure,
      response_start: attempt.responseStart,
    })
    .execute();
  return true;
}

/** Does nothing if the delivery has another job, because it was redelivered. */
export async function cancelDelivery(
  db: Db,
  { id, jobId }: { id: string; jobId: string },
  now: Date,
): Promise<void> {
  await db
    .updateTable("delivery")
    .set({ status: "canceled", next_attempt_at: null, finished_at: now })
    .where("id", "=", id)
    .where("job_id", "=", jobId)
    .where("status", "=", "pending")
    .execute();
}

export interface DeliveryFilter {
  status: DeliveryStatus | null;
  eventType?: SentEventType;
  /** Lists only deliveries that were created before the delivery with this id. */
  before: string | null;
  limit: number;
}

/** Lists the deliveries to an endpoint, newest first, each with its latest attempts in ascending order. */
export async function listDeliveries(
  db: Db,
  endpointId: string,
  { status, eventType, before, limit }: DeliveryFilter,
): Promise<DeliveryWithAttempts[]> {
  // One query per status, because the planner has statistics for each status. Each query reads at most `limit` rows.
  const [first, ...others] = (status === null ? DELIVERY_STATUSES : [status]).map((each) => {
    const latest = db
      .selectFrom("delivery")
      .selectAll()
      .where("endpoint_id", "=", endpointId)
      .where("status", "=", each)
      .$if(eventType !== undefined, (query) => query.where("event_type", "=", eventType!))
      .$if(before !== null, (query) => query.where("id", "<", before!))
      .orderBy("id", "desc")
      .limit(limit);
    return db.selectFrom(latest.as("latest")).selectAll();
  });
  const latest = others.reduce((union, each) => union.unionAll(each), first!);
  const deliveries = await db
    .selectFrom(latest.as("delivery"))
    .innerJoin("event", "event.id", "delivery.event_id")
    .selectAll("delivery")
    .select("event.transcription_id")
    .orderBy("delivery.id", "desc")
    .limit(limit)
    .execute();
  return await withAttempts(db, deliveries);
}

export async function findDelivery(
  db: Db | Tx,
  endpointId: string,
  id: string,
): Promise<DeliveryWithAttempts | undefined> {
  const rows = await db
    .selectFrom("delivery")
    .innerJoin("event", "event.id", "delivery.event_id")
    .selectAll("delivery")
    .select("event.transcription_id")
    .where("delivery.endpoint_id", "=", endpointId)
    .where("delivery.id", "=", id)
    .execute();
  return (await withAttempts(db, rows))[0];
}

/**
 * Locks up to `limit` deliveries that were created at or after `since` and failed, were canceled, or are waiting for a
 * retry. Chooses the oldest, and returns them in this order, but locks them in the order in which attempts are recorded.
 */
export async function lockUndelivered(
  tx: Tx,
  endpointId: string,
  { since, limit }: { since: Date; limit: number },
): Promise<{ id: string }[]> {
  const undelivered = () =>
    tx
      .selectFrom("delivery")
      .select(["id", "created_at"])
      .where("endpoint_id", "=", endpointId)
      .where((where) =>
        where.or([
          where("status", "in", ["failed", "canceled"]),
          where.and([where("status", "=", "pending"), where("attempts", ">", where.ref("attempts_before"))]),
        ]),
      )
      .where("created_at", ">=", since);
  const chosen = await undelivered().orderBy("created_at").orderBy("id").limit(limit).execute();
  if (chosen.length === 0) return [];
  const ids = chosen.map(({ id }) => id);
  const locked = await undelivered()
    .where(sql<boolean>`id = any(${ids}::text[])`)
    .orderBy("id")
    .forUpdate()
    .execute();
  const lockedIds = new Set(locked.map(({ id }) => id));
  return chosen.filter(({ id }) => lockedIds.has(id));
}

/** Restarts the schedule with a new job, regardless of the delivery's status. Keeps earlier attempts. */
export async function restartDelivery(tx: Tx, id: string, jobId: string, now: Date): Promise<void> {
  await tx
    .updateTable("delivery")
    .set((set) => ({
      status: "pending",
      job_id: jobId,
      attempts_before: set.ref("attempts"),
      next_attempt_at: now,
      held_until: null,
      early_attempts: 0,
      finished_at: null,
    }))
    .where("id", "=", id)
    .execute();
}

async function withAttempts(
  db: Db | Tx,
  deliveries: Omit<DeliveryWithAttempts, "attemptRows">[],
): Promise<DeliveryWithAttempts[]> {
  if (deliveries.length === 0) return [];
  const attempts = await db
    .selectFrom("delivery_attempt")
    .innerJoin("delivery", "delivery.id", "delivery_attempt.delivery_id")
    .selectAll("delivery_attempt")
    .where(
      "delivery_attempt.delivery_id",
      "in",
      deliveries.map(({ id }) => id),
    )
    .where((where) => where("number", ">", where("delivery.attempts", "-", MAX_LISTED_ATTEMPTS)))
    .orderBy("number")
    .execute();
  const attemptsByDelivery = Map.groupBy(attempts, (attempt) => attempt.delivery_id);
  return deliveries.map((delivery) => ({
    ...delivery,
    // An attempt that was recorded after the delivery was read would contradict its status.
    attemptRows:
      attemptsByDelivery.get(delivery.id)?.filter(({ number }) => number <= delivery.attempts) ?? [],
  }));
}

export type EventWithDeliveries = EventRow & { deliveries: DeliveryRow[] };

/** Lists events and their deliveries in chronological order. */
export async function listTranscriptionEvents(
  db: Db,
  transcriptionId: string,
): Promise<EventWithDeliveries[]> {
  const events = await db
    .selectFrom("event")
    .selectAll()
    .where("transcription_id", "=", transcriptionId)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  if (events.length === 0) return [];
  const deliveries = await db
    .selectFrom("delivery")
    .selectAll()
    .where(
      "event_id",
      "in",
      events.map(({ id }) => id),
    )
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  const deliveriesByEvent = Map.groupBy(deliveries, (delivery) => delivery.event_id);
  return events.map((event) => ({ ...event, deliveries: deliveriesByEvent.get(event.id) ?? [] }));
}
