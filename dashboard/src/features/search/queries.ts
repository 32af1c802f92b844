import { infiniteQueryOptions, keepPreviousData } from "@tanstack/react-query";
import { ProblemError, request } from "../../admin-client/request.ts";

/** What of a search stands in the page's address. */
export interface SearchAddress {
  q?: string;
  language?: string;
}

/** Takes from an address what is meant; a query of digits alone comes as a number. */
export function readSearchAddress({ q, language }: Record<string, unknown>): SearchAddress {
  const text = typeof q === "string" || typeof q === "number" || typeof q === "boolean" ? String(q) : "";
  return {
    ...(text.trim() !== "" && { q: text }),
    ...(typeof language === "string" && /^[a-z]{2,3}$/.test(language) && { language }),
  };
}

export function searchQuery(environmentId: string, { q = "", language }: SearchAddress) {
  return infiniteQueryOptions({
    queryKey: ["search", environmentId, q, language ?? null] as const,
    queryFn: ({ pageParam, signal }) =>
      request("GET /environments/:environment/search", {
        params: { environment: environmentId },
        query: { q, language, cursor: pageParam ?? undefined },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
    enabled: q !== "",
    // While somebody types, the last answer stays until the next one is there.
    placeholderData: keepPreviousData,
    // What the service refuses it refuses again.
    retry: (failures, error) => failures < 2 && !(error instanceof ProblemError && error.status < 500),
    staleTime: 10_000,
  });
}
