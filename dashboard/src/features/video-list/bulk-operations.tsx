import type { BulkOperationView } from "@subtext/server/admin/contract/bulk-operation";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { videoCountsQuery, videosKey } from "../../admin-client/queries.ts";
import { request } from "../../admin-client/request.ts";
import { useRole } from "../../hooks/use-me.ts";
import { videoList as texts } from "../../messages/en/video-list.ts";
import { Button, ErrorNotice } from "../../ui/forms/controls.tsx";
import { Progress } from "../../ui/progress.tsx";
import { useToast } from "../../ui/toasts/toasts.tsx";
import css from "./bulk-operations.module.css";
import { bulkOperationsQuery, isUnfinished } from "./bulk-queries.ts";

/** Lists the unfinished operations of an environment, and announces when one ends. */
export function BulkOperations({ environmentId }: { environmentId: string }) {
  const { data: operations = [] } = useQuery(bulkOperationsQuery(environmentId));
  useAnnounceEnd(environmentId, operations);
  const unfinished = operations.filter(isUnfinished);
  if (unfinished.length === 0) return null;
  return (
    <section className={css.panel} aria-label={texts.unfinishedOperations}>
      <ul>
        {unfinished.map((operation) => (
          <li key={operation.id} className={css.operation}>
            <Operation operation={operation} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Operation({ operation }: { operation: BulkOperationView }) {
  const canCancel = useRole() !== "viewer";
  const queryClient = useQueryClient();
  const { id, environmentId, kind, state, matched } = operation;
  const cancel = useMutation({
    mutationFn: () =>
      request("POST /environments/:environment/bulk-operations/:operation/cancel", {
        params: { environment: environmentId, operation: id },
      }),
    onSettled: () => queryClient.invalidateQueries(bulkOperationsQuery(environmentId)),
  });
  const title = kind === "delete" ? texts.deleting(matched) : texts.retryingVideos(matched);
  const processed = countProcessed(operation);
  return (
    <>
      <div className={css.line}>
        <span className={css.title}>{title}</span>
        <span className={css.count}>
          {state === "queued" ? texts.queued : texts.processed(processed, matched)}
        </span>
        {canCancel && (
          <Button
            variant="quiet"
            aria-label={texts.cancelOperation(title)}
            isPending={cancel.isPending}
            onPress={() => cancel.mutate()}
          >
            {texts.cancel}
          </Button>
        )}
      </div>
      <Progress label={title} value={matched === 0 ? 1 : processed / matched} />
      <ErrorNotice error={cancel.error} />
    </>
  );
}

function useAnnounceEnd(environmentId: string, operations: readonly BulkOperationView[]): void {
  const queryClient = useQueryClient();
  const showToast = useToast();
  const seen = useRef(new Set<string>());
  useEffect(() => {
    let hasEnded = false;
    for (const operation of operations) {
      if (isUnfinished(operation)) seen.current.add(operation.id);
      else if (seen.current.delete(operation.id)) {
        hasEnded = true;
        showToast(endText(operation));
      }
    }
    if (!hasEnded) return;
    void queryClient.invalidateQueries({ queryKey: videosKey(environmentId) });
    void queryClient.invalidateQueries(videoCountsQuery(environmentId));
  }, [operations, environmentId, queryClient, showToast]);
}

function countProcessed({ done, failed, skipped }: BulkOperationView): number {
  return done + failed + skipped;
}

/** Returns e.g. `Deleted 12 videos, 1 failed`. */
function endText(operation: BulkOperationView): string {
  const { kind, state, matched, done, failed, skipped } = operation;
  const isDeletion = kind === "delete";
  const parts = [
    state === "completed"
      ? isDeletion
        ? texts.deleted(done)
        : texts.retried(done)
      : texts.endedEarly({
          isDeletion,
          isCanceled: state === "canceled",
          processed: countProcessed(operation),
          matched,
        }),
    failed > 0 && texts.failedVideos(failed),
    skipped > 0 && texts.skippedVideos(skipped),
  ];
  return parts.filter((part) => part !== false).join(", ");
}
