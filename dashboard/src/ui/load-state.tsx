import { useQueryClient } from "@tanstack/react-query";
import { useLayoutEffect, useRef } from "react";
import { isTemporary, isUnreachable } from "../admin-client/request.ts";
import { ui as texts } from "../messages/en/ui.ts";
import { Button, ErrorNotice } from "./forms/controls.tsx";
import css from "./page.module.css";
import { Loading } from "./page.tsx";

interface LoadableQuery {
  data: unknown;
  error: unknown;
  isFetching: boolean;
  /** How many times the query has failed. Not reset by a success. */
  errorUpdateCount: number;
}

/**
 * Shows a skeleton while the data is loading. If loading or refetching fails, shows the error, and a button to try again
 * if that may help. Otherwise renders nothing.
 */
export function LoadState({ query }: { query: LoadableQuery }) {
  const { data, error } = query;
  // If the server is unreachable, the shell says that the data may be out of date.
  if (data !== undefined && (!error || isUnreachable(error))) return null;
  const canTryAgain = error ? isTemporary(error) : query.errorUpdateCount > 0;
  return (
    <div className={css.loadState}>
      {error ? <ErrorNotice error={error} /> : <Loading />}
      {canTryAgain && <TryAgain isPending={query.isFetching} />}
    </div>
  );
}

function TryAgain({ isPending }: { isPending: boolean }) {
  const queryClient = useQueryClient();
  const root = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = root.current;
    return () => {
      // Otherwise, the focus would be lost when the button is removed.
      if (element?.contains(document.activeElement)) focusSurroundings(element);
    };
  }, []);
  const refetchFailed = () =>
    queryClient.refetchQueries({ type: "active", predicate: ({ state }) => state.status === "error" });
  return (
    <div ref={root}>
      <Button isPending={isPending} onPress={refetchFailed}>
        {texts.tryAgain}
      </Button>
    </div>
  );
}

function focusSurroundings(element: Element): void {
  const target = element.closest<HTMLElement>("[role=dialog]") ?? document.querySelector<HTMLElement>("h1");
  target?.focus({ preventScroll: true });
}
