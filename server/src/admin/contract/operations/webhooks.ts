import { PAGE_QUERY } from "@subtext/client/contract/page";
import { EVENT_TYPES, TEST_EVENT_TYPE } from "@subtext/client/contract/webhook";
import {
  DELIVERY_STATUSES,
  type Delivery,
  NewWebhookEndpoint,
  RedeliverFailed,
  type Redelivering,
  WebhookEndpointChange,
  type WebhookEndpointWithSecret,
} from "@subtext/client/contract/webhook-endpoint";
import { Type } from "typebox";
import { json, type OperationTable } from "../operation.ts";
import type { DeliveryDetailView, DeliveryPageView, UrlCheckView, WebhookEndpointView } from "../webhook.ts";
import { OWNERS, VIEWERS } from "./callers.ts";
import { strict } from "./schema-options.ts";

export const WEBHOOK_OPERATIONS = {
  "GET /environments/:environment/webhook-endpoints": {
    callers: VIEWERS,
    response: json<{ data: WebhookEndpointView[] }>(),
  },
  "POST /environments/:environment/webhook-endpoints": {
    callers: OWNERS,
    body: NewWebhookEndpoint,
    status: 201,
    response: json<WebhookEndpointWithSecret>(),
  },
  "POST /webhook-url-checks": {
    callers: OWNERS,
    roleIn: "any environment",
    body: Type.Object({ url: Type.String() }, strict),
    response: json<UrlCheckView>(),
  },
  "GET /webhook-endpoints/:id": { callers: VIEWERS, response: json<WebhookEndpointView>() },
  "PATCH /webhook-endpoints/:id": {
    callers: OWNERS,
    body: WebhookEndpointChange,
    response: json<WebhookEndpointView>(),
  },
  "DELETE /webhook-endpoints/:id": { callers: OWNERS, status: 204, response: json<void>() },
  // POST rather than GET, because the audit log records each access.
  "POST /webhook-endpoints/:id/reveal-secret": {
    callers: OWNERS,
    response: json<WebhookEndpointWithSecret>(),
  },
  "POST /webhook-endpoints/:id/rotate-secret": {
    callers: OWNERS,
    response: json<WebhookEndpointWithSecret>(),
  },
  "POST /webhook-endpoints/:id/test": { callers: OWNERS, status: 202, response: json<Delivery>() },
  "POST /webhook-endpoints/:id/redeliver-failed": {
    callers: OWNERS,
    body: RedeliverFailed,
    status: 202,
    response: json<Redelivering>(),
  },
  "GET /webhook-endpoints/:id/deliveries": {
    callers: VIEWERS,
    query: Type.Object({
      ...PAGE_QUERY,
      status: Type.Optional(Type.Enum(DELIVERY_STATUSES)),
      event: Type.Optional(Type.Enum([...EVENT_TYPES, TEST_EVENT_TYPE])),
    }),
    response: json<DeliveryPageView>(),
  },
  "GET /webhook-endpoints/:id/deliveries/:delivery": {
    callers: VIEWERS,
    response: json<DeliveryDetailView>(),
  },
  "POST /webhook-endpoints/:id/deliveries/:delivery/redeliver": {
    callers: OWNERS,
    status: 202,
    response: json<Delivery>(),
  },
} as const satisfies OperationTable;
