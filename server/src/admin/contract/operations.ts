import { PAGE_QUERY } from "@subtext/client/contract/page";
import { PERMISSIONS } from "@subtext/client/contract/permission";
import {
  MAX_TRANSCRIPT_BYTES,
  type SavedWords,
  type TranscriptWords,
  TranscriptWordsChange,
} from "@subtext/client/contract/transcript-words";
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
  SORT_DIRECTIONS,
  VIDEO_SORTS,
  VIDEO_STATES,
} from "../../db/enums.ts";
import type { ApiKeyPageView, NewApiKeyView } from "./api-key.ts";
import type { AuditActorView, AuditPageView } from "./audit.ts";
import { type BulkOperationView, MAX_SELECTED_VIDEOS, type VideoMatchesView } from "./bulk-operation.ts";
import type { EnvironmentSummaryView, EnvironmentView, RetentionEffectView } from "./environment.ts";
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
import type { RevisionView, RevisionWordsView } from "./transcript-words.ts";
import type { QueueView, TranscriptionView } from "./transcription.ts";
import {
  MAX_VIDEO_TEXT,
  type TranscriptionSummaryView,
  type UploadOfferView,
  type VideoCountsView,
  type VideoFilterValuesView,
  type VideoPageView,
  type VideoView,
} from "./video.ts";
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

/** Exactly one of the two must be given. `environment` is an id or a name. */
const ACCESS = {
  role: Type.Optional(Type.Enum(OPERATOR_ROLES)),
  environments: Type.Optional(
    Type.Array(
      Type.Object(
        {
          environment: Type.String({ maxLength: 200, pattern: WITHOUT_NUL }),
          role: Type.Enum(OPERATOR_ROLES),
        },
        strict,
      ),
      { minItems: 1, maxItems: 1000 },
    ),
  ),
};

const VIDEO_FILTER = {
  state: Type.Optional(Type.Enum(VIDEO_STATES)),
  language: Type.Optional(Type.String({ pattern: "^[A-Za-z-]{2,20}$" })),
  failure: Type.Optional(Type.String({ pattern: "^[a-z_]{1,64}$" })),
  /** The upload began at this time or later. */
  from: Type.Optional(Type.String({ format: "date-time" })),
  /** The upload began before this time. */
  until: Type.Optional(Type.String({ format: "date-time" })),
  /** Part of a name or of other metadata, or a whole id. */
  text: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_VIDEO_TEXT, pattern: WITHOUT_NUL })),
};

const VIDEO_ID = "^[A-Za-z0-9_]{1,64}$";
/** Either listed videos, of which those of other environments are ignored, or all that match a filter. */
const VIDEO_SELECTION = Type.Union([
  Type.Object(
    {
      ids: Type.Array(Type.String({ pattern: VIDEO_ID }), { minItems: 1, maxItems: MAX_SELECTED_VIDEOS }),
    },
    strict,
  ),
  Type.Object({ matching: Type.Object(VIDEO_FILTER, strict) }, strict),
]);

/** The response body `{}`. */
type Empty = Record<string, never>;

const EVERY_ROLE = OPERATOR_ROLES;
/** Roles that may change videos. */
const EDITORS = ["owner", "editor"] as const;
/** Roles that may read API keys, webhooks, settings and operators. */
export const VIEWERS = ["owner", "viewer"] as const;
const OWNERS = ["owner"] as const;

/**
 * The operations of the admin API that the dashboard may call. The routes, their authorization tests and the types of
 * the dashboard's client are derived from this table. `:environment` is an id or a name. The dashboard imports only the
 * type, so that its bundle contains no schemas.
 */
export const OPERATIONS = {
  // Setup, sign-in and sessions
  "GET /setup": { callers: "anyone", response: json<SetUpView>() },
  "POST /setup": {
    callers: "anyone",
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
        engine: Type.Optional(Type.String({ maxLength: 100 })),
      },
      strict,
    ),
    status: 201,
    response: json<Empty>(),
  },
  "POST /join/look-up": {
    callers: "anyone",
    isGuessable: true,
    body: Type.Object({ token: LinkToken }, strict),
    response: json<InvitationView>(),
  },
  "POST /join": {
    callers: "anyone",
    isGuessable: true,
    body: Type.Object({ token: LinkToken, name: PersonName, password: Password }, strict),
    status: 201,
    response: json<Empty>(),
  },
  "POST /auth/sign-in/email": {
    callers: "anyone",
    isGuessable: true,
    body: Type.Object({ email: Type.String(), password: Type.String() }),
    response: json<Empty>(),
  },
  "POST /auth/change-password": {
    callers: "session",
    isGuessable: true,
    body: Type.Object({
      currentPassword: Type.String(),
      newPassword: Type.String(),
      revokeOtherSessions: Type.Optional(Type.Boolean()),
    }),
    response: json<Empty>(),
  },
  "POST /auth/sign-out": { callers: "anyone", response: json<Empty>() },
  "GET /auth/sessions": { callers: "session", response: json<{ data: SessionView[] }>() },
  /** Ends all sessions except the current one. */
  "DELETE /auth/sessions": { callers: "session", status: 204, response: json<void>() },
  "DELETE /auth/sessions/:id": { callers: "session", status: 204, response: json<void>() },
  "GET /me": { callers: "session", response: json<MeView>() },

  // Operators and the audit log
  "GET /operators": {
    callers: VIEWERS,
    roleIn: "all environments",
    response: json<{ data: OperatorView[] }>(),
  },
  "PATCH /operators/:id": {
    callers: OWNERS,
    roleIn: "all environments",
    body: Type.Object(ACCESS, strict),
    response: json<OperatorView>(),
  },
  "DELETE /operators/:id": {
    callers: OWNERS,
    roleIn: "all environments",
    status: 204,
    response: json<void>(),
  },
  "GET /invitations": {
    callers: VIEWERS,
    roleIn: "all environments",
    response: json<{ data: InvitationView[] }>(),
  },
  "POST /invitations": {
    callers: OWNERS,
    roleIn: "all environments",
    body: Type.Object({ email: Email, ...ACCESS }, strict),
    status: 201,
    response: json<NewInvitationView>(),
  },
  "DELETE /invitations/:id": {
    callers: OWNERS,
    roleIn: "all environments",
    status: 204,
    response: json<void>(),
  },
  // Only for owners, because the log contains the IP addresses of operators.
  "GET /audit": {
    callers: OWNERS,
    roleIn: "all environments",
    query: Type.Object({
      ...PAGE_QUERY,
      action: Type.Optional(Type.Enum(AUDIT_ACTIONS)),
      actorKind: Type.Optional(Type.Enum(ACTOR_KINDS)),
      /** An operator's or an API key's id. */
      actorId: Type.Optional(Type.String({ pattern: "^[A-Za-z0-9_]{1,64}$" })),
    }),
    response: json<AuditPageView>(),
  },
  "GET /audit/operators": {
    callers: OWNERS,
    roleIn: "all environments",
    response: json<{ data: AuditActorView[] }>(),
  },

  // Environments
  // Includes settings only for environments in which the operator's role may read them.
  "GET /environments": {
    callers: EVERY_ROLE,
    roleIn: "any environment",
    response: json<{ data: (EnvironmentSummaryView | EnvironmentView)[] }>(),
  },
  "POST /environments": {
    callers: OWNERS,
    roleIn: "all environments",
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
    callers: OWNERS,
    body: Type.Object(
      {
        aiTranscription: Type.Optional(Type.Boolean()),
        /** Origins of pages that may upload; `*` allows any. */
        allowedOrigins: Type.Optional(Type.Array(Type.String({ maxLength: 300 }), { maxItems: 100 })),
        /** Null if everything is kept. */
        retention: Type.Optional(Type.Union([Retention, Type.Null()])),
        weight: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_WEIGHT })),
        /** Names and terms that may be spoken, most important first. */
        vocabulary: Type.Optional(Type.Array(Type.String({ maxLength: 300 }), { maxItems: 1_000 })),
      },
      { ...strict, minProperties: 1 },
    ),
    response: json<EnvironmentView>(),
  },
  "GET /environments/:environment/retention-effect": {
    callers: VIEWERS,
    query: Retention,
    response: json<RetentionEffectView>(),
  },

  // API keys
  "GET /environments/:environment/api-keys": {
    callers: VIEWERS,
    // Without a state, the response contains all keys, oldest first.
    query: Type.Object({ ...PAGE_QUERY, state: Type.Optional(Type.Enum(API_KEY_STATES)) }),
    response: json<ApiKeyPageView>(),
  },
  "POST /environments/:environment/api-keys": {
    callers: OWNERS,
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
  "DELETE /api-keys/:id": { callers: OWNERS, status: 204, response: json<void>() },

  // Webhook endpoints and deliveries
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

  // Transcriptions: `:id` is the id of a transcription or of its video
  "GET /environments/:environment/transcriptions": {
    callers: EVERY_ROLE,
    query: Type.Object({ status: Type.Optional(Type.Enum(TRANSCRIPTION_STATUSES)) }),
    response: json<{ data: (TranscriptionSummaryView & QueueView)[] }>(),
  },
  "GET /transcriptions/:id": { callers: EVERY_ROLE, response: json<TranscriptionView>() },
  "POST /transcriptions/:id/reprocess": {
    callers: EDITORS,
    status: 202,
    response: json<TranscriptionView>(),
  },
  "POST /transcriptions/:id/cancel": { callers: EDITORS, response: json<TranscriptionView>() },

  // Videos
  "GET /environments/:environment/videos": {
    callers: EVERY_ROLE,
    query: Type.Object({
      ...VIDEO_FILTER,
      sort: Type.Optional(Type.Enum(VIDEO_SORTS)),
      order: Type.Optional(Type.Enum(SORT_DIRECTIONS)),
      // Contains the name of a video.
      cursor: Type.Optional(Type.String({ maxLength: 2000 })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
    }),
    response: json<VideoPageView>(),
  },
  "GET /environments/:environment/video-filters": {
    callers: EVERY_ROLE,
    response: json<VideoFilterValuesView>(),
  },
  "GET /environments/:environment/video-counts": { callers: EVERY_ROLE, response: json<VideoCountsView>() },
  "POST /environments/:environment/videos": {
    callers: EDITORS,
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
  // Server-sent events. Has no HEAD route, because the response would never end.
  "GET /environments/:environment/videos/changes": { callers: EVERY_ROLE, noHead: true, response: RAW },
  "GET /environments/:environment/videos/:video": { callers: EVERY_ROLE, response: json<VideoDetailView>() },
  "DELETE /environments/:environment/videos/:video": {
    callers: EDITORS,
    status: 204,
    response: json<void>(),
  },
  "POST /environments/:environment/videos/:video/reprocess": {
    callers: EDITORS,
    status: 202,
    response: json<VideoDetailView>(),
  },
  "POST /environments/:environment/videos/:video/cancel": {
    callers: EDITORS,
    response: json<VideoDetailView>(),
  },
  /** Transcribes a copy of the recording as a new video, which the response describes. */
  "POST /environments/:environment/videos/:video/transcribe-as-new": {
    callers: EDITORS,
    status: 201,
    response: json<VideoView>(),
  },
  "GET /environments/:environment/videos/:video/media": {
    callers: EVERY_ROLE,
    noHead: true,
    query: Type.Object({ download: Type.Optional(Type.String()) }),
    response: RAW,
  },
  "HEAD /environments/:environment/videos/:video/media": {
    callers: EVERY_ROLE,
    query: Type.Object({ download: Type.Optional(Type.String()) }),
    response: RAW,
  },
  "GET /environments/:environment/videos/:video/transcript": {
    callers: EVERY_ROLE,
    response: json<TranscriptWordsView>(),
  },
  "GET /environments/:environment/videos/:video/waveform": {
    callers: EVERY_ROLE,
    response: json<WaveformView>(),
  },
  "GET /environments/:environment/videos/:video/poster": { callers: EVERY_ROLE, response: RAW },
  "GET /environments/:environment/videos/:video/captions": { callers: EVERY_ROLE, response: RAW },
  "GET /environments/:environment/videos/:video/files/:format": { callers: EVERY_ROLE, response: RAW },
  /** The transcript with the names of its speakers. The files above do not contain them. */
  "GET /environments/:environment/videos/:video/speaker-files/:format": {
    callers: EVERY_ROLE,
    response: RAW,
  },

  // Corrections. The words have an ETag, which changes with each save.
  "GET /environments/:environment/videos/:video/words": {
    callers: EVERY_ROLE,
    response: json<TranscriptWords>(),
  },
  "PUT /environments/:environment/videos/:video/words": {
    callers: EDITORS,
    needsIfMatch: true,
    body: TranscriptWordsChange,
    maxBodyBytes: MAX_TRANSCRIPT_BYTES,
    response: json<SavedWords>(),
  },
  "GET /environments/:environment/videos/:video/revisions": {
    callers: EVERY_ROLE,
    response: json<{ data: RevisionView[] }>(),
  },
  "GET /environments/:environment/videos/:video/revisions/:revision": {
    callers: EVERY_ROLE,
    response: json<RevisionWordsView>(),
  },
  "POST /environments/:environment/videos/:video/revisions/:revision/restore": {
    callers: EDITORS,
    needsIfMatch: true,
    response: json<SavedWords>(),
  },

  // Actions on many videos
  "GET /environments/:environment/video-matches": {
    callers: EVERY_ROLE,
    query: Type.Object(VIDEO_FILTER),
    response: json<VideoMatchesView>(),
  },
  "GET /environments/:environment/bulk-operations": {
    callers: EVERY_ROLE,
    response: json<{ data: BulkOperationView[] }>(),
  },
  "POST /environments/:environment/bulk-operations": {
    callers: EDITORS,
    body: Type.Object({ kind: Type.Enum(["retry", "delete"]), videos: VIDEO_SELECTION }, strict),
    status: 202,
    response: json<BulkOperationView>(),
  },
  "POST /environments/:environment/bulk-operations/:operation/cancel": {
    callers: EDITORS,
    response: json<BulkOperationView>(),
  },
  // A selection can be too long for a URL, so a POST prepares the download of transcripts.
  "POST /environments/:environment/downloads": {
    callers: EVERY_ROLE,
    body: Type.Object({ videos: VIDEO_SELECTION }, strict),
    status: 201,
    response: json<BulkOperationView>(),
  },
  /** A ZIP file. Can be requested only once. */
  "GET /environments/:environment/downloads/:operation": {
    callers: EVERY_ROLE,
    noHead: true,
    response: RAW,
  },

  "GET /environments/:environment/search": {
    callers: EVERY_ROLE,
    query: Type.Object({
      q: Type.String({ maxLength: SEARCH_LIMITS.characters }),
      language: Type.Optional(Type.String({ pattern: "^[a-z]{2,3}$" })),
      cursor: Type.Optional(Type.String({ maxLength: 200 })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50 })),
    }),
    response: json<SearchPageView>(),
  },

  // System
  "GET /system": { callers: EVERY_ROLE, roleIn: "all environments", response: json<SystemView>() },
  "GET /doctor": {
    callers: EVERY_ROLE,
    roleIn: "all environments",
    response: json<{ data: FindingView[] }>(),
  },
  "POST /file-check": { callers: OWNERS, roleIn: "all environments", response: json<{ videos: number }>() },
} as const satisfies OperationTable;

export type Operations = typeof OPERATIONS;
