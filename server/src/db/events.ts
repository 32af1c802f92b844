import type { EventType } from "@subtext/client/contract/webhook";
import type { Db, DeliveryRow, EventDetail, EventRow, Tx } from "./schema.ts";

export async function insertEvent(
  tx: Tx,
  event: {
    id: string;
    environmentId: string;
    type: EventType;
    transcriptionId: string;
    detail: EventDetail;
    now: Date;
  },
): Promise<void> {
  await tx
    .insertInto("event")
    .values({
      id: event.id,
      environment_id: event.environmentId,
      type: event.type,
      transcription_id: event.transcriptionId,
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
  delivery: { id: string; eventId: string; endpointId: string; jobId: string; now: Date },
): Promise<void> {
  await tx
    .insertInto("delivery")
    .values({
      id: delivery.id,
      event_id: delivery.eventId,
      endpoint_id: delivery.endpointId,
      status: "pending",
      job_id: delivery.jobId,
      next_attempt_at: delivery.now,
      created_at: delivery.now,
    })
    .execute();
}

/** The delivery, where this job is the one that may make its next attempt. */
export async function findDueDelivery(db: Db, id: string, jobId: string): Promise<DeliveryRow | undefined> {
  return await db
    .selectFrom("delivery")
    .selectAll()
    .where("id", "=", id)
    .where("job_id", "=", jobId)
    .where("status", "=", "pending")
    .executeTakeFirst();
}

export async function firstAttemptAt(db: Db, deliveryId: string): Promise<Date | null> {
  const row = await db
    .selectFrom("delivery_attempt")
    .select("attempted_at")
    .where("delivery_id", "=", deliveryId)
    .where("number", "=", 1)
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
  | { status: "pending"; jobId: string; nextAttemptAt: Date }
  | { status: "succeeded" | "failed" | "canceled"; finishedAt: Date };

/** Writes down an attempt and what follows from it; false where another process was there first. */
export async function settleAttempt(
  tx: Tx,
  delivery: { id: string; jobId: string },
  attempt: RecordedAttempt,
  outcome: DeliveryOutcome,
): Promise<boolean> {
  const moved = await tx
    .updateTable("delivery")
    .set({
      attempts: attempt.number,
      status: outcome.status,
      ...(outcome.status === "pending"
        ? { job_id: outcome.jobId, next_attempt_at: outcome.nextAttemptAt }
        : { next_attempt_at: null, finished_at: outcome.finishedAt }),
    })
    .where("id", "=", delivery.id)
    .where("job_id", "=", delivery.jobId)
    .where("status", "=", "pending")
    .returning("id")
    .executeTakeFirst();
  if (!moved) return false;
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

export async function cancelDelivery(db: Db, id: string, now: Date): Promise<void> {
  await db
    .updateTable("delivery")
    .set({ status: "canceled", next_attempt_at: null, finished_at: now })
    .where("id", "=", id)
    .where("status", "=", "pending")
    .execute();
}
