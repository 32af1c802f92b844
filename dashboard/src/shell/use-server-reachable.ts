import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { meQuery } from "../admin-client/queries.ts";
import { isUnreachable, ProblemError } from "../admin-client/request.ts";

const ASK_AGAIN_EVERY_MS = 3_000;

/**
 * Whether the service answered what was asked last. While it does not it is asked again and again, and what the
 * page shows is read anew once it does.
 */
export function useReachable(): boolean {
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
        // A refusal is a response too; an aborted request says nothing.
        else if (action.error instanceof ProblemError) setReachable(true);
      }),
    [queryClient],
  );

  useEffect(() => {
    const ask = () => queryClient.invalidateQueries(meQuery);
    addEventListener("offline", ask);
    return () => removeEventListener("offline", ask);
  }, [queryClient]);

  useEffect(() => {
    if (isReachable) return;
    const timer = setInterval(() => queryClient.refetchQueries(meQuery), ASK_AGAIN_EVERY_MS);
    return () => {
      clearInterval(timer);
      queryClient.invalidateQueries();
    };
  }, [isReachable, queryClient]);

  return isReachable;
}
