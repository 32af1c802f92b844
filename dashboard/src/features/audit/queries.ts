import { ACTOR_KINDS, type ActorKind, AUDIT_ACTIONS, type AuditAction } from "@subtext/server/db/enums";
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { request } from "../../admin-client/request.ts";

const PAGE_SIZE = 50;
/** Like the pattern of `actorId` in the admin API, which rejects other IDs. */
const ACTOR = /^\w{1,64}$/;

export interface AuditFilter {
  action?: AuditAction;
  /** A kind of actor, or an operator's ID. */
  by?: string;
}

/** Ignores invalid search parameters. */
export function parseAuditFilter({ action, by }: Record<string, unknown>): AuditFilter {
  const knownAction = AUDIT_ACTIONS.find((value) => value === action);
  return {
    ...(knownAction && { action: knownAction }),
    ...(typeof by === "string" && ACTOR.test(by) && { by }),
  };
}

export function auditQuery({ action, by }: AuditFilter) {
  return infiniteQueryOptions({
    queryKey: ["audit", action, by] as const,
    queryFn: ({ pageParam, signal }) => {
      const actor = by === undefined ? {} : isActorKind(by) ? { actorKind: by } : { actorId: by };
      const query = { limit: PAGE_SIZE, action, ...actor, cursor: pageParam ?? undefined };
      return request("GET /audit", { query, signal });
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
    placeholderData: keepPreviousData,
  });
}

/** The operators whose actions are in the log, including removed ones. */
export const auditOperatorsQuery = queryOptions({
  queryKey: ["audit-operators"],
  queryFn: async ({ signal }) => (await request("GET /audit/operators", { signal })).data,
});

function isActorKind(text: string): text is ActorKind {
  return (ACTOR_KINDS as readonly string[]).includes(text);
}
