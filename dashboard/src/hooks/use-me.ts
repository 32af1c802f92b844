import type { MeView } from "@subtext/server/admin/contract/operator";
import { useSuspenseQuery } from "@tanstack/react-query";
import { meQuery } from "../admin-client/queries.ts";

/** Returns the signed-in operator. Use it only on pages below the signed-in route. */
export function useMe(): MeView & { isOwner: boolean } {
  const { data } = useSuspenseQuery(meQuery);
  return { ...data, isOwner: data.role === "owner" };
}
