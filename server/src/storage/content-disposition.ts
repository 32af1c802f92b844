const MAX_NAME_LENGTH = 150;
/** Limit of Linux file systems. A name of Chinese characters reaches it before `MAX_NAME_LENGTH`. */
const MAX_NAME_BYTES = 255;

/** An extension, with a language before it if there is one: `.mp4`, `.en.vtt`. */
const EXTENSION = /(?:\.[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})?)?\.[A-Za-z0-9]{1,10}$/;

/** Media types that a browser may display or play. Other files are downloaded. */
const SHOWN_TYPES = /^(?:text\/vtt|text\/plain|application\/json|(?:audio|video)\/[\w-]+)$/;

/** Media type that browsers download and never display. */
export const DOWNLOAD_TYPE = "application/octet-stream";

/**
 * Converts a file name to one that can be saved: at most 150 UTF-16 units and 255 bytes, not empty, without path
 * separators, control characters, bidirectional overrides or characters that Windows refuses. Keeps the extension and
 * a language before it. May return a name that Windows reserves, such as `con.vtt`.
 */
export function safeFileName(name: string): string {
  const clean = name
    .toWellFormed()
    // Overrides could display a name that ends in ".exe" as if it ended in ".vtt".
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu, "")
    .replace(/[/\\:*?"<>|]/g, "_")
    // The lookbehind keeps the time linear: a run of spaces within the name is tried only once.
    .replace(/^[\s.]+|(?<![\s.])[\s.]+$/g, "");
  if (clean === "") return "file";
  if (clean.length <= MAX_NAME_LENGTH && Buffer.byteLength(clean) <= MAX_NAME_BYTES) return clean;
  const extension = EXTENSION.exec(clean)?.[0] ?? "";
  const kept: string[] = [];
  let length = extension.length;
  let bytes = extension.length;
  for (const { segment } of new Intl.Segmenter().segment(clean.slice(0, clean.length - extension.length))) {
    length += segment.length;
    bytes += Buffer.byteLength(segment);
    if (length > MAX_NAME_LENGTH || bytes > MAX_NAME_BYTES) break;
    kept.push(segment);
  }
  return `${kept.join("").trimEnd() || "file"}${extension}`;
}

/**
 * Returns a file's Content-Disposition (RFC 6266), with the full name in `filename*` (RFC 8187) and an ASCII version in
 * `filename` for older clients.
 */
export function contentDisposition(fileName: string, contentType: string): string {
  const name = safeFileName(fileName);
  const disposition = SHOWN_TYPES.test(contentType) ? "inline" : "attachment";
  // Unsafe characters are replaced after normalization, which converts "＂" and "＼" to a quote and a backslash. "%" is
  // omitted because some clients decode it in `filename`.
  const ascii = safeFileName(fileName.normalize("NFKD").replace(/\p{M}/gu, "")).replace(
    /[^\x20-\x7E]|%/g,
    "_",
  );
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${disposition}; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
