import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../lib/errors.ts";
import type { OpenedFile } from "../storage/disk/local-file.ts";

export interface FileHeaders {
  contentType: string;
  contentDisposition: string;
  cacheControl: string;
}

/**
 * Responds to a GET or HEAD request with a file or the requested range, and closes the file. The headers prevent
 * browsers from executing the content.
 * @throws AppError `range_not_satisfiable`
 */
export async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: OpenedFile,
  headers: FileHeaders,
): Promise<FastifyReply> {
  let streaming = false;
  try {
    streaming = respond(request, reply, file, headers);
  } finally {
    if (!streaming) await file.close();
  }
  return reply;
}

/** Returns true if the reply streams the file, which closes it at the end. */
function respond(
  request: FastifyRequest,
  reply: FastifyReply,
  file: OpenedFile,
  { contentType, contentDisposition, cacheControl }: FileHeaders,
): boolean {
  const { headers } = request;
  reply.headers({
    etag: file.etag,
    "accept-ranges": "bytes",
    "cache-control": cacheControl,
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; sandbox",
  });
  if (matchesEtag(headers["if-none-match"], file.etag)) {
    reply.code(304).send();
    return false;
  }
  // RFC 9110, 14.2: ranges are defined only for GET. 13.1.5: a date in If-Range never matches here, because responses
  // have no Last-Modified.
  const rangeApplies =
    request.method === "GET" && (headers["if-range"] === undefined || headers["if-range"] === file.etag);
  const range = rangeApplies ? parseByteRange(headers.range, file.size) : null;
  if (range === "unsatisfiable") {
    throw new AppError("range_not_satisfiable", `The file has ${file.size} bytes.`, {
      headers: { "content-range": `bytes */${file.size}` },
    });
  }
  if (range !== null) {
    reply.code(206).header("content-range", `bytes ${range.start}-${range.end}/${file.size}`);
  }
  const { start, end } = range ?? { start: 0, end: file.size - 1 };
  reply.headers({
    "content-type": contentType,
    "content-disposition": contentDisposition,
    "content-length": end - start + 1,
  });
  if (request.method === "HEAD" || file.size === 0) {
    reply.send();
    return false;
  }
  reply.send(file.stream({ start, end }));
  return true;
}

/** Checks whether an If-None-Match header matches the tag. Uses weak comparison. */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === "*") return true;
  return [...header.matchAll(/"[^"]*"/g)].some(([tag]) => tag === etag);
}

/** Bytes `start` to `end`, inclusive. */
interface ByteRange {
  start: number;
  end: number;
}

/**
 * Parses a Range header for a file of `size` bytes (RFC 9110, section 14).
 * @returns null if the whole file must be sent: the header is missing or invalid, or has another unit or several ranges
 */
export function parseByteRange(header: string | undefined, size: number): ByteRange | "unsatisfiable" | null {
  // No range of an empty file is satisfiable, but some clients send a Range header with every request.
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
