import type { VideoView } from "@subtext/server/admin/contract/video";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { DialogTrigger } from "react-aria-components";
import type { VideoListView } from "../../admin-client/video-list-view.ts";
import { useRole } from "../../hooks/use-me.ts";
import { videoList as texts } from "../../messages/en/video-list.ts";
import { Confirmation } from "../../ui/confirm.tsx";
import { Button, ErrorNotice } from "../../ui/forms/controls.tsx";
import { ModalDialog } from "../../ui/forms/modal-dialog.tsx";
import { CloseIcon, DownloadIcon } from "../../ui/icons.tsx";
import { useToast } from "../../ui/toasts/toasts.tsx";
import {
  bulkOperationsQuery,
  prepareDownload,
  startBulkOperation,
  toVideos,
  videoMatchesQuery,
} from "./bulk-queries.ts";
import css from "./selection-bar.module.css";
import type { Selection } from "./use-selection.ts";

/** What can be done with the selected videos. */
export function SelectionBar({
  environmentId,
  view,
  videos,
  selection,
}: {
  environmentId: string;
  view: VideoListView;
  videos: readonly VideoView[];
  selection: Selection;
}) {
  const canEdit = useRole() !== "viewer";
  const { count, all, has } = selection;
  // Only the error of the latest action is shown, and that of an action that is still pending.
  const start = useStart(environmentId, view, selection, () => download.isPending || download.reset());
  const download = useMutation({
    mutationFn: () => prepareDownload(environmentId, toVideos(selection, view)),
    onMutate: () => start.isPending || start.reset(),
    onSuccess: (url) => {
      save(url);
      selection.clear();
    },
  });
  const hasFailed = all !== null || videos.some(({ id, state }) => state === "failed" && has(id));
  return (
    <section className={css.bar} aria-label={texts.selectedVideos}>
      <ErrorNotice error={start.error ?? download.error} />
      <div className={css.line}>
        <p className={css.count} role="status">
          {all ? texts.allMatching(count) : texts.selected(count)}
        </p>
        {!all && <SelectAll environmentId={environmentId} view={view} selection={selection} />}
        <div className={css.end}>
          <div className={css.actions}>
            {canEdit && (
              <Button
                isDisabled={!hasFailed}
                isPending={start.isPending && start.variables === "retry"}
                onPress={() => start.mutate("retry")}
              >
                {texts.retryFailed}
              </Button>
            )}
            <Button isPending={download.isPending} onPress={() => download.mutate()}>
              <DownloadIcon />
              <span className={css.wide}>{texts.downloadTranscripts}</span>
              <span className={css.narrow}>{texts.download}</span>
            </Button>
            {canEdit && <DeleteSelected count={count} start={start} />}
          </div>
          <Button variant="quiet" iconOnly aria-label={texts.clearSelection} onPress={selection.clear}>
            <CloseIcon />
          </Button>
        </div>
      </div>
    </section>
  );
}

type Start = ReturnType<typeof useStart>;

function useStart(environmentId: string, view: VideoListView, selection: Selection, onMutate: () => void) {
  const queryClient = useQueryClient();
  const showToast = useToast();
  return useMutation({
    mutationFn: (kind: "retry" | "delete") =>
      startBulkOperation(environmentId, { kind, videos: toVideos(selection, view) }),
    onMutate,
    onSuccess: (operation) => {
      const { matched, kind } = operation;
      selection.clear();
      showToast(kind === "delete" ? texts.deleting(matched) : texts.retryingVideos(matched));
      const query = bulkOperationsQuery(environmentId);
      // If the operation ends before the list is loaded again, its end is announced, too.
      queryClient.setQueryData(query.queryKey, (operations = []) =>
        operations.some(({ id }) => id === operation.id) ? operations : [operation, ...operations],
      );
      void queryClient.invalidateQueries(query);
    },
  });
}

function SelectAll({
  environmentId,
  view,
  selection,
}: {
  environmentId: string;
  view: VideoListView;
  selection: Selection;
}) {
  const { data: matches } = useQuery(videoMatchesQuery(environmentId, view));
  if (!matches || matches.count <= selection.count) return null;
  return (
    <Button variant="quiet" onPress={() => selection.selectAll(matches)}>
      {texts.selectAllMatching(matches.count)}
    </Button>
  );
}

function DeleteSelected({ count, start }: { count: number; start: Start }) {
  return (
    <DialogTrigger>
      <Button variant="danger">{texts.deleteSelected}</Button>
      <ModalDialog title={texts.deleteTitle(count)}>
        {(close) => (
          <Confirmation
            label={texts.delete}
            typed={String(count)}
            action={() => start.mutateAsync("delete")}
            close={close}
          >
            {texts.deleteConsequence(count)}
          </Confirmation>
        )}
      </ModalDialog>
    </DialogTrigger>
  );
}

/** Lets the browser save the response, without leaving the page. */
function save(url: string): void {
  const link = document.createElement("a");
  link.href = url;
  link.download = "";
  link.click();
}
