import type { AuditActorView, AuditPageView } from "@subtext/server/admin/contract/audit";
import { ACTOR_KINDS, type ActorKind, AUDIT_ACTIONS, type AuditAction } from "@subtext/server/db/enums";
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { request } from "../../admin-client/request.ts";

const PAGE_SIZE = 50;

/** What of the audit log is shown; what is left out means all. */
export interface AuditFilter {
  action?: AuditAction;
  /** A kind of actors, or an operator's id. */
  by?: string;
}

/** As it stands in the page's address; whatever else stands there is left aside. */
export function readAuditFilter({ action, by }: Record<string, unknown>): AuditFilter {
  const known = AUDIT_ACTIONS.find((each) => each === action);
  return {
    ...(known && { action: known }),
    ...(typeof by === "string" && /^\w{1,64}$/.test(by) && { by }),
  };
}

export function auditQuery({ action, by }: AuditFilter) {
  return infiniteQueryOptions({
    queryKey: ["audit", action, by] as const,
    queryFn: ({ pageParam, signal }) => {
      const query = new URLSearchParams({ limit: String(PAGE_SIZE) });
      if (action !== undefined) query.set("action", action);
      if (by !== undefined) query.set(isActorKind(by) ? "actorKind" : "actorId", by);
      if (pageParam !== null) query.set("cursor", pageParam);
      return request<AuditPageView>("GET", `/audit?${query}`, { signal });
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
    placeholderData: keepPreviousData,
  });
}

/** Who is told of in the log, removed operators among them. */
export const auditOperatorsQuery = queryOptions({
  queryKey: ["audit-operators"],
  queryFn: async ({ signal }) =>
    (await request<{ data: AuditActorView[] }>("GET", "/audit/operators", { signal })).data,
});

function isActorKind(text: string): text is ActorKind {
  return (ACTOR_KINDS as readonly string[]).includes(text);
}
