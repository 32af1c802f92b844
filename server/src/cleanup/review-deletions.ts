import { listStoredFiles, type StoredFile, type StoredFilesDeps } from "./stored-files.ts";

export interface DeletionGroup {
  files: number;
  bytes: number;
  /** Keys of the first `MAX_KEYS` files. */
  keys: string[];
}

/** What the sweep would delete if deletions were allowed. */
export interface DeletionReview {
  /** Obsolete files; see `FileState`. */
  atOnce: DeletionGroup;
  /** Unknown files. Each is deleted after 7 days. */
  later: DeletionGroup;
}

const MAX_KEYS = 20;

export async function reviewDeletions(deps: StoredFilesDeps, signal: AbortSignal): Promise<DeletionReview> {
  const review = { atOnce: emptyGroup(), later: emptyGroup() };
  for await (const files of listStoredFiles(deps)) {
    for (const file of files) {
      signal.throwIfAborted();
      if (file.state === "obsolete") await add(review.atOnce, file);
      if (file.state === "unknown") await add(review.later, file);
    }
  }
  return review;
}

function emptyGroup(): DeletionGroup {
  return { files: 0, bytes: 0, keys: [] };
}

async function add(group: DeletionGroup, file: StoredFile): Promise<void> {
  group.files += 1;
  group.bytes += await file.sizeBytes();
  if (group.keys.length < MAX_KEYS) group.keys.push(file.key);
}
