import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { request } from "../../admin-client/request.ts";

const DEBOUNCE_MS = 300;

/**
 * Returns why the server rejects this URL; null if the server accepts it or the check is pending. Checks once the user
 * pauses typing.
 */
export function useUrlCheck(url: string): string | null {
  const [debounced, setDebounced] = useState(url);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(url), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [url]);
  const { data } = useQuery({
    queryKey: ["webhook-url-check", debounced],
    queryFn: ({ signal }) => request("POST /webhook-url-checks", { body: { url: debounced }, signal }),
    enabled: debounced !== "",
    staleTime: 60_000,
  });
  return debounced === url ? (data?.reason ?? null) : null;
}
