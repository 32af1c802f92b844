import { infiniteQueryOptions, keepPreviousData } from "@tanstack/react-query";
import { request } from "../../admin-client/request.ts";

export interface SearchParams {
  q?: string;
  language?: string;
}

/** Ignores invalid search parameters. The router has already parsed queries such as `2026` and `true` as JSON. */
export function parseSearchParams({ q, language }: Record<string, unknown>): SearchParams {
  const text = typeof q === "string" || typeof q === "number" || typeof q === "boolean" ? String(q) : "";
  return {
    ...(text.trim() !== "" && { q: text }),
    ...(typeof language === "string" && /^[a-z]{2,3}$/.test(language) && { language }),
  };
}

export function searchQuery(environmentId: string, { q = "", language }: SearchParams) {
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
    // While the user types, show the previous results until the next ones arrive.
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  });
}
