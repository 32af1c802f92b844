import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../../clock.ts";
import { AppError } from "../../errors.ts";
import { contentDisposition } from "../../storage/content-disposition.ts";
import type { FileReader, OpenedFile } from "../../storage/disk.ts";
import { isStorageKey } from "../../storage/key.ts";
import { type FileUrlClaims, readFileUrl } from "../../storage/url-signature.ts";
import { parseByteRange } from "../byte-range.ts";

const PATH = "/files/";

/** Any page may load these files: whoever has the URL has the right to. */
const CORS = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "Accept-Ranges, Content-Disposition, Content-Length, Content-Range, ETag",
  "cross-origin-resource-policy": "cross-origin",
};

export interface FilesOptions {
  storage: FileReader;
  /** The one that the URLs are signed with. */
  secret: Uint8Array;
  clock: Clock;
}

/** Serves `/files/<key>?…`, the URLs that the disk storage presigns. */
export function registerFiles(app: FastifyInstance, options: FilesOptions): void {
  const { storage, secret, clock } = options;
  // A plugin of its own, so that its hook stays with its routes.
  app.register(async (files) => {
    files.addHook("onRequest", async (_request, reply) => {
      reply.headers(CORS);
    });

    files.options(`${PATH}*`, async (_request, reply) =>
      reply
        .headers({
          "access-control-allow-methods": "GET, HEAD",
          "access-control-allow-headers": "If-None-Match, If-Range, Range",
          "access-control-max-age": "7200",
        })
        .code(204)
        .send(),
    );

    files.route({
      method: ["GET", "HEAD"],
      url: `${PATH}*`,
      exposeHeadRoute: false,
      handler: async (request, reply) => {
        const claims = readClaims(request, secret, clock);
        const file = await openFile(storage, claims.key);
        let streaming = false;
        try {
          streaming = answer(request, reply, file, claims);
        } finally {
          if (!streaming) await file.close();
        }
        return reply;
      },
    });
  });
}

/** @throws AppError `file_url_invalid`, `file_url_expired` */
function readClaims(request: FastifyRequest, secret: Uint8Array, clock: Clock): FileUrlClaims {
  // The address as it was sent: what needs decoding is not what was signed.
  const address = request.raw.url ?? "";
  const [path = "", query = ""] = splitOnce(address, "?");
  const key = path.startsWith(PATH) ? path.slice(PATH.length) : "";
  const claims = isStorageKey(key) ? readFileUrl(key, query, secret) : null;
  if (claims === null) {
    throw new AppError(
      "file_url_invalid",
      "The URL is not one that this service gave out. Ask for a new one.",
    );
  }
  // At the very second of its expiry it is expired.
  if (clock.now().getTime() >= Number(claims.expires) * 1000) {
    throw new AppError("file_url_expired", "The URL has expired. Ask for a new one.");
  }
  return claims;
}

/** @throws AppError `file_not_found`: to a client, a file that is gone is no fault of the storage. */
async function openFile(storage: FileReader, key: string): Promise<OpenedFile> {
  try {
    return await storage.openFile(key);
  } catch (error) {
    if (error instanceof AppError && error.code === "storage_object_missing") {
      throw new AppError("file_not_found", "The file was deleted.", { cause: error });
    }
    throw error;
  }
}

/** True where a stream was handed to the reply, which then closes the file. */
function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  file: OpenedFile,
  { contentType, fileName }: FileUrlClaims,
): boolean {
  const { headers } = request;
  reply.headers({
    etag: file.etag,
    "accept-ranges": "bytes",
    // A transcript is private, and its URL is meant to be used once.
    "cache-control": "private, no-store",
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; sandbox",
  });
  if (namesTag(headers["if-none-match"], file.etag)) {
    reply.code(304).send();
    return false;
  }
  // RFC 9110, 14.2: a range is defined for GET only. 13.1.5: a date in If-Range can not match here,
  // since these answers carry no Last-Modified.
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
    "content-type": `${contentType}; charset=utf-8`,
    "content-disposition": contentDisposition(fileName, contentType),
    "content-length": end - start + 1,
  });
  if (request.method === "HEAD" || file.size === 0) {
    reply.send();
    return false;
  }
  reply.send(file.stream({ start, end }));
  return true;
}

/** Whether an If-None-Match header names the tag, by weak comparison. */
function namesTag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === "*") return true;
  return [...header.matchAll(/"[^"]*"/g)].some(([tag]) => tag === etag);
}

function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + separator.length)];
}
