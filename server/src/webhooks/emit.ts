import type { EventType } from "@subtext/client/contract/webhook";
import { insertDelivery, insertEvent } from "../db/events.ts";
import type { EventDetail, Tx } from "../db/schema.ts";
import { listSubscribers } from "../db/webhook-endpoints.ts";
import { newId } from "../ids.ts";
import { newJobId, type Queue } from "../queue.ts";

/**
 * Stores an event with one delivery for each endpoint that subscribes to its kind, in the transaction that
 * makes the fact true: neither can be without the other.
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
  for (const endpoint of await listSubscribers(tx, environmentId, type)) {
    const deliveryId = newId("delivery");
    const jobId = newJobId();
    await insertDelivery(tx, { id: deliveryId, eventId, endpointId: endpoint.id, jobId, now });
    await queue.send(tx, "deliver", { id: jobId, subjectId: deliveryId });
  }
}
