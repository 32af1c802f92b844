const SEGMENT = /^[A-Za-z0-9_.-]{1,200}$/;
const MAX_KEY_LENGTH = 900;

/**
 * Checks whether a string is a valid object key: segments of `[A-Za-z0-9_.-]` separated by `/`, none of them empty,
 * `.` or `..`. The length limits suit all file systems and S3.
 */
export function isStorageKey(text: string): boolean {
  return (
    text.length <= MAX_KEY_LENGTH &&
    text.split("/").every((segment) => SEGMENT.test(segment) && segment !== "." && segment !== "..")
  );
}

/** @throws TypeError if the key is invalid. The service generates all keys, so this is a bug */
export function assertStorageKey(key: string): void {
  if (!isStorageKey(key)) throw new TypeError(`not a storage key: ${JSON.stringify(key)}`);
}

/** @throws TypeError if no valid key can begin with the prefix. The last segment may be incomplete */
export function assertStoragePrefix(prefix: string): void {
  if (prefix === "") return;
  const finished = prefix.endsWith("/") ? prefix.slice(0, -1) : prefix;
  if (!isStorageKey(finished)) throw new TypeError(`not a storage prefix: ${JSON.stringify(prefix)}`);
}
