import type { RevisionView } from "@subtext/server/admin/contract/transcript-words";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../../../admin-client/request.ts";
import { correction as texts } from "../../../messages/en/correction.ts";
import { ui } from "../../../messages/en/ui.ts";
import { formatDateTime } from "../../../ui/format.ts";
import controls from "../../../ui/forms/controls.module.css";
import { Button, ErrorNotice } from "../../../ui/forms/controls.tsx";
import { ModalDialog } from "../../../ui/forms/modal-dialog.tsx";
import { LoadState } from "../../../ui/load-state.tsx";
import { type VideoAddress, videoParams } from "../queries.ts";
import { describeChanges } from "./compare-words.ts";
import css from "./transcript-editor.module.css";

interface RevisionsDialogProps {
  address: VideoAddress;
  /** ETag of the current words. */
  etag: string;
  onRestored(): void;
  onClose(): void;
}

/** Lists the revisions. An expanded one shows how it differs from the previous one. */
export function RevisionsDialog({ address, etag, onRestored, onClose }: RevisionsDialogProps) {
  const [selected, setSelected] = useState<number | null>(null);
  const revisions = useQuery({
    queryKey: ["revisions", address.videoId, etag],
    queryFn: ({ signal }) =>
      request("GET /environments/:environment/videos/:video/revisions", {
        params: videoParams(address),
        signal,
      }),
  });
  const restore = useMutation({
    mutationFn: (revision: number) =>
      request("POST /environments/:environment/videos/:video/revisions/:revision/restore", {
        params: { ...videoParams(address), revision: String(revision) },
        ifMatch: etag,
      }),
    onSuccess: () => {
      onRestored();
      onClose();
    },
  });
  return (
    <ModalDialog
      title={texts.revisions}
      isOpen
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
    >
      {(close) => (
        <>
          <ErrorNotice error={restore.error} />
          <LoadState query={revisions} />
          <ol className={css.revisions}>
            {revisions.data?.data.map((revision) => (
              <li key={revision.revision}>
                <button
                  type="button"
                  aria-expanded={selected === revision.revision}
                  onClick={() => setSelected(selected === revision.revision ? null : revision.revision)}
                >
                  <strong>{authorName(revision)}</strong>
                  <span>
                    {formatDateTime(revision.updatedAt)} · {texts.changedWords(revision.changedWords)}
                    {revision.isCurrent && ` · ${texts.current}`}
                  </span>
                </button>
                {selected === revision.revision && (
                  <div className={css.revision}>
                    <Changes address={address} revision={revision.revision} />
                    {!revision.isCurrent && (
                      <Button isPending={restore.isPending} onPress={() => restore.mutate(revision.revision)}>
                        {texts.restore}
                      </Button>
                    )}
                  </div>
                )}
              </li>
            ))}
          </ol>
          <div className={controls.actions}>
            <Button onPress={close}>{ui.close}</Button>
          </div>
        </>
      )}
    </ModalDialog>
  );
}

function authorName({ actor }: RevisionView): string {
  if (actor === null) return texts.original;
  return actor.name ?? (actor.kind === "api_key" ? texts.apiKey : texts.commandLine);
}

function Changes({ address, revision }: { address: VideoAddress; revision: number }) {
  const after = useRevision(address, revision);
  const before = useRevision(address, revision === 0 ? null : revision - 1);
  if (revision === 0) return <p>{texts.originalHint}</p>;
  if (!after.data || !before.data) return <LoadState query={after.data ? before : after} />;
  const parts = describeChanges(before.data.words, after.data.words);
  if (parts.length === 0) return <p>{texts.noChanges}</p>;
  return (
    <p className={css.diff}>
      {parts.map(({ kind, text }, index) => {
        const Tag = kind === "removed" ? "del" : kind === "added" ? "ins" : "span";
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a diff have no stable key
        return <Tag key={index}>{text} </Tag>;
      })}
    </p>
  );
}

function useRevision(address: VideoAddress, revision: number | null) {
  return useQuery({
    queryKey: ["revision", address.videoId, revision],
    queryFn: ({ signal }) =>
      request("GET /environments/:environment/videos/:video/revisions/:revision", {
        params: { ...videoParams(address), revision: String(revision) },
        signal,
      }),
    enabled: revision !== null,
    staleTime: 0,
  });
}
