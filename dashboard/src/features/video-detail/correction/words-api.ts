import { ProblemError, request, UnreachableError } from "../../../admin-client/request.ts";
import { type VideoAddress, videoParams } from "../queries.ts";
import type { WordsApi } from "./editing-session.ts";

export function wordsApi(address: VideoAddress): WordsApi {
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
