import { createSecretKey, type KeyObject } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { sendFile } from "../http/send-file.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { contentDisposition } from "../storage/content-disposition.ts";
import type { FileReader } from "../storage/disk/disk-transcript-store.ts";
import { type FileUrlClaims, parseFileUrl } from "../storage/disk/file-url.ts";
import type { OpenedFile } from "../storage/disk/local-file.ts";
import { isStorageKey } from "../storage/key.ts";
import { isObjectMissing } from "../storage/object-errors.ts";

const PATH = "/files/";

/** Any page may load these files, because the signed URL itself grants access. */
const CORS = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "Accept-Ranges, Content-Disposition, Content-Length, Content-Range, ETag",
  "cross-origin-resource-policy": "cross-origin",
};

export interface FilesOptions {
  transcripts: FileReader;
  /** The secret that signs the URLs. */
  secret: Uint8Array;
  clock: Clock;
}

/** Serves the presigned URLs of the disk storage, `/files/<key>?…`. */
export function registerFiles(app: FastifyInstance, options: FilesOptions): void {
  const { transcripts, clock } = options;
  const secret = createSecretKey(options.secret);
  // In a separate plugin, so that its hook applies only to these routes.
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
        const file = await openFile(transcripts, claims.key);
        const { fileName, contentType } = claims;
        return await sendFile(request, reply, file, {
          contentType: `${contentType}; charset=utf-8`,
          contentDisposition: contentDisposition(fileName, contentType),
          // Transcripts are private.
          cacheControl: "private, no-store",
        });
      },
    });
  });
}

function readClaims(request: FastifyRequest, secret: KeyObject, clock: Clock): FileUrlClaims {
  // Not decoded, because keys contain only characters that need no encoding.
  const url = request.raw.url ?? "";
  const [path = "", query = ""] = splitOnce(url, "?");
  const key = path.startsWith(PATH) ? path.slice(PATH.length) : "";
  const claims = isStorageKey(key) ? parseFileUrl(key, query, secret) : null;
  if (claims === null) {
    throw new AppError("file_url_invalid", "The URL was not signed by this service. Request a new one.");
  }
  if (clock.now().getTime() >= Number(claims.expires) * 1000) {
    throw new AppError("file_url_expired", "The URL has expired. Request a new one.");
  }
  return claims;
}

/** @throws AppError `file_not_found` instead of the storage's error for a missing file */
async function openFile(transcripts: FileReader, key: string): Promise<OpenedFile> {
  try {
    return await transcripts.openFile(key);
  } catch (error) {
    if (isObjectMissing(error)) {
      throw new AppError("file_not_found", "The file was deleted.", { cause: error });
    }
    throw error;
  }
}

function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + separator.length)];
}
