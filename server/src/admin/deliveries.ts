import { PAGE_QUERY } from "@subtext/client/contract/page";
import { EVENT_TYPES, TEST_EVENT_TYPE } from "@subtext/client/contract/webhook";
import {
  DELIVERY_STATUSES,
  type Delivery,
  RedeliverFailed,
  type Redelivering,
} from "@subtext/client/contract/webhook-endpoint";
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import type { Db, WebhookEndpointRow } from "../db/schema.ts";
import { cutPage, readPageRequest } from "../http/cursor.ts";
import { readMoment } from "../http/timestamp.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { isPlausibleId } from "../lib/ids.ts";
import type { Queue } from "../queue/queue.ts";
import { representDelivery, uploadedFileName } from "../resources/resources.ts";
import type { Storage } from "../storage/transcript-store.ts";
import { videosOfTranscriptions } from "../videos/queries.ts";
import { findEventSubjects } from "../webhooks/due-delivery-queries.ts";
import { constantHeaders } from "../webhooks/post.ts";
import { type DeliveryWithAttempts, findDelivery, findEvent, pageOfDeliveries } from "../webhooks/queries.ts";
import { redeliver, redeliverFailed, sendTestEvent } from "../webhooks/redeliver.ts";
import { renderRequest, secretsThen } from "../webhooks/request.ts";
import type {
  AttemptRequestView,
  DeliveryDetailView,
  DeliveryPageView,
  DeliveryView,
} from "./contract/webhook.ts";
import { getEndpoint } from "./webhook-endpoints.ts";

export interface DeliveryDeps {
  db: Db;
  queue: Queue;
  clock: Clock;
  storage: Storage;
  version: string;
}

interface OfEndpoint {
  Params: { id: string };
}
interface OfDelivery {
  Params: { id: string; delivery: string };
}

const ListQuery = Type.Object({
  ...PAGE_QUERY,
  status: Type.Optional(Type.Enum(DELIVERY_STATUSES)),
  event: Type.Optional(Type.Enum([...EVENT_TYPES, TEST_EVENT_TYPE])),
});

/** What was sent to webhook endpoints, and what is to be sent again. */
export function registerDeliveries(app: FastifyInstance, deps: DeliveryDeps): void {
  const { db, queue, clock } = deps;

  app.get<OfEndpoint & { Querystring: Static<typeof ListQuery> }>(
    "/webhook-endpoints/:id/deliveries",
    { schema: { querystring: ListQuery } },
    async (request): Promise<DeliveryPageView> => {
      const { id } = await getEndpoint(db, request.params.id);
      const { before, limit } = readPageRequest(request.query);
      const { status = null, event: eventType } = request.query;
      const wanted = { status, ...(eventType && { eventType }), before, limit: limit + 1 };
      const { rows, nextCursor } = cutPage(await pageOfDeliveries(db, id, wanted), limit);
      return { data: await viewDeliveries(db, rows), nextCursor };
    },
  );

  app.get<OfDelivery>(
    "/webhook-endpoints/:id/deliveries/:delivery",
    async (request): Promise<DeliveryDetailView> => {
      const endpoint = await getEndpoint(db, request.params.id);
      const { delivery: id } = request.params;
      const delivery = isPlausibleId(id) ? await findDelivery(db, endpoint.id, id) : undefined;
      if (!delivery) throw new AppError("delivery_not_found", "The endpoint has no delivery with this id.");
      const requests = await requestsOf(deps, endpoint, delivery);
      const [view] = await viewDeliveries(db, [delivery]);
      return { ...view!, requests };
    },
  );

  app.post<OfEndpoint>("/webhook-endpoints/:id/test", async (request, reply): Promise<Delivery> => {
    const delivery = await db.transaction().execute(async (tx) => {
      const endpoint = await getEndpoint(tx, request.params.id);
      return await sendTestEvent({ tx, queue, clock }, endpoint);
    });
    reply.code(202);
    return representDelivery(delivery);
  });

  app.post<OfDelivery>(
    "/webhook-endpoints/:id/deliveries/:delivery/redeliver",
    async (request, reply): Promise<Delivery> => {
      const delivery = await db.transaction().execute(async (tx) => {
        const endpoint = await getEndpoint(tx, request.params.id);
        return await redeliver({ tx, queue, clock }, endpoint, request.params.delivery);
      });
      request.log.info({ deliveryId: delivery.id }, "delivery begun anew");
      reply.code(202);
      return representDelivery(delivery);
    },
  );

  app.post<OfEndpoint & { Body: Static<typeof RedeliverFailed> }>(
    "/webhook-endpoints/:id/redeliver-failed",
    { schema: { body: RedeliverFailed } },
    async (request, reply): Promise<Redelivering> => {
      const since = readMoment(request.body.since, "since");
      const redelivering = await db.transaction().execute(async (tx) => {
        const endpoint = await getEndpoint(tx, request.params.id);
        return await redeliverFailed({ tx, queue, clock }, endpoint, since);
      });
      request.log.info({ endpointId: request.params.id, ...redelivering }, "failed deliveries begun anew");
      reply.code(202);
      return redelivering;
    },
  );
}

async function viewDeliveries(db: Db, rows: DeliveryWithAttempts[]): Promise<DeliveryView[]> {
  const videos = await videosOfTranscriptions(
    db,
    rows.flatMap(({ transcription_id: id }) => id ?? []),
  );
  return rows.map((row) => {
    const video = videos.get(row.transcription_id ?? "");
    return {
      ...representDelivery(row),
      video: video ? { id: video.id, filename: uploadedFileName(video.metadata) } : null,
    };
  });
}

async function requestsOf(
  deps: DeliveryDeps,
  endpoint: WebhookEndpointRow,
  delivery: DeliveryWithAttempts,
): Promise<AttemptRequestView[]> {
  const event = await findEvent(deps.db, delivery.event_id);
  if (!event) return [];
  const { storage } = deps;
  const findSubject = async (id: string) => (await findEventSubjects(deps.db, [id]))[0];
  const requests: AttemptRequestView[] = [];
  for (const { number, attempted_at: at } of delivery.made) {
    const sent = await renderRequest({ storage, findSubject }, event, endpoint, {
      at,
      secrets: secretsThen(endpoint, at),
    });
    if (!sent) continue;
    requests.push({ ...sent, number, headers: { ...sent.headers, ...constantHeaders(deps.version) } });
  }
  return requests;
}
