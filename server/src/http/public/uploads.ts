import type { VideoMetadata } from "@subtext/client/contract/webhook";
import { type ServerOptions, Server as TusServer } from "@tus/server";
import type { DataStore } from "@tus/utils";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { NodeRequest } from "srvx/node";
import { findVideo, insertVideo } from "../../db/videos.ts";
import { AppError, type AppErrorCode } from "../../errors.ts";
import { isPlausibleId, newId } from "../../ids.ts";
import { type AcceptDeps, acceptUpload } from "../../pipeline/accept.ts";
import type { Sources } from "../../storage/sources.ts";
import type { Authorize, Principal } from "../authorize.ts";

const UPLOADS_PATH = "/api/v1/uploads";
const MAX_METADATA_BYTES = 4096;

export interface UploadsDeps extends AcceptDeps {
  store: DataStore;
  sources: Sources;
  /** For new uploads. */
  authorize: Authorize;
  /** For the pieces of an upload: a fast network sends many a second, so the rate of a key does not hold. */
  authorizePiece: Authorize;
  maxUploadBytes: number;
}

/** What the tus server's hooks know of the request that they serve. */
interface UploadRequest {
  principal: Principal | null;
  log: FastifyRequest["log"];
  /** What went wrong inside, before tus made a line of text of it. */
  failure?: unknown;
}

/** tus 1.0: creation, creation with upload, deferred length, termination, expiration. */
export async function registerUploads(app: FastifyInstance, deps: UploadsDeps): Promise<void> {
  const requests = new WeakMap<object, UploadRequest>();
  const tus = new TusServer({ datastore: deps.store, ...tusOptions(deps, requests) });

  await app.register(async (uploads) => {
    // Bodies are streamed by the tus server, whatever they call themselves.
    uploads.removeAllContentTypeParsers();
    uploads.addContentTypeParser("*", (_request, _payload, done) => done(null));

    const authorized = async (request: FastifyRequest, reply: FastifyReply): Promise<Principal | null> => {
      if (request.method === "OPTIONS") return null;
      return await (request.method === "POST" ? deps.authorize : deps.authorizePiece)(request, reply);
    };
    const answer = async (request: FastifyRequest, reply: FastifyReply) => {
      reply.header("access-control-allow-origin", "*");
      const principal = await authorized(request, reply);
      const upload: UploadRequest = { principal, log: request.log };
      requests.set(request.raw, upload);
      const response = await tus.handleWeb(new NodeRequest({ req: request.raw, res: reply.raw }));
      const headers = Object.fromEntries(response.headers);
      if (response.status >= 400) {
        if (!request.raw.complete) headers.connection = "close";
        throw uploadError(response.status, await response.text(), headers, upload.failure);
      }
      return await reply
        .code(response.status)
        .headers(headers)
        .send(await response.text());
    };
    uploads.route({ method: ["POST", "OPTIONS"], url: UPLOADS_PATH, handler: answer });
    uploads.route({
      method: ["HEAD", "PATCH", "DELETE", "OPTIONS"],
      url: `${UPLOADS_PATH}/:uploadId`,
      handler: answer,
    });
  });
}

function tusOptions(
  deps: UploadsDeps,
  requests: WeakMap<object, UploadRequest>,
): Omit<ServerOptions, "locker"> {
  type TusRequest = Parameters<NonNullable<ServerOptions["onUploadFinish"]>>[0];
  const requestOf = (request: TusRequest): UploadRequest => {
    const known = request.runtime?.node && requests.get(request.runtime.node.req);
    if (!known) throw new Error("a tus hook was called for a request that did not come through Fastify");
    return known;
  };

  return {
    path: UPLOADS_PATH,
    // A reverse proxy's scheme and host are its own affair; clients resolve this against their request.
    relativeLocation: true,
    maxSize: deps.maxUploadBytes,
    disableTerminationForFinishedUploads: true,
    namingFunction: () => newId("video"),

    async onIncomingRequest(request, uploadId) {
      if (request.method === "POST" || request.method === "OPTIONS") return;
      const video = isPlausibleId(uploadId) ? await findVideo(deps.db, uploadId) : undefined;
      if (!video || video.environment_id !== requestOf(request).principal?.environmentId) {
        throw new AppError("upload_not_found", "This environment has no upload with this id.");
      }
    },

    async onUploadCreate(request, upload) {
      const { principal } = requestOf(request);
      if (!principal) throw new AppError("missing_api_key", "Uploads need an API key.");
      const metadata = checkMetadata(upload.metadata ?? {});
      await insertVideo(deps.db, {
        id: upload.id,
        environmentId: principal.environmentId,
        metadata,
        sizeBytes: upload.size ?? null,
        now: deps.clock.now(),
      });
      return { metadata };
    },

    async onUploadFinish(request, upload) {
      await deps.sources.sync(upload.id);
      const accepted = await acceptUpload(deps, { videoId: upload.id, sizeBytes: upload.offset });
      if (accepted)
        requestOf(request).log.info({ videoId: upload.id, bytes: upload.offset }, "upload accepted");
      return {};
    },

    onResponseError(request, error) {
      requestOf(request).failure = error;
      return undefined;
    },
  };
}

function checkMetadata(metadata: VideoMetadata): VideoMetadata {
  const bytes = Buffer.byteLength(JSON.stringify(metadata));
  if (bytes > MAX_METADATA_BYTES) {
    throw new AppError(
      "invalid_metadata",
      `Upload-Metadata may hold ${MAX_METADATA_BYTES} bytes; it holds ${bytes}.`,
    );
  }
  // PostgreSQL can not keep U+0000 in text.
  if (JSON.stringify(metadata).includes("\\u0000")) {
    throw new AppError("invalid_metadata", "Upload-Metadata may not hold the character U+0000.");
  }
  return metadata;
}

const CODES: Record<number, AppErrorCode> = {
  400: "upload_rejected",
  403: "upload_rejected",
  404: "upload_not_found",
  409: "upload_conflict",
  410: "upload_expired",
  412: "upload_version_unsupported",
  413: "payload_too_large",
  501: "upload_rejected",
};

function uploadError(
  status: number,
  text: string,
  headers: Record<string, string>,
  failure: unknown,
): unknown {
  const { "content-length": _length, "content-type": _type, ...kept } = headers;
  if (failure instanceof AppError) {
    return new AppError(failure.code, failure.message, {
      headers: { ...kept, ...failure.headers },
      cause: failure,
    });
  }
  const code = CODES[status];
  if (!code) return failure ?? new Error(`the tus server answered ${status}: ${text.trim()}`);
  if (code === "upload_version_unsupported") kept["tus-version"] = "1.0.0";
  return new AppError(code, text.trim(), { headers: kept, cause: failure });
}
