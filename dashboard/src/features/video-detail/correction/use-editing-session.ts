import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState, useSyncExternalStore } from "react";
import { ProblemError, request, UnreachableError } from "../../../admin-client/request.ts";
import { useMe } from "../../../hooks/use-me.ts";
import { type VideoAddress, videoParams, videoQuery } from "../queries.ts";
import { browserDrafts } from "./drafts.ts";
import { tabEditSession } from "./edit-session.ts";
import { EditingSession, type SessionState, type WordsApi } from "./editing-session.ts";
import { draftQuery } from "./unsaved-changes.tsx";

/**
 * Opens an editing session. Closing the editor saves unsaved changes. Closing the page asks first, and keeps them in the
 * draft.
 * @returns null while the words are loading
 */
export function useEditingSession({ environmentId, videoId }: VideoAddress): {
  session: EditingSession | null;
  error: unknown;
} {
  const queryClient = useQueryClient();
  const { id: operatorId } = useMe();
  const [session, setSession] = useState<EditingSession | null>(null);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    const address = { environmentId, videoId };
    const controller = new AbortController();
    const { signal } = controller;
    const onSaved = () => queryClient.invalidateQueries({ queryKey: videoQuery(address).queryKey });
    const opened = EditingSession.open({
      api: wordsApi(address),
      drafts: browserDrafts(operatorId, videoId),
      editSessions: tabEditSession(operatorId, videoId),
      onSaved,
    });
    opened.then((each) => !signal.aborted && setSession(each), setError);
    opened.then((each) => {
      addEventListener("pagehide", () => void each.storeDraft({ isClosing: true }), { signal });
      addEventListener("online", () => void each.save(), { signal });
      const warn = (event: BeforeUnloadEvent) => each.state.save !== "saved" && event.preventDefault();
      addEventListener("beforeunload", warn, { signal });
    }, setError);
    return () => {
      controller.abort();
      opened
        .then((each) => each.close())
        .then(
          () => queryClient.invalidateQueries({ queryKey: draftQuery(operatorId, videoId).queryKey }),
          () => {},
        );
    };
  }, [environmentId, videoId, operatorId, queryClient]);
  return { session, error };
}

export function useSessionState(session: EditingSession): SessionState {
  return useSyncExternalStore(session.subscribe, () => session.state);
}

function wordsApi(address: VideoAddress): WordsApi {
  const params = videoParams(address);
  return {
    load: () => request("GET /environments/:environment/videos/:video/words", { params }),
    save: ({ words, editSessionId, etag }) =>
      request("PUT /environments/:environment/videos/:video/words", {
        params,
        ifMatch: etag,
        body: { words: [...words], editSessionId },
      }),
    isOutdated: (error) => error instanceof ProblemError && error.code === "transcript_changed",
    isTemporary: (error) =>
      error instanceof UnreachableError ||
      (error instanceof ProblemError && (error.status >= 500 || error.status === 429)),
  };
}
