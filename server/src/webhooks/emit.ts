import { type EventType, type SentEventType, TEST_EVENT_TYPE } from "@subtext/client/contract/webhook";
import type { Tx } from "../db/schema.ts";
import type { EventDetail } from "../db/tables/webhooks.ts";
import { newId } from "../lib/ids.ts";
import { newJobId, type Queue } from "../queue/queue.ts";
import { lockSubscribers } from "./endpoint-queries.ts";
import { insertDelivery, insertEvent } from "./queries.ts";

/**
 * Stores an event and a delivery to each endpoint that is subscribed to its type. Call this in the transaction of the
 * state transition, so that neither exists without the other.
 */
export async function emitEvent(
  { tx, queue, now }: { tx: Tx; queue: Queue; now: Date },
  about: { id: string; environment_id: string },
  type: EventType,
  detail: EventDetail,
): Promise<void> {
  const eventId = newId("event");
  const environmentId = about.environment_id;
  await insertEvent(tx, { id: eventId, environmentId, type, transcriptionId: about.id, detail, now });
  for (const endpoint of await lockSubscribers(tx, environmentId, type)) {
    await beginDelivery(
      { tx, queue, now },
      {
        id: newId("delivery"),
        eventId,
        eventType: type,
        endpointId: endpoint.id,
      },
    );
  }
}

/** Sends a test event to one endpoint, regardless of its subscriptions. */
export async function emitTestEvent(
  { tx, queue, now }: { tx: Tx; queue: Queue; now: Date },
  endpoint: { id: string; environment_id: string },
  deliveryId: string,
): Promise<void> {
  const eventId = newId("event");
  await insertEvent(tx, {
    id: eventId,
    environmentId: endpoint.environment_id,
    type: TEST_EVENT_TYPE,
    endpointId: endpoint.id,
    detail: {},
    now,
  });
  await beginDelivery(
    { tx, queue, now },
    {
      id: deliveryId,
      eventId,
      eventType: TEST_EVENT_TYPE,
      endpointId: endpoint.id,
    },
  );
}

async function beginDelivery(
  { tx, queue, now }: { tx: Tx; queue: Queue; now: Date },
  delivery: { id: string; eventId: string; eventType: SentEventType; endpointId: string },
): Promise<void> {
  const jobId = newJobId();
  await insertDelivery(tx, { ...delivery, jobId, now });
  await queue.send(tx, "deliver", { id: jobId, subjectId: delivery.id, group: delivery.endpointId });
}
