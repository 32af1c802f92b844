import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMe } from "../../../hooks/use-me.ts";
import { correction as texts } from "../../../messages/en/correction.ts";
import { Button, Notice } from "../../../ui/forms/controls.tsx";
import { browserDrafts, findDraft } from "./drafts.ts";
import css from "./transcript-editor.module.css";

/** The ID of an operator's draft for a video; null if there is none. */
export function draftQuery(operatorId: string, videoId: string) {
  return queryOptions({
    queryKey: ["draft", operatorId, videoId] as const,
    queryFn: () => findDraft(operatorId, videoId),
    staleTime: 0,
    gcTime: 0,
  });
}

/** Offers to continue or discard unsaved changes from an earlier visit. */
export function UnsavedChanges({ videoId, onContinue }: { videoId: string; onContinue(): void }) {
  const { id: operatorId } = useMe();
  const queryClient = useQueryClient();
  const query = draftQuery(operatorId, videoId);
  const draftId = useQuery(query).data ?? null;
  if (draftId === null) return null;
  return (
    <div className={css.unsaved}>
      <Notice tone="plain">
        {texts.unsavedChanges}
        <Button onPress={onContinue}>{texts.continueEditing}</Button>
        <Button
          onPress={async () => {
            await browserDrafts(operatorId, videoId).remove(draftId);
            await queryClient.invalidateQueries({ queryKey: query.queryKey });
          }}
        >
          {texts.discard}
        </Button>
      </Notice>
    </div>
  );
}
