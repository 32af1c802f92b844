/**
 * Seconds that a Retry-After header asks to wait (RFC 9110, 10.2.3): a number of seconds, or a date in
 * any of the three forms of HTTP. 0 for a date that is past; null where there is none or it makes no sense.
 */
export function parseRetryAfter(header: string | undefined, now: Date): number | null {
  const text = header?.trim() ?? "";
  if (/^\d+$/.test(text)) return Math.min(Number(text), Number.MAX_SAFE_INTEGER);
  // Date.parse alone makes a date of almost anything, and takes a date without a zone as local time.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? [\w :-]+$/.test(text)) return null;
  const time = Date.parse(text.endsWith(" GMT") ? text : `${text} GMT`);
  return Number.isNaN(time) ? null : Math.max(0, Math.ceil((time - now.getTime()) / 1000));
}
