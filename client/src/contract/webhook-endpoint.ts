import { type Static, Type } from "typebox";
import { PAGE_QUERY, pageOf } from "./page.ts";
import { nullable, oneOf, timestamp } from "./values.ts";
import { EVENT_TYPES, TEST_EVENT_TYPE } from "./webhook.ts";

const url = Type.String({
  maxLength: 2048,
  description:
    "HTTPS URL without a user name, password or fragment; private networks are not allowed by default",
});
const eventTypes = Type.Array(oneOf(EVENT_TYPES), {
  minItems: 1,
  uniqueItems: true,
  description: "Event types to send",
});
const metadata = Type.Record(Type.String(), Type.Unknown(), {
  description: "Any JSON object of at most 4 KiB; included in every event",
});

export const WebhookEndpoint = Type.Object(
  {
    id: Type.String({ description: "Webhook endpoint ID" }),
    environmentId: Type.String({ description: "ID of the environment whose events are sent" }),
    url,
    eventTypes,
    metadata,
    enabled: Type.Boolean({ description: "False if the endpoint receives no events" }),
    disabledAt: nullable(timestamp(), "Null while enabled"),
    disabledReason: nullable(
      Type.String(),
      "Human-readable message: who disabled it and why; null while enabled",
    ),
    failingSince: nullable(
      timestamp(),
      "Time of the first failure since the last success; null if no attempt has failed since then",
    ),
    previousSecretExpiresAt: nullable(
      timestamp(),
      "Deliveries are also signed with the previous secret until then; null if there is none",
    ),
    createdAt: timestamp(),
  },
  { $id: "WebhookEndpoint", additionalProperties: false },
);

export const WebhookEndpointWithSecret = Type.Object(
  {
    ...WebhookEndpoint.properties,
    secret: Type.String({
      description: "Signs every delivery (`whsec_…`); the API returns it only in this response",
    }),
  },
  { $id: "WebhookEndpointWithSecret", additionalProperties: false },
);

export const WebhookEndpointPage = pageOf("WebhookEndpointPage", WebhookEndpoint);

export const WebhookEndpointListQuery = Type.Object(PAGE_QUERY);

export const NewWebhookEndpoint = Type.Object(
  {
    url,
    eventTypes: Type.Optional(
      Type.Array(oneOf(EVENT_TYPES), {
        minItems: 1,
        uniqueItems: true,
        description: "Only the completed event by default",
      }),
    ),
    metadata: Type.Optional(metadata),
  },
  { $id: "NewWebhookEndpoint", additionalProperties: false },
);

export const WebhookEndpointChange = Type.Object(
  {
    url: Type.Optional(url),
    eventTypes: Type.Optional(eventTypes),
    metadata: Type.Optional(metadata),
    enabled: Type.Optional(Type.Boolean({ description: "True re-enables the endpoint; false disables it" })),
  },
  {
    $id: "WebhookEndpointChange",
    additionalProperties: false,
    description: "Omitted fields keep their values",
  },
);

export const DELIVERY_STATUSES = ["pending", "succeeded", "failed", "canceled"] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

export const DeliveryAttempt = Type.Object(
  {
    number: Type.Integer({ minimum: 1 }),
    attemptedAt: timestamp(),
    latencyMs: Type.Integer({
      minimum: 0,
      description: "Milliseconds until response headers or failure",
    }),
    statusCode: nullable(Type.Integer(), "HTTP status; null if there was no response"),
    failure: nullable(
      Type.String(),
      "Why there was no response: `<reason>: <message>`, where the reason is `timeout`, `refused_address`, `dns`, `connection`, `tls`, or `protocol`; null if there was a response",
    ),
    responseStart: nullable(
      Type.String(),
      "First 1 KiB of the response body as text; null if there was no response",
    ),
  },
  { $id: "DeliveryAttempt", additionalProperties: false },
);

/** Redelivery can add any number of attempts, so responses contain only the latest. */
export const MAX_LISTED_ATTEMPTS = 50;

export const Delivery = Type.Object(
  {
    id: Type.String({ description: "Delivery ID" }),
    webhookEndpointId: Type.String(),
    eventId: Type.String({ description: "`webhook-id` of every attempt" }),
    eventType: oneOf([...EVENT_TYPES, TEST_EVENT_TYPE]),
    transcriptionId: nullable(Type.String(), "Null for a test event"),
    status: oneOf(
      DELIVERY_STATUSES,
      "`failed` after the last attempt of the schedule; `canceled` if the endpoint was disabled before the next attempt",
    ),
    createdAt: timestamp(),
    nextAttemptAt: nullable(timestamp(), "Null unless pending"),
    finishedAt: nullable(timestamp(), "Null while pending"),
    attempts: Type.Array(DeliveryAttempt, {
      maxItems: MAX_LISTED_ATTEMPTS,
      description: `The latest ${MAX_LISTED_ATTEMPTS} attempts, oldest first`,
    }),
  },
  { $id: "Delivery", additionalProperties: false },
);

export const DeliveryPage = pageOf("DeliveryPage", Delivery);

export const DeliveryListQuery = Type.Object({
  ...PAGE_QUERY,
  status: Type.Optional(oneOf(DELIVERY_STATUSES, "Return only deliveries with this status")),
});

export const MAX_REDELIVERIES = 500;

export const RedeliverFailed = Type.Object(
  { since: timestamp("Resend deliveries created at or after this time, ISO 8601") },
  { $id: "RedeliverFailed", additionalProperties: false },
);

export const Redelivering = Type.Object(
  {
    count: Type.Integer({ minimum: 0, description: "Deliveries resent by this call" }),
    hasMore: Type.Boolean({
      description: `True if there are more than the ${MAX_REDELIVERIES} that one call resends; call again`,
    }),
  },
  { $id: "Redelivering", additionalProperties: false },
);

export type WebhookEndpoint = Static<typeof WebhookEndpoint>;
export type WebhookEndpointWithSecret = Static<typeof WebhookEndpointWithSecret>;
export type WebhookEndpointPage = Static<typeof WebhookEndpointPage>;
export type NewWebhookEndpoint = Static<typeof NewWebhookEndpoint>;
export type WebhookEndpointChange = Static<typeof WebhookEndpointChange>;
export type DeliveryAttempt = Static<typeof DeliveryAttempt>;
export type Delivery = Static<typeof Delivery>;
export type DeliveryPage = Static<typeof DeliveryPage>;
export type Redelivering = Static<typeof Redelivering>;
