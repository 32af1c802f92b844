import { PAGE_QUERY } from "@subtext/client/contract/page";
import { Type } from "typebox";
import { ACTOR_KINDS, AUDIT_ACTIONS, OPERATOR_ROLES } from "../../../db/enums.ts";
import type { AuditActorView, AuditPageView } from "../audit.ts";
import { type Empty, json, type OperationTable } from "../operation.ts";
import type {
  InvitationView,
  MeView,
  NewInvitationView,
  OperatorView,
  SessionView,
  SetupView,
} from "../operator.ts";
import { OWNERS, VIEWERS } from "./callers.ts";
import { strict, WITHOUT_NUL } from "./schema-options.ts";

const LinkToken = Type.String({ minLength: 1, maxLength: 200 });
const PersonName = Type.String({ maxLength: 1000 });
const Email = Type.String({ maxLength: 300 });
const Password = Type.String({ maxLength: 1000 });

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

export const OPERATOR_OPERATIONS = {
  // Setup, sign-in and sessions
  "GET /setup": { callers: "anyone", response: json<SetupView>() },
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
      actorId: Type.Optional(Type.String({ pattern: "^[A-Za-z0-9_]{1,64}$" })),
    }),
    response: json<AuditPageView>(),
  },
  "GET /audit/operators": {
    callers: OWNERS,
    roleIn: "all environments",
    response: json<{ data: AuditActorView[] }>(),
  },
} as const satisfies OperationTable;
