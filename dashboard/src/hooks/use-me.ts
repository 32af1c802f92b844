import type { MeView } from "@subtext/server/admin/contract/operator";
import type { OperatorRole } from "@subtext/server/db/enums";
import { useSuspenseQuery } from "@tanstack/react-query";
import { meQuery } from "../admin-client/queries.ts";
import { useEnvironment } from "./use-environment.ts";

/** Returns the signed-in operator. Use it only on pages below the signed-in route. */
export function useMe(): MeView {
  return useSuspenseQuery(meQuery).data;
}

/** Returns the operator's role in the page's environment. Use it only below the environment's route. */
export function useRole(): OperatorRole {
  const { id } = useEnvironment();
  return roleIn(useMe(), id) ?? "viewer";
}

/** Returns null if the operator has no role in the environment. */
export function roleIn({ role, environments }: MeView, environmentId: string): OperatorRole | null {
  return role ?? environments.find(({ id }) => id === environmentId)?.role ?? null;
}

/**
 * Returns whether the operator may open a page.
 * @param environmentId the page's environment, if it has one
 * @param roles the roles that may open the page; undefined for all
 */
export function mayOpen(
  me: MeView,
  environmentId: string | null | undefined,
  roles: readonly OperatorRole[] | undefined,
): boolean {
  if (!roles) return true;
  const role = environmentId ? roleIn(me, environmentId) : me.role;
  return role !== null && roles.includes(role);
}
