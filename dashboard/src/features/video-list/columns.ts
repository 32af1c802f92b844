import type { SortDirection, VideoSort } from "@subtext/server/db/enums";
import type { VideoListView } from "../../admin-client/video-list-view.ts";
import { videoList as texts } from "../../messages/en/video-list.ts";

export const COLUMNS: readonly { name: string; sort?: VideoSort; isNumber?: true }[] = [
  { name: texts.columns.name, sort: "name" },
  { name: texts.columns.state },
  { name: texts.columns.language },
  { name: texts.columns.duration, sort: "duration", isNumber: true },
  { name: texts.columns.words, sort: "words", isNumber: true },
  { name: texts.columns.uploaded, sort: "uploaded" },
];

export function sortState({ sort = "uploaded", order = "desc" }: VideoListView, column: VideoSort) {
  if (sort !== column) return "none";
  return order === "asc" ? "ascending" : "descending";
}

/**
 * Returns the order that a click on the column header selects: A to Z for names, otherwise newest or largest first. If the
 * list is already sorted by the column, returns the opposite order.
 */
export function nextOrder(state: ReturnType<typeof sortState>, sort: VideoSort): SortDirection {
  if (state === "none") return sort === "name" ? "asc" : "desc";
  return state === "ascending" ? "desc" : "asc";
}

/** Omits the default order, so that each view has a single URL. */
export function withSort(
  { sort: _, order: __, ...view }: VideoListView,
  sort: VideoSort,
  order: SortDirection,
): VideoListView {
  return { ...view, ...(sort !== "uploaded" && { sort }), ...(order !== "desc" && { order }) };
}
