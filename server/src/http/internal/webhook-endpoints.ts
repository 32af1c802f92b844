import { EVENT_TYPES } from "@subtext/client/contract/webhook";
import type { Delivery } from "@subtext/client/contract/webhook-endpoint";
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import type { Clock } from "../../clock.ts";
import { listDeliveries } from "../../db/events.ts";
import type { Db, WebhookEndpointRow } from "../../db/schema.ts";
import {
  deleteWebhookEndpoint,
  findWebhookEndpoint,
  listWebhookEndpoints,
} from "../../db/webhook-endpoints.ts";
import { getEnvironment } from "../../environments.ts";
import { AppError } from "../../errors.ts";
import { isPlausibleId } from "../../ids.ts";
import { representDelivery } from "../../representations.ts";
import { createWebhookEndpoint } from "../../webhooks/endpoints.ts";
import type { EndpointPolicy } from "../../webhooks/guard-url.ts";
import {
  type NewWebhookEndpointView,
  viewWebhookEndpoint,
  type WebhookEndpointView,
} from "./representations.ts";

const LATEST_DELIVERIES = 50;

const NewWebhookEndpoint = Type.Object(
  {
    url: Type.String(),
    eventTypes: Type.Optional(Type.Array(Type.Enum(EVENT_TYPES), { minItems: 1, uniqueItems: true })),
    metadata: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  { additionalProperties: false },
);

export function registerWebhookEndpoints(
  app: FastifyInstance,
  { db, clock, policy }: { db: Db; clock: Clock; policy: EndpointPolicy },
): void {
  app.get<{ Params: { environment: string } }>(
    "/environments/:environment/webhook-endpoints",
    async (request): Promise<{ data: WebhookEndpointView[] }> => {
      const environment = await getEnvironment(db, request.params.environment);
      const rows = await listWebhookEndpoints(db, environment.id);
      return { data: rows.map(viewWebhookEndpoint) };
    },
  );

  app.post<{ Params: { environment: string }; Body: Static<typeof NewWebhookEndpoint> }>(
    "/environments/:environment/webhook-endpoints",
    { schema: { body: NewWebhookEndpoint } },
    async (request, reply): Promise<NewWebhookEndpointView> => {
      const environment = await getEnvironment(db, request.params.environment);
      const created = await createWebhookEndpoint(
        { db, clock, policy },
        { environmentId: environment.id, ...request.body },
      );
      request.log.info({ endpointId: created.id, environmentId: environment.id }, "webhook endpoint created");
      reply.code(201);
      return { ...viewWebhookEndpoint(created), secret: created.secret };
    },
  );

  app.delete<{ Params: { id: string } }>("/webhook-endpoints/:id", async (request, reply) => {
    const { id } = await getEndpoint(db, request.params.id);
    await deleteWebhookEndpoint(db, id);
    request.log.info({ endpointId: id }, "webhook endpoint deleted");
    return await reply.code(204).send();
  });

  app.get<{ Params: { id: string } }>(
    "/webhook-endpoints/:id/deliveries",
    async (request): Promise<{ data: Delivery[] }> => {
      const { id } = await getEndpoint(db, request.params.id);
      const deliveries = await listDeliveries(db, id, LATEST_DELIVERIES);
      return { data: deliveries.map(representDelivery) };
    },
  );
}

/** @throws AppError `webhook_endpoint_not_found` */
async function getEndpoint(db: Db, id: string): Promise<WebhookEndpointRow> {
  const row = isPlausibleId(id) ? await findWebhookEndpoint(db, id) : undefined;
  if (!row) throw new AppError("webhook_endpoint_not_found", "There is no webhook endpoint with this id.");
  return row;
}
