import type { TranscriptionRow } from "../db/tables/transcriptions.ts";
import { AppError } from "../lib/errors.ts";

export function wordsEtag({ revision, edit_version }: Pick<TranscriptionRow, "revision" | "edit_version">) {
  return `"${revision}.${edit_version}"`;
}

/**
 * Returns whether the caller's words are the current ones. As RFC 9110 requires, `*` matches any words, and the header
 * may list several ETags. Also accepts weak ETags, because proxies that compress responses weaken them.
 * @param ifMatch the request's header
 * @throws AppError `precondition_required`
 */
export function matchesCurrent(
  ifMatch: string | undefined,
  row: Pick<TranscriptionRow, "revision" | "edit_version">,
): boolean {
  if (ifMatch === undefined) {
    throw new AppError(
      "precondition_required",
      "Send the `etag` of the words that you edited in the `If-Match` header.",
    );
  }
  const etags = ifMatch.split(",").map((etag) => etag.trim().replace(/^W\//, ""));
  return etags.includes("*") || etags.includes(wordsEtag(row));
}
