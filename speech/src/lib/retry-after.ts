/**
 * Parses a Retry-After header (RFC 9110, 10.2.3): a number of seconds, which may have decimals, or a date in any of
 * HTTP's three formats.
 * @returns milliseconds; 0 for a date in the past; null if the header is missing or invalid
 */
export function parseRetryAfter(header: string | null | undefined, nowMs: number): number | null {
  const text = header?.trim() ?? "";
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(Number(text) * 1000, Number.MAX_SAFE_INTEGER);
  // Date.parse accepts almost any text, and reads a date without a zone as local time.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? [\w :-]+$/.test(text)) return null;
  const time = Date.parse(text.endsWith(" GMT") ? text : `${text} GMT`);
  return Number.isNaN(time) ? null : Math.max(0, time - nowMs);
}
