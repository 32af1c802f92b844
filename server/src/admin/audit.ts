import { PAGE_QUERY } from "@subtext/client/contract/page";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import { listAuditOperators, pageOfAuditEntries } from "../audit/queries.ts";
import { ACTOR_KINDS, AUDIT_ACTIONS } from "../db/enums.ts";
import type { AuditEntryRow, Db } from "../db/schema.ts";
import { cutPage, readPageRequest } from "../http/cursor.ts";
import { AppError } from "../lib/errors.ts";
import type { AuditActorView, AuditEntryView, AuditPageView, AuditThingView } from "./contract/audit.ts";

const AuditQuery = Type.Object({
  ...PAGE_QUERY,
  action: Type.Optional(Type.Enum(AUDIT_ACTIONS)),
  actorKind: Type.Optional(Type.Enum(ACTOR_KINDS)),
  /** An operator's or an API key's id. */
  actorId: Type.Optional(Type.String({ pattern: "^[A-Za-z0-9_]{1,64}$" })),
});

/** The audit log; it tells where people sign in from, so it is for owners. */
export function registerAudit(app: FastifyInstance, { db }: { db: Db }): void {
  app.get<{ Querystring: Static<typeof AuditQuery> }>(
    "/audit",
    { schema: { querystring: AuditQuery } },
    async (request): Promise<AuditPageView> => {
      requireOwner(request);
      const { action = null, actorKind = null, actorId = null, ...page } = request.query;
      const { before, limit } = readPageRequest(page);
      const found = await pageOfAuditEntries(
        db,
        { action, actorKind, actorId },
        { before, limit: limit + 1 },
      );
      const { rows, nextCursor } = cutPage(found, limit);
      return { data: rows.map(viewAuditEntry), nextCursor };
    },
  );

  app.get("/audit/operators", async (request): Promise<{ data: AuditActorView[] }> => {
    requireOwner(request);
    const operators = await listAuditOperators(db);
    return { data: operators.map((each) => ({ kind: "operator", ...each })) };
  });
}

/** @throws AppError `owner_required` */
function requireOwner({ actor }: FastifyRequest): void {
  if (actor === "command line" || actor.role === "owner") return;
  throw new AppError("owner_required", "The audit log is for owners.");
}

function viewAuditEntry(row: AuditEntryRow): AuditEntryView {
  return {
    id: row.id,
    at: row.at.toISOString(),
    action: row.action,
    actor: { kind: row.actor_kind, id: row.actor_id, name: row.actor_name },
    address: row.address,
    environment: thing(row.environment_id, row.environment_name),
    subject: thing(row.subject_id, row.subject_name),
    detail: row.detail,
  };
}

function thing(id: string | null, name: string | null): AuditThingView | null {
  return id === null ? null : { id, name };
}
