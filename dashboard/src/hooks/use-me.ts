import type { MeView } from "@subtext/server/admin/contract/operator";
import { useSuspenseQuery } from "@tanstack/react-query";
import { meQuery } from "../admin-client/queries.ts";

/** The signed-in operator. Only for pages below the signed-in route. */
export function useMe(): MeView & { isOwner: boolean } {
  const { data } = useSuspenseQuery(meQuery);
  return { ...data, isOwner: data.role === "owner" };
}
