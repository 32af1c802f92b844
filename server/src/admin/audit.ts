import { listAuditOperators, pageOfAuditEvents } from "../audit/queries.ts";
import type { Db } from "../db/schema.ts";
import type { AuditEventRow } from "../db/tables/operators.ts";
import { cutPage, readPageRequest } from "../http/cursor.ts";
import type { AuditEventView, AuditResourceView } from "./contract/audit.ts";
import { defineHandlers } from "./operation.ts";

export function auditHandlers({ db }: { db: Db }) {
  return defineHandlers({
    "GET /audit": async ({ query }) => {
      const { action = null, actorKind = null, actorId = null, ...page } = query;
      const { before, limit } = readPageRequest("audit", page);
      const filter = { action, actorKind, actorId };
      const found = await pageOfAuditEvents(db, filter, { before, limit: limit + 1 });
      const { rows, nextCursor } = cutPage(found, limit);
      return { data: rows.map(toAuditEventView), nextCursor };
    },

    "GET /audit/operators": async () => {
      const operators = await listAuditOperators(db);
      return { data: operators.map((operator) => ({ kind: "operator" as const, ...operator })) };
    },
  });
}

function toAuditEventView(row: AuditEventRow): AuditEventView {
  return {
    id: row.id,
    at: row.at.toISOString(),
    action: row.action,
    actor: { kind: row.actor_kind, id: row.actor_id, name: row.actor_name },
    address: row.address,
    environment: toResourceView(row.environment_id, row.environment_name),
    subject: toResourceView(row.subject_id, row.subject_name),
    detail: row.detail,
  };
}

function toResourceView(id: string | null, name: string | null): AuditResourceView | null {
  return id === null ? null : { id, name };
}
