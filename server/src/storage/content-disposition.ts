const MAX_NAME_LENGTH = 150;

/** Media types that a browser may display or play; all others are downloaded. */
const SHOWN_TYPES = /^(?:text\/vtt|text\/plain|application\/json|(?:audio|video)\/[\w-]+)$/;

/** The type of a file that a browser downloads and never displays. */
export const DOWNLOAD_TYPE = "application/octet-stream";

/**
 * Converts a name to one that every file system accepts: at most 150 UTF-16 units, without path separators, control
 * characters and bidirectional overrides. Keeps the extension and never returns an empty name.
 */
export function safeFileName(name: string): string {
  const clean = name
    .toWellFormed()
    // With overrides, a name that ends in ".exe" can be displayed as if it ended in ".vtt".
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu, "")
    .replace(/[/\\:*?"<>|]/g, "_")
    .replace(/^[\s.]+|[\s.]+$/g, "");
  if (clean === "") return "file";
  if (clean.length <= MAX_NAME_LENGTH) return clean;
  const extension = /\.[A-Za-z0-9]{1,10}$/.exec(clean)?.[0] ?? "";
  const kept: string[] = [];
  let length = extension.length;
  for (const { segment } of new Intl.Segmenter().segment(clean.slice(0, clean.length - extension.length))) {
    length += segment.length;
    if (length > MAX_NAME_LENGTH) break;
    kept.push(segment);
  }
  return `${kept.join("").trimEnd() || "file"}${extension}`;
}

/**
 * Returns the Content-Disposition of a file (RFC 6266): the whole name in `filename*` (RFC 8187), and an ASCII
 * `filename` for clients that support only that.
 */
export function contentDisposition(fileName: string, contentType: string): string {
  const name = safeFileName(fileName);
  const disposition = SHOWN_TYPES.test(contentType) ? "inline" : "attachment";
  // Normalization turns "＂" and "＼" into a quote and a backslash, so unsafe characters are replaced afterwards.
  // "%" is left out of the fallback because some clients decode it there.
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
