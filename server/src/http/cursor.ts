import { DEFAULT_PAGE_SIZE } from "@subtext/client/contract/page";
import { AppError } from "../lib/errors.ts";
import { type IdPrefix, isPlausibleId } from "../lib/ids.ts";

export interface PageRequest {
  /** The page contains only items that were created before the item with this id. Null for the first page. */
  before: string | null;
  limit: number;
}

/**
 * @param type of the items, because a cursor contains the id of an item of the same list
 * @throws AppError `invalid_request`
 */
export function readPageRequest(
  type: IdPrefix,
  { cursor, limit }: { cursor?: string; limit?: number },
): PageRequest {
  const before = cursor === undefined ? null : Buffer.from(cursor, "base64url").toString();
  if (before !== null && !(isPlausibleId(before) && before.startsWith(`${type}_`))) {
    throw new AppError("invalid_request", "The cursor is invalid. Use `nextCursor` from the previous page.");
  }
  return { before, limit: limit ?? DEFAULT_PAGE_SIZE };
}

/** Cuts a page from up to `limit + 1` rows. The extra row shows that there is a next page. */
export function cutPage<Row extends { id: string }>(
  rows: readonly Row[],
  limit: number,
): { rows: Row[]; nextCursor: string | null } {
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return { rows: shown, nextCursor: last ? Buffer.from(last.id).toString("base64url") : null };
}
