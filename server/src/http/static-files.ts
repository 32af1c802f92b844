import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import { promisify } from "node:util";
import { gunzip, gzipSync } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";
import { acceptsEncoding } from "./accepts-encoding.ts";
import { matchesEtag } from "./send-file.ts";

const MEDIA_TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".md": "text/markdown; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".webp": "image/webp",
  ".woff2": "font/woff2",
};

/** In order of preference. The build writes the compressed files. */
const ENCODINGS = [
  { name: "br", suffix: ".br" },
  { name: "gzip", suffix: ".gz" },
] as const;

/** A built file in memory. At least one of `plain` and `encoded.gzip` exists. */
export interface StaticFile {
  mediaType: string;
  /** Without quotes and encoding. */
  etag: string;
  plain?: Buffer;
  encoded: Partial<Record<string, Buffer>>;
}

/**
 * Reads the files of a folder, keyed by path without the suffix of an encoding. Returns an empty map if the folder does
 * not exist.
 */
export async function readStaticFiles(folder: string): Promise<Map<string, StaticFile>> {
  const files = new Map<string, StaticFile>();
  if (!existsSync(folder)) return files;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/");
    const encoding = ENCODINGS.find(({ suffix }) => path.endsWith(suffix));
    const name = encoding ? path.slice(0, -encoding.suffix.length) : path;
    const mediaType = MEDIA_TYPES[extname(name)];
    if (!mediaType) continue;
    const file = files.get(name) ?? { mediaType, etag: "", encoded: {} };
    const bytes = await readFile(join(folder, path));
    if (encoding) file.encoded[encoding.name] = bytes;
    else file.plain = bytes;
    files.set(name, file);
  }
  for (const file of files.values()) file.etag = etagOf(file.plain ?? file.encoded.gzip ?? "");
  return files;
}

export function withText({ mediaType }: StaticFile, text: string): StaticFile {
  const plain = Buffer.from(text);
  return { mediaType, etag: etagOf(plain), plain, encoded: { gzip: gzipSync(plain, { level: 9 }) } };
}

function etagOf(bytes: Buffer | string): string {
  return createHash("sha256").update(bytes).digest("base64url").slice(0, 22);
}

/** Sends the best encoding that the client accepts, or 304 if the client has the file. */
export async function sendStaticFile(
  { mediaType, etag: hash, plain, encoded }: StaticFile,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const encoding = ENCODINGS.find(
    ({ name }) => encoded[name] && acceptsEncoding(request.headers["accept-encoding"], name),
  );
  const etag = encoding ? `"${hash}-${encoding.name}"` : `"${hash}"`;
  reply.headers({ etag, vary: "Accept-Encoding" });
  if (matchesEtag(request.headers["if-none-match"], etag)) return await reply.code(304).send();
  if (encoding) reply.header("content-encoding", encoding.name);
  const body = (encoding && encoded[encoding.name]) ?? plain ?? (await promisify(gunzip)(encoded.gzip ?? ""));
  return await reply.type(mediaType).send(body);
}
