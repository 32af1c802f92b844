/** Bytes `start` to `end`, inclusive. */
export interface ByteRange {
  start: number;
  end: number;
}

/**
 * What a Range header requests from a file of `size` bytes (RFC 9110, section 14): one range, `"unsatisfiable"`, or
 * null for the whole file: no header, another unit, several ranges, or an invalid range.
 */
export function parseByteRange(header: string | undefined, size: number): ByteRange | "unsatisfiable" | null {
  // An empty file has no valid range; clients that always send one get an empty response.
  if (header === undefined || size === 0) return null;
  const match = /^bytes=[ \t]*(?:(\d+)-(\d*)|-(\d+))[ \t]*$/i.exec(header);
  if (match === null) return null;
  const [, first, last, suffix] = match;
  if (suffix !== undefined) {
    const length = Math.min(Number(suffix), size);
    return length === 0 ? "unsatisfiable" : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  const end = last === "" ? Number.POSITIVE_INFINITY : Number(last);
  if (end < start) return null;
  return start >= size ? "unsatisfiable" : { start, end: Math.min(end, size - 1) };
}
