import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { meQuery } from "../admin-client/queries.ts";
import { isUnreachable, ProblemError } from "../admin-client/request.ts";

const RETRY_MS = 3_000;

/** Returns whether the server is reachable. If it is not, retries until it responds, then refetches the page's data. */
export function useServerReachable(): boolean {
  const queryClient = useQueryClient();
  const [isReachable, setReachable] = useState(true);

  useEffect(
    () =>
      queryClient.getQueryCache().subscribe((event) => {
        if (event.type !== "updated") return;
        const { action } = event;
        if (action.type === "success") setReachable(true);
        else if (!("error" in action)) return;
        else if (isUnreachable(action.error)) setReachable(false);
        // A problem document is a response, too. Other errors, such as an abort, do not show that the server responded.
        else if (action.error instanceof ProblemError) setReachable(true);
      }),
    [queryClient],
  );

  useEffect(() => {
    const check = () => queryClient.invalidateQueries(meQuery);
    addEventListener("offline", check);
    return () => removeEventListener("offline", check);
  }, [queryClient]);

  useEffect(() => {
    if (isReachable) return;
    const timer = setInterval(() => queryClient.refetchQueries(meQuery), RETRY_MS);
    return () => {
      clearInterval(timer);
      queryClient.invalidateQueries();
    };
  }, [isReachable, queryClient]);

  return isReachable;
}
