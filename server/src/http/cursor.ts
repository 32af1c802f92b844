import { DEFAULT_PAGE_SIZE } from "@subtext/client/contract/page";
import { AppError } from "../lib/errors.ts";
import { isPlausibleId } from "../lib/ids.ts";

/** Where a page begins, and how long it is. */
export interface PageRequest {
  /** Only what was made before the one with this id. */
  before: string | null;
  limit: number;
}

/** @throws AppError `invalid_request` */
export function readPageRequest({ cursor, limit }: { cursor?: string; limit?: number }): PageRequest {
  const before = cursor === undefined ? null : Buffer.from(cursor, "base64url").toString();
  if (before !== null && !isPlausibleId(before)) {
    throw new AppError("invalid_request", "The cursor is none that this service gave.");
  }
  return { before, limit: limit ?? DEFAULT_PAGE_SIZE };
}

/** Of one row more than the page holds, which tells whether there is a next. */
export function cutPage<Row extends { id: string }>(
  rows: readonly Row[],
  limit: number,
): { rows: Row[]; nextCursor: string | null } {
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return { rows: shown, nextCursor: last ? Buffer.from(last.id).toString("base64url") : null };
}
