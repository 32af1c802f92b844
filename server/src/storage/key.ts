const SEGMENT = /^[A-Za-z0-9_.-]{1,200}$/;
const MAX_KEY_LENGTH = 900;

/**
 * Whether a text can be the key of a stored object: relative, segments of `[A-Za-z0-9_.-]` parted by
 * `/`, none of them empty, `.` or `..`. The lengths fit every file system and S3.
 */
export function isStorageKey(text: string): boolean {
  return (
    text.length <= MAX_KEY_LENGTH &&
    text.split("/").every((segment) => SEGMENT.test(segment) && segment !== "." && segment !== "..")
  );
}

/** @throws TypeError where the key is none: keys are made by the service, so that is a fault of ours. */
export function assertStorageKey(key: string): void {
  if (!isStorageKey(key)) throw new TypeError(`not a storage key: ${JSON.stringify(key)}`);
}

/** @throws TypeError where no key can begin so. The last, unfinished segment may be anything allowed. */
export function assertStoragePrefix(prefix: string): void {
  if (prefix === "") return;
  const finished = prefix.endsWith("/") ? prefix.slice(0, -1) : prefix;
  if (!isStorageKey(finished)) throw new TypeError(`not a storage prefix: ${JSON.stringify(prefix)}`);
}
