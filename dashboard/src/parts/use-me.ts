import { useSuspenseQuery } from "@tanstack/react-query";
import type { MeView } from "../contract/operator.ts";
import { meQuery } from "../data/queries.ts";

/** Whoever is signed in; below the signed-in route only. */
export function useMe(): MeView & { isOwner: boolean } {
  const { data } = useSuspenseQuery(meQuery);
  return { ...data, isOwner: data.role === "owner" };
}
