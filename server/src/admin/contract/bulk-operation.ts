import type { BulkOperationKind, BulkOperationState } from "../../db/enums.ts";

/** Maximum number of videos that a request lists by id. */
export const MAX_SELECTED_VIDEOS = 10_000;

/** An action on many videos. Videos that are added after the request are never part of it. */
export interface BulkOperationView {
  id: string;
  environmentId: string;
  kind: BulkOperationKind;
  state: BulkOperationState;
  matched: number;
  done: number;
  failed: number;
  /**
   * Videos that were deleted in the meantime; in a retry, also those that are not failed or have no recording; in a
   * download, those without a transcript.
   */
  skipped: number;
  /** Email of the operator; null for the command line. */
  requestedBy: string | null;
  createdAt: string;
  finishedAt: string | null;
}

export interface VideoMatchesView {
  count: number;
  /** Pass this as the filter's `until` to leave out videos that were added after the count. */
  countedAt: string;
}
