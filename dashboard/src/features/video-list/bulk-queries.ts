import type { BulkOperationView } from "@subtext/server/admin/contract/bulk-operation";
import { queryOptions } from "@tanstack/react-query";
import { request, urlOf } from "../../admin-client/request.ts";
import { toListQuery, type VideoListView } from "../../admin-client/video-list-view.ts";
import type { Selection } from "./use-selection.ts";

const RUNNING_POLL_MS = 1_000;
/** Finds operations that other operators start. */
const IDLE_POLL_MS = 30_000;

export function isUnfinished({ state }: BulkOperationView): boolean {
  return state === "queued" || state === "running";
}

export function bulkOperationsQuery(environmentId: string) {
  return queryOptions({
    queryKey: ["bulk-operations", environmentId],
    queryFn: async ({ signal }) => {
      const params = { environment: environmentId };
      return (await request("GET /environments/:environment/bulk-operations", { params, signal })).data;
    },
    refetchInterval: ({ state }) => (state.data?.some(isUnfinished) ? RUNNING_POLL_MS : IDLE_POLL_MS),
  });
}

export function videoMatchesQuery(environmentId: string, view: VideoListView) {
  return queryOptions({
    queryKey: ["video-matches", environmentId, view],
    queryFn: ({ signal }) =>
      request("GET /environments/:environment/video-matches", {
        params: { environment: environmentId },
        query: filterOf(view),
        signal,
      }),
  });
}

export async function startBulkOperation(
  environmentId: string,
  { kind, videos }: { kind: "retry" | "delete"; videos: ReturnType<typeof toVideos> },
): Promise<BulkOperationView> {
  return await request("POST /environments/:environment/bulk-operations", {
    params: { environment: environmentId },
    body: { kind, videos },
  });
}

/** Prepares a download of transcripts. Returns its URL, which works once. */
export async function prepareDownload(
  environmentId: string,
  videos: ReturnType<typeof toVideos>,
): Promise<string> {
  const params = { environment: environmentId };
  const { id } = await request("POST /environments/:environment/downloads", { params, body: { videos } });
  return urlOf("GET /environments/:environment/downloads/:operation", {
    params: { environment: environmentId, operation: id },
  });
}

/** Returns the selection as the admin API expects it. */
export function toVideos({ ids, all }: Selection, view: VideoListView) {
  if (!all) return { ids: [...ids] };
  const filter = filterOf(view);
  const until = filter.until !== undefined && filter.until < all.countedAt ? filter.until : all.countedAt;
  return { matching: { ...filter, until } };
}

function filterOf(view: VideoListView) {
  const { text, state, language, failure, from, until } = toListQuery(view);
  return {
    ...(text && { text }),
    ...(state && { state }),
    ...(language && { language }),
    ...(failure && { failure }),
    ...(from && { from }),
    ...(until && { until }),
  };
}
