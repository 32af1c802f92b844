import { PAGE_QUERY } from "@subtext/client/contract/page";
import { PERMISSIONS } from "@subtext/client/contract/permission";
import { TRANSCRIPTION_STATUSES } from "@subtext/client/contract/transcription";
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
import {
  ACTOR_KINDS,
  API_KEY_STATES,
  AUDIT_ACTIONS,
  MAX_RETENTION_DAYS,
  MAX_WEIGHT,
  OPERATOR_ROLES,
  RETENTION_DELETES,
  VIDEO_STATES,
} from "../../db/enums.ts";
import type { ApiKeyPageView, NewApiKeyView } from "./api-key.ts";
import type { AuditActorView, AuditPageView } from "./audit.ts";
import type { EnvironmentView, RetentionEffectView } from "./environment.ts";
import { json, type OperationTable, RAW } from "./operation.ts";
import type {
  InvitationView,
  MeView,
  NewInvitationView,
  OperatorView,
  SessionView,
  SetUpView,
} from "./operator.ts";
import { SEARCH_LIMITS, type SearchPageView } from "./search.ts";
import type { FindingView, SystemView } from "./system.ts";
import type { TranscriptionView } from "./transcription.ts";
import type { TranscriptionSummaryView, UploadOfferView, VideoCountsView, VideoPageView } from "./video.ts";
import type { TranscriptWordsView, VideoDetailView, WaveformView } from "./video-detail.ts";
import type { DeliveryDetailView, DeliveryPageView, UrlCheckView, WebhookEndpointView } from "./webhook.ts";

const strict = { additionalProperties: false } as const;
/** PostgreSQL cannot store U+0000. */
const WITHOUT_NUL = "^[^\\u0000]*$";

const LinkToken = Type.String({ minLength: 1, maxLength: 200 });
const PersonName = Type.String({ maxLength: 1000 });
const Email = Type.String({ maxLength: 300 });
const Password = Type.String({ maxLength: 1000 });

const Retention = Type.Object(
  {
    days: Type.Integer({ minimum: 1, maximum: MAX_RETENTION_DAYS }),
    deletes: Type.Enum(RETENTION_DELETES),
  },
  strict,
);

/** For `json<Empty>()`: a response that only reports success. */
type Empty = Record<string, never>;

/**
 * Every operation of the admin API that the dashboard may call. The routes, their authorization and its tests, and the
 * types of the dashboard's client are derived from this table. `:environment` is an environment's id or name. The
 * dashboard imports only the type, so that its bundle contains no schemas.
 */
export const OPERATIONS = {
  // Setup, sign-in and sessions
  "GET /setup": { role: "anyone", response: json<SetUpView>() },
  "POST /setup": {
    role: "anyone",
    isGuessable: true,
    body: Type.Object(
      {
        token: LinkToken,
        name: PersonName,
        email: Email,
        password: Password,
        environment: Type.Optional(
          Type.Object({ name: PersonName, aiTranscription: Type.Boolean() }, strict),
        ),
      },
      strict,
    ),
    status: 201,
    response: json<Empty>(),
  },
  "POST /join/look-up": {
    role: "anyone",
    isGuessable: true,
    body: Type.Object({ token: LinkToken }, strict),
    response: json<InvitationView>(),
  },
  "POST /join": {
    role: "anyone",
    isGuessable: true,
    body: Type.Object({ token: LinkToken, name: PersonName, password: Password }, strict),
    status: 201,
    response: json<Empty>(),
  },
  "POST /auth/sign-in/email": {
    role: "anyone",
    isGuessable: true,
    body: Type.Object({ email: Type.String(), password: Type.String() }),
    response: json<Empty>(),
  },
  "POST /auth/change-password": {
    role: "session",
    isGuessable: true,
    body: Type.Object({
      currentPassword: Type.String(),
      newPassword: Type.String(),
      revokeOtherSessions: Type.Optional(Type.Boolean()),
    }),
    response: json<Empty>(),
  },
  "POST /auth/sign-out": { role: "anyone", response: json<Empty>() },
  "GET /auth/sessions": { role: "session", response: json<{ data: SessionView[] }>() },
  /** Ends all sessions except the current one. */
  "DELETE /auth/sessions": { role: "session", status: 204, response: json<void>() },
  "DELETE /auth/sessions/:id": { role: "session", status: 204, response: json<void>() },
  "GET /me": { role: "session", response: json<MeView>() },

  // Operators and the audit log
  "GET /operators": { role: "viewer", response: json<{ data: OperatorView[] }>() },
  "DELETE /operators/:id": { role: "owner", status: 204, response: json<void>() },
  "GET /invitations": { role: "viewer", response: json<{ data: InvitationView[] }>() },
  "POST /invitations": {
    role: "owner",
    body: Type.Object({ email: Email, role: Type.Enum(OPERATOR_ROLES) }, strict),
    status: 201,
    response: json<NewInvitationView>(),
  },
  "DELETE /invitations/:id": { role: "owner", status: 204, response: json<void>() },
  // The log contains the addresses that operators sign in from.
  "GET /audit": {
    role: "owner",
    query: Type.Object({
      ...PAGE_QUERY,
      action: Type.Optional(Type.Enum(AUDIT_ACTIONS)),
      actorKind: Type.Optional(Type.Enum(ACTOR_KINDS)),
      /** An operator's or an API key's id. */
      actorId: Type.Optional(Type.String({ pattern: "^[A-Za-z0-9_]{1,64}$" })),
    }),
    response: json<AuditPageView>(),
  },
  "GET /audit/operators": { role: "owner", response: json<{ data: AuditActorView[] }>() },

  // Environments
  "GET /environments": { role: "viewer", response: json<{ data: EnvironmentView[] }>() },
  "POST /environments": {
    role: "owner",
    body: Type.Object(
      {
        name: Type.String({ maxLength: 200, pattern: WITHOUT_NUL }),
        aiTranscription: Type.Optional(Type.Boolean()),
      },
      strict,
    ),
    status: 201,
    response: json<EnvironmentView>(),
  },
  "PATCH /environments/:environment": {
    role: "owner",
    body: Type.Object(
      {
        aiTranscription: Type.Optional(Type.Boolean()),
        /** Origins of pages that may upload; `*` allows any. */
        allowedOrigins: Type.Optional(Type.Array(Type.String({ maxLength: 300 }), { maxItems: 100 })),
        /** Null if everything is kept. */
        retention: Type.Optional(Type.Union([Retention, Type.Null()])),
        weight: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_WEIGHT })),
      },
      { ...strict, minProperties: 1 },
    ),
    response: json<EnvironmentView>(),
  },
  "GET /environments/:environment/retention-effect": {
    role: "viewer",
    query: Retention,
    response: json<RetentionEffectView>(),
  },

  // API keys
  "GET /environments/:environment/api-keys": {
    role: "viewer",
    // Without a state, the response contains all keys, oldest first.
    query: Type.Object({ ...PAGE_QUERY, state: Type.Optional(Type.Enum(API_KEY_STATES)) }),
    response: json<ApiKeyPageView>(),
  },
  "POST /environments/:environment/api-keys": {
    role: "owner",
    body: Type.Object(
      {
        name: Type.Optional(Type.String({ minLength: 1, maxLength: 100, pattern: WITHOUT_NUL })),
        permissions: Type.Optional(Type.Array(Type.Enum(PERMISSIONS), { minItems: 1, uniqueItems: true })),
        expiresAt: Type.Optional(Type.String({ format: "date-time" })),
      },
      strict,
    ),
    status: 201,
    response: json<NewApiKeyView>(),
  },
  "DELETE /api-keys/:id": { role: "owner", status: 204, response: json<void>() },

  // Webhook endpoints and deliveries
  "GET /environments/:environment/webhook-endpoints": {
    role: "viewer",
    response: json<{ data: WebhookEndpointView[] }>(),
  },
  "POST /environments/:environment/webhook-endpoints": {
    role: "owner",
    body: NewWebhookEndpoint,
    status: 201,
    response: json<WebhookEndpointWithSecret>(),
  },
  "POST /webhook-url-checks": {
    role: "owner",
    body: Type.Object({ url: Type.String() }, strict),
    response: json<UrlCheckView>(),
  },
  "GET /webhook-endpoints/:id": { role: "viewer", response: json<WebhookEndpointView>() },
  "PATCH /webhook-endpoints/:id": {
    role: "owner",
    body: WebhookEndpointChange,
    response: json<WebhookEndpointView>(),
  },
  "DELETE /webhook-endpoints/:id": { role: "owner", status: 204, response: json<void>() },
  // POST rather than GET, because only owners may see the secret and the audit log records each access.
  "POST /webhook-endpoints/:id/reveal-secret": {
    role: "owner",
    response: json<WebhookEndpointWithSecret>(),
  },
  "POST /webhook-endpoints/:id/rotate-secret": {
    role: "owner",
    response: json<WebhookEndpointWithSecret>(),
  },
  "POST /webhook-endpoints/:id/test": { role: "owner", status: 202, response: json<Delivery>() },
  "POST /webhook-endpoints/:id/redeliver-failed": {
    role: "owner",
    body: RedeliverFailed,
    status: 202,
    response: json<Redelivering>(),
  },
  "GET /webhook-endpoints/:id/deliveries": {
    role: "viewer",
    query: Type.Object({
      ...PAGE_QUERY,
      status: Type.Optional(Type.Enum(DELIVERY_STATUSES)),
      event: Type.Optional(Type.Enum([...EVENT_TYPES, TEST_EVENT_TYPE])),
    }),
    response: json<DeliveryPageView>(),
  },
  "GET /webhook-endpoints/:id/deliveries/:delivery": {
    role: "viewer",
    response: json<DeliveryDetailView>(),
  },
  "POST /webhook-endpoints/:id/deliveries/:delivery/redeliver": {
    role: "owner",
    status: 202,
    response: json<Delivery>(),
  },

  // Transcriptions: `:id` is the id of a transcription or of its video
  "GET /environments/:environment/transcriptions": {
    role: "viewer",
    query: Type.Object({ status: Type.Optional(Type.Enum(TRANSCRIPTION_STATUSES)) }),
    response: json<{ data: TranscriptionSummaryView[] }>(),
  },
  "GET /transcriptions/:id": { role: "viewer", response: json<TranscriptionView>() },
  "POST /transcriptions/:id/reprocess": {
    role: "owner",
    status: 202,
    response: json<TranscriptionView>(),
  },

  // Videos
  "GET /environments/:environment/videos": {
    role: "viewer",
    query: Type.Object({
      state: Type.Optional(Type.Enum(VIDEO_STATES)),
      cursor: Type.Optional(Type.String({ maxLength: 200 })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
    }),
    response: json<VideoPageView>(),
  },
  "GET /environments/:environment/video-counts": { role: "viewer", response: json<VideoCountsView>() },
  "POST /environments/:environment/videos": {
    role: "owner",
    body: Type.Object(
      {
        filename: Type.String({ minLength: 1, maxLength: 1000 }),
        sizeBytes: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
      },
      strict,
    ),
    status: 201,
    response: json<UploadOfferView>(),
  },
  // Server-sent events. A response to HEAD would have no body and never end.
  "GET /environments/:environment/videos/changes": { role: "viewer", noHead: true, response: RAW },
  "GET /environments/:environment/videos/:video": { role: "viewer", response: json<VideoDetailView>() },
  "DELETE /environments/:environment/videos/:video": { role: "owner", status: 204, response: json<void>() },
  "POST /environments/:environment/videos/:video/reprocess": {
    role: "owner",
    status: 202,
    response: json<VideoDetailView>(),
  },
  "GET /environments/:environment/videos/:video/media": {
    role: "viewer",
    noHead: true,
    query: Type.Object({ download: Type.Optional(Type.String()) }),
    response: RAW,
  },
  "HEAD /environments/:environment/videos/:video/media": {
    role: "viewer",
    query: Type.Object({ download: Type.Optional(Type.String()) }),
    response: RAW,
  },
  "GET /environments/:environment/videos/:video/transcript": {
    role: "viewer",
    response: json<TranscriptWordsView>(),
  },
  "GET /environments/:environment/videos/:video/waveform": { role: "viewer", response: json<WaveformView>() },
  "GET /environments/:environment/videos/:video/captions": { role: "viewer", response: RAW },
  "GET /environments/:environment/videos/:video/files/:format": { role: "viewer", response: RAW },

  "GET /environments/:environment/search": {
    role: "viewer",
    query: Type.Object({
      q: Type.String({ maxLength: SEARCH_LIMITS.characters }),
      language: Type.Optional(Type.String({ pattern: "^[a-z]{2,3}$" })),
      cursor: Type.Optional(Type.String({ maxLength: 200 })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50 })),
    }),
    response: json<SearchPageView>(),
  },

  // System
  "GET /system": { role: "viewer", response: json<SystemView>() },
  "GET /doctor": { role: "viewer", response: json<{ data: FindingView[] }>() },
  "POST /file-check": { role: "owner", response: json<{ videos: number }>() },
} as const satisfies OperationTable;

export type Operations = typeof OPERATIONS;
