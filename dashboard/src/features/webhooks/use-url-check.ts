import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { request } from "../../admin-client/request.ts";

const QUIET_MS = 300;

/** Why the service refuses this URL, asked as soon as nobody types; null where it does not, or is still asked. */
export function useUrlVerdict(url: string): string | null {
  const [settled, setSettled] = useState(url);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(url), QUIET_MS);
    return () => clearTimeout(timer);
  }, [url]);
  const { data } = useQuery({
    queryKey: ["webhook-url-verdict", settled],
    queryFn: ({ signal }) => request("POST /webhook-url-verdicts", { body: { url: settled }, signal }),
    enabled: settled !== "",
    staleTime: 60_000,
  });
  return settled === url ? (data?.reason ?? null) : null;
}
