import { PAGE_QUERY } from "@subtext/client/contract/page";
import { PERMISSIONS } from "@subtext/client/contract/permission";
import { Type } from "typebox";
import { API_KEY_STATES, MAX_RETENTION_DAYS, MAX_WEIGHT, RETENTION_DELETES } from "../../../db/enums.ts";
import type { ApiKeyPageView, NewApiKeyView } from "../api-key.ts";
import type { EnvironmentSummaryView, EnvironmentView, RetentionEffectView } from "../environment.ts";
import { json, type OperationTable } from "../operation.ts";
import { EVERY_ROLE, OWNERS, VIEWERS } from "./callers.ts";
import { strict, WITHOUT_NUL } from "./schema-options.ts";

const Retention = Type.Object(
  {
    days: Type.Integer({ minimum: 1, maximum: MAX_RETENTION_DAYS }),
    deletes: Type.Enum(RETENTION_DELETES),
  },
  strict,
);

export const ENVIRONMENT_OPERATIONS = {
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
        allowedOrigins: Type.Optional(Type.Array(Type.String({ maxLength: 300 }), { maxItems: 100 })),
        retention: Type.Optional(Type.Union([Retention, Type.Null()])),
        weight: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_WEIGHT })),
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
} as const satisfies OperationTable;
