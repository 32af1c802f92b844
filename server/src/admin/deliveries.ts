import type { Db } from "../db/schema.ts";
import type { WebhookEndpointRow } from "../db/tables/webhooks.ts";
import { cutPage, readPageRequest } from "../http/cursor.ts";
import { parseTimestamp } from "../http/timestamp.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { isPlausibleId } from "../lib/ids.ts";
import type { Queue } from "../queue/queue.ts";
import { type DeliveryWithAttempts, serializeDelivery, uploadedFileName } from "../resources/serializers.ts";
import type { TranscriptStore } from "../storage/transcript-store.ts";
import { findVideosByTranscription } from "../videos/queries.ts";
import { findEventSubjects } from "../webhooks/due-delivery-queries.ts";
import { constantHeaders } from "../webhooks/post.ts";
import { findDelivery, findEvent, listDeliveries } from "../webhooks/queries.ts";
import { redeliver, redeliverFailed, sendTestEvent } from "../webhooks/redeliver.ts";
import { renderRequest, secretsAt } from "../webhooks/request.ts";
import type { AttemptRequestView, DeliveryView } from "./contract/webhook.ts";
import { defineHandlers } from "./operation.ts";
import { getEndpoint } from "./webhook-endpoints.ts";

export interface DeliveryDeps {
  db: Db;
  queue: Queue;
  clock: Clock;
  transcripts: TranscriptStore;
  version: string;
}

export function deliveryHandlers(deps: DeliveryDeps) {
  const { db, queue, clock } = deps;
  return defineHandlers({
    "GET /webhook-endpoints/:id/deliveries": async ({ params, query }) => {
      const { id } = await getEndpoint(db, params.id);
      const { before, limit } = readPageRequest("delivery", query);
      const { status = null, event: eventType } = query;
      const filter = { status, ...(eventType && { eventType }), before, limit: limit + 1 };
      const { rows, nextCursor } = cutPage(await listDeliveries(db, id, filter), limit);
      return { data: await readDeliveryViews(db, rows), nextCursor };
    },

    "GET /webhook-endpoints/:id/deliveries/:delivery": async ({ params: { id, delivery: deliveryId } }) => {
      const endpoint = await getEndpoint(db, id);
      const delivery = isPlausibleId(deliveryId)
        ? await findDelivery(db, endpoint.id, deliveryId)
        : undefined;
      if (!delivery) throw new AppError("delivery_not_found", "The endpoint has no delivery with this ID.");
      const requests = await renderAttemptRequests(deps, endpoint, delivery);
      const [view] = await readDeliveryViews(db, [delivery]);
      return { ...view!, requests };
    },

    "POST /webhook-endpoints/:id/test": async ({ params }) => {
      const delivery = await db.transaction().execute(async (tx) => {
        const endpoint = await getEndpoint(tx, params.id);
        return await sendTestEvent({ tx, queue, clock }, endpoint);
      });
      return serializeDelivery(delivery);
    },

    "POST /webhook-endpoints/:id/deliveries/:delivery/redeliver": async ({ params, request }) => {
      const delivery = await db.transaction().execute(async (tx) => {
        const endpoint = await getEndpoint(tx, params.id);
        return await redeliver({ tx, queue, clock }, endpoint, params.delivery);
      });
      request.log.info({ deliveryId: delivery.id }, "delivery restarted");
      return serializeDelivery(delivery);
    },

    "POST /webhook-endpoints/:id/redeliver-failed": async ({ params: { id }, body, request }) => {
      const since = parseTimestamp(body.since, "body/since");
      const result = await db.transaction().execute(async (tx) => {
        const endpoint = await getEndpoint(tx, id);
        return await redeliverFailed({ tx, queue, clock }, endpoint, since);
      });
      request.log.info({ endpointId: id, ...result }, "failed deliveries restarted");
      return result;
    },
  });
}

async function readDeliveryViews(db: Db, rows: DeliveryWithAttempts[]): Promise<DeliveryView[]> {
  const videos = await findVideosByTranscription(
    db,
    rows.flatMap(({ transcription_id: id }) => id ?? []),
  );
  return rows.map((row) => {
    const video = videos.get(row.transcription_id ?? "");
    return {
      ...serializeDelivery(row),
      video: video ? { id: video.id, filename: uploadedFileName(video.metadata) } : null,
    };
  });
}

async function renderAttemptRequests(
  deps: DeliveryDeps,
  endpoint: WebhookEndpointRow,
  delivery: DeliveryWithAttempts,
): Promise<AttemptRequestView[]> {
  const event = await findEvent(deps.db, delivery.event_id);
  if (!event) return [];
  const { transcripts } = deps;
  const findSubject = async (id: string) => (await findEventSubjects(deps.db, [id]))[0];
  const requests: AttemptRequestView[] = [];
  for (const { number, attempted_at: at } of delivery.attemptRows) {
    const sent = await renderRequest({ transcripts, findSubject }, event, endpoint, {
      at,
      secrets: secretsAt(endpoint, at),
    });
    if (!sent) continue;
    requests.push({ ...sent, number, headers: { ...sent.headers, ...constantHeaders(deps.version) } });
  }
  return requests;
}
