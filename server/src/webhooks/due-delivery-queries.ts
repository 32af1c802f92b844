import type { VideoMetadata } from "@subtext/client/contract/video";
import { sql } from "kysely";
import type { Db, Tx } from "../db/schema.ts";
import type { TranscriptionRow } from "../db/tables/transcriptions.ts";
import type { DeliveryRow, EventRow, WebhookEndpointRow } from "../db/tables/webhooks.ts";
import type { RecordedAttempt } from "./queries.ts";

export interface DueDelivery {
  delivery: DeliveryRow;
  endpoint: WebhookEndpointRow;
  event: EventRow;
}

/** A delivery and the only job that may make its next attempt. */
export interface DeliveryJob {
  deliveryId: string;
  jobId: string;
}

/** Returns rows in the order of `jobs`, and undefined for a job that has nothing to do. */
export async function findDueDeliveries(
  db: Db,
  jobs: readonly DeliveryJob[],
): Promise<(DueDelivery | undefined)[]> {
  const deliveries = await db
    .selectFrom("delivery")
    .selectAll()
    .where(
      "id",
      "in",
      jobs.map(({ deliveryId }) => deliveryId),
    )
    .where("status", "=", "pending")
    .execute();
  if (deliveries.length === 0) return jobs.map(() => undefined);
  const endpoints = await db
    .selectFrom("webhook_endpoint")
    .selectAll()
    .where("id", "in", [...new Set(deliveries.map((row) => row.endpoint_id))])
    .execute();
  const events = await db
    .selectFrom("event")
    .selectAll()
    .where("id", "in", [...new Set(deliveries.map((row) => row.event_id))])
    .execute();
  const deliveriesById = new Map(deliveries.map((row) => [row.id, row]));
  const endpointsById = new Map(endpoints.map((row) => [row.id, row]));
  const eventsById = new Map(events.map((row) => [row.id, row]));
  return jobs.map(({ deliveryId, jobId }) => {
    const delivery = deliveriesById.get(deliveryId);
    if (delivery?.job_id !== jobId) return undefined;
    const endpoint = endpointsById.get(delivery.endpoint_id);
    const event = eventsById.get(delivery.event_id);
    // Deleting the endpoint or the event also deletes the delivery.
    return endpoint && event && { delivery, endpoint, event };
  });
}

export type EventSubject = TranscriptionRow & { video_metadata: VideoMetadata };

/** Returns rows in the order of the ids, and undefined for deleted transcriptions. */
export async function findEventSubjects(
  db: Db,
  transcriptionIds: readonly string[],
): Promise<(EventSubject | undefined)[]> {
  const rows = await db
    .selectFrom("transcription")
    .innerJoin("video", "video.id", "transcription.video_id")
    .selectAll("transcription")
    .select("video.metadata as video_metadata")
    .where("transcription.id", "in", [...new Set(transcriptionIds)])
    .execute();
  const rowsById = new Map(rows.map((row) => [row.id, row]));
  return transcriptionIds.map((id) => rowsById.get(id));
}

export interface SuccessfulAttempt extends DeliveryJob, RecordedAttempt {
  endpointId: string;
  finishedAt: Date;
}

/**
 * Records successful attempts and clears `failing_since` of their endpoints.
 * @returns whether each attempt was recorded; false if another process has settled the delivery
 */
export async function settleDelivered(tx: Tx, attempts: readonly SuccessfulAttempt[]): Promise<boolean[]> {
  const endpointIds = [...new Set(attempts.map(({ endpointId }) => endpointId))];
  await tx
    .updateTable("webhook_endpoint")
    .set({ failing_since: null })
    .where("id", "in", (endpoint) =>
      endpoint
        .selectFrom("webhook_endpoint")
        .select("id")
        .where("id", "in", endpointIds)
        .where("failing_since", "is not", null)
        // Every transaction that updates several endpoints locks them in this order.
        .orderBy("id")
        .forUpdate(),
    )
    .execute();
  const values = JSON.stringify(
    attempts.map((attempt) => ({
      delivery_id: attempt.deliveryId,
      job_id: attempt.jobId,
      number: attempt.number,
      attempted_at: attempt.attemptedAt,
      latency_ms: attempt.latencyMs,
      status_code: attempt.statusCode,
      response_start: attempt.responseStart,
      finished_at: attempt.finishedAt,
    })),
  );
  const { rows } = await sql<{ delivery_id: string }>`
    with attempt as (
      select * from jsonb_to_recordset(${values}::jsonb) as attempt (
        delivery_id text, job_id uuid, number int, attempted_at timestamptz, latency_ms int,
        status_code int, response_start text, finished_at timestamptz)
    ), turn as (
      select id from delivery where id in (select delivery_id from attempt) order by id for update
    ), settled as (
      update delivery
      set attempts = attempt.number, status = 'succeeded', next_attempt_at = null,
        finished_at = attempt.finished_at
      from attempt, turn
      where delivery.id = turn.id and delivery.id = attempt.delivery_id
        and delivery.job_id = attempt.job_id and delivery.status = 'pending'
      returning delivery.id
    )
    insert into delivery_attempt
      (delivery_id, number, attempted_at, latency_ms, status_code, response_start)
    select delivery_id, number, attempted_at, latency_ms, status_code, response_start
    from attempt join settled on settled.id = attempt.delivery_id
    returning delivery_id`.execute(tx);
  const settled = new Set(rows.map((row) => row.delivery_id));
  return attempts.map(({ deliveryId }) => settled.has(deliveryId));
}
