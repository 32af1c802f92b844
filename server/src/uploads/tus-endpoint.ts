import { API_ERRORS } from "@subtext/client/contract/api-errors";
import type { VideoMetadata } from "@subtext/client/contract/video";
import { type ServerOptions, Server as TusServer } from "@tus/server";
import { ERRORS, type Locker, Upload } from "@tus/utils";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { NodeRequest } from "srvx/node";
import { type Authorize, bearerToken } from "../api-keys/authorize.ts";
import type { TokenLimits } from "../api-keys/token-limits.ts";
import type { Db, Tx } from "../db/schema.ts";
import type { VideoRow } from "../db/tables/videos.ts";
import { requireRoomForUpload, requireRoomToGrow } from "../environments/limits.ts";
import { refuseEncodedBody } from "../http/body-encoding.ts";
import { addressGroup } from "../http/client-address.ts";
import { disableBodyParsing } from "../http/disable-body-parsing.ts";
import { AppError, type AppErrorCode } from "../lib/errors.ts";
import { isPlausibleId, newId } from "../lib/ids.ts";
import { checkMetadata } from "../lib/metadata.ts";
import { TurnQueue, type TurnQueueLimits } from "../lib/turn-queue.ts";
import { isDiskFull, storageFull } from "../storage/disk/disk-space.ts";
import type { RecordingStore } from "../storage/recording-store.ts";
import { findVideo, insertVideo } from "../videos/queries.ts";
import { type AcceptDeps, acceptUpload } from "./accept-upload.ts";
import { findCreated, insertOnce, readCreation } from "./repeated-upload.ts";
import { authorizeByUrl, checkOrigin, type Uploader } from "./upload-access.ts";
import type { UploadStore } from "./upload-store.ts";

export const UPLOADS_PATH = "/api/v1/uploads";
const TUS_VERSION = "1.0.0";
const CHUNK_MEDIA_TYPE = "application/offset+octet-stream";
/** Maximum time for a writer to stop after another request or a deletion has requested the lock. */
const LOCK_DRAIN_MS = 500;

/**
 * Limits concurrent requests to the database. A request has a turn while it begins and while it ends, but not while
 * bytes arrive. The connection limit also limits the number of waiting requests.
 */
const TURNS: TurnQueueLimits = { maxRunning: 32, maxRunningPerOwner: 8, maxWaiting: 3_000 };

/** Response headers that pages of other origins may read, also in error responses. */
const EXPOSED_HEADERS = [
  "Idempotency-Replayed",
  "Location",
  "RateLimit",
  "RateLimit-Policy",
  "Retry-After",
  "Tus-Extension",
  "Tus-Max-Size",
  "Tus-Resumable",
  "Tus-Version",
  "Upload-Defer-Length",
  "Upload-Expires",
  "Upload-Length",
  "Upload-Metadata",
  "Upload-Offset",
  "X-Request-Id",
].join(", ");

export interface UploadsDeps extends AcceptDeps {
  store: UploadStore;
  recordings: RecordingStore;
  /** Does not apply the rate limit. Upload requests are queued instead. */
  authorize: Authorize;
  limits: TokenLimits;
  maxUploadBytes: number;
  locker: Locker;
  /** Signs upload URLs. */
  secret: Uint8Array;
  /** The service's own origin. Its pages may upload to every environment. */
  publicUrl: string;
  /** Called when an upload begins, and whenever more of it arrives. */
  onUploading?: (environmentId: string) => void;
}

const LENGTH_REFUSED =
  "The length of this upload was declared before, or Upload-Length is less than the upload's offset. Resume without Upload-Length.";

interface UploadRequest {
  uploader: Uploader | null;
  log: FastifyRequest["log"];
  /** Owner of the request's turns. */
  owner: string;
  /** Null if the request creates no upload or has no `Idempotency-Key`. */
  creation: ReturnType<typeof readCreation>;
  /** Ends the current turn. Call this before the request waits for its client or for another request. */
  endTurn(): void;
  /** The original error. tus reports only a line of text. */
  failure?: unknown;
  /** Set if this request created the upload and all of its bytes are durable. */
  stored?: { id: string; sizeBytes: number };
}

/**
 * Adds the routes of tus 1.0 with the extensions creation, creation-with-upload, creation-defer-length, termination and
 * expiration.
 */
export async function registerUploads(app: FastifyInstance, deps: UploadsDeps): Promise<void> {
  const requests = new WeakMap<object, UploadRequest>();
  const turns = new TurnQueue(TURNS);
  const tus = new TusServer({ datastore: deps.store, ...tusOptions(deps, requests, turns) });

  // Added to the whole app, because the 404 and 405 responses do not come from these routes.
  app.addHook("onRequest", async (request, reply) => {
    if (!request.url.startsWith(UPLOADS_PATH)) return;
    reply.header("access-control-allow-origin", "*");
    reply.header("access-control-expose-headers", EXPOSED_HEADERS);
  });
  // Common clients retry a HEAD request after 423. After other errors, they start a second upload, which would create a
  // second video.
  app.addHook("onSend", async (request, reply) => {
    if (request.method !== "HEAD" || !request.url.startsWith(UPLOADS_PATH)) return;
    if (reply.statusCode >= 500) reply.code(API_ERRORS.upload_locked.status);
  });

  await app.register(async (uploads) => {
    // The tus server reads the bodies as streams.
    disableBodyParsing(uploads, CHUNK_MEDIA_TYPE);

    const authorized = async (request: FastifyRequest, reply: FastifyReply): Promise<Uploader | null> => {
      if (request.method === "OPTIONS") return null;
      const uploader = (await authorizeByUrl(deps, request)) ?? (await deps.authorize(request, reply));
      await checkOrigin(deps, request, reply, uploader);
      return uploader;
    };
    const serve = async (request: FastifyRequest, reply: FastifyReply) => {
      if (request.method === "OPTIONS") return await serveInTurn(request, reply, "", () => {});
      const owner = deps.limits.ownerOf(bearerToken(request), addressGroup(request.ip));
      const endTurn = await turns.enter(owner, abortedOnClose(reply));
      try {
        return await serveInTurn(request, reply, owner, endTurn);
      } finally {
        endTurn();
      }
    };
    const serveInTurn = async (
      request: FastifyRequest,
      reply: FastifyReply,
      owner: string,
      endTurn: () => void,
    ) => {
      const uploader = await authorized(request, reply);
      if (request.method !== "OPTIONS") checkProtocol(request);
      const creation =
        uploader && request.method === "POST"
          ? readCreation(request, uploader.environmentId, deps.clock)
          : null;
      const created = creation && (await findCreated(deps.db, creation));
      if (created) return await respondRepeated(deps, created, reply);
      const upload: UploadRequest = { uploader, log: request.log, owner, endTurn, creation };
      requests.set(request.raw, upload);
      const tusRequest = new NodeRequest({ req: request.raw, res: reply.raw });
      // The tus server rejects the lists that several proxies send. Relative locations do not need the header.
      tusRequest.headers.delete("x-forwarded-proto");
      const response = await tus.handleWeb(tusRequest);
      const {
        "access-control-expose-headers": _exposed,
        "access-control-allow-origin": _allowed,
        ...headers
      } = Object.fromEntries(response.headers);
      if (response.status >= 500 && upload.stored) return await respondStored(upload.stored, upload, reply);
      if (response.status >= 400) {
        const text = await response.text();
        // The tus server's text would be that a length is missing.
        const isLength = request.method === "PATCH" && text === ERRORS.INVALID_LENGTH.body;
        throw uploadError(response.status, isLength ? LENGTH_REFUSED : text, headers, upload.failure);
      }
      return await reply
        .code(response.status)
        .headers(headers)
        .send(await response.text());
    };
    const config = { streamsBody: true };
    // Other tus servers have a trailing slash, so some clients send it.
    for (const url of [UPLOADS_PATH, `${UPLOADS_PATH}/`])
      uploads.route({ method: ["POST", "OPTIONS"], url, config, handler: serve });
    uploads.route({
      method: ["HEAD", "PATCH", "DELETE", "OPTIONS"],
      url: `${UPLOADS_PATH}/:uploadId`,
      config,
      handler: serve,
    });
  });
}

/** Returns a signal that is aborted when the response is complete or the connection closes. */
function abortedOnClose({ raw }: FastifyReply): AbortSignal {
  const closed = new AbortController();
  const reason = new AppError("request_timeout", "The connection was closed while the request waited.");
  raw.once("close", () => closed.abort(reason));
  return closed.signal;
}

function tusOptions(
  deps: UploadsDeps,
  requests: WeakMap<object, UploadRequest>,
  turns: TurnQueue,
): ServerOptions {
  type TusRequest = Parameters<NonNullable<ServerOptions["onUploadFinish"]>>[0];
  const requestOf = (request: TusRequest): UploadRequest => {
    const known = request.runtime?.node && requests.get(request.runtime.node.req);
    if (!known) throw new Error("a tus hook was called for a request that Fastify did not route");
    return known;
  };

  return {
    path: UPLOADS_PATH,
    // Clients resolve a relative location. The service does not know the scheme and host of a reverse proxy.
    relativeLocation: true,
    maxSize: deps.maxUploadBytes,
    disableTerminationForFinishedUploads: true,
    allowedHeaders: ["Idempotency-Key", "X-Request-ID"],
    locker: deps.locker,
    lockDrainTimeout: LOCK_DRAIN_MS,
    namingFunction: () => newId("video"),
    // Upload URLs have a query.
    getFileIdFromRequest: (request) => new URL(request.url).pathname.split("/").at(-1),

    async onIncomingRequest(request, uploadId) {
      if (request.method === "POST" || request.method === "OPTIONS") return;
      const video = isPlausibleId(uploadId) ? await findVideo(deps.db, uploadId) : undefined;
      if (!video || video.environment_id !== requestOf(request).uploader?.environmentId) {
        throw new AppError("upload_not_found", "This environment has no upload with this ID.");
      }
      if (video.recording_deleted_at !== null) {
        throw new AppError(
          "upload_expired",
          "The recording was uploaded, and deleted when its retention period ended.",
        );
      }
      if (video.uploaded_at === null) await deps.store.ensureFile(video.id);
      // An empty recording has no bytes to send, so clients only request the offset.
      if (video.uploaded_at === null && video.size_bytes === 0 && request.method !== "DELETE") {
        await deps.store.create(new Upload({ id: video.id, size: 0, offset: 0 }));
        await acceptUpload(deps, { videoId: video.id, sizeBytes: 0 });
      }
      const contentLength = request.headers.get("content-length");
      // A request without a body only completes an upload.
      if (request.method === "PATCH" && contentLength !== "0") {
        await deps.store.requireSpace(Number(contentLength ?? 0));
        deps.onUploading?.(video.environment_id);
      }
      if (request.method === "PATCH" && video.uploaded_at === null && video.size_bytes === null) {
        const { maxUploadBytes } = deps;
        const sizeBytes = Number(
          request.headers.get("upload-length") ?? video.received_bytes + Number(contentLength ?? 0),
        );
        // The tus server rejects a larger or invalid length.
        if (sizeBytes <= maxUploadBytes)
          await requireRoomToGrow(deps.db, video, { sizeBytes, maxUploadBytes });
      }
      // From here on, the request waits for the lock and for bytes.
      requestOf(request).endTurn();
    },

    async onUploadCreate(request, upload) {
      const { uploader, creation } = requestOf(request);
      if (!uploader) throw new AppError("missing_api_key", "Uploads need an API key.");
      const metadata: VideoMetadata = upload.metadata ?? {};
      checkMetadata(metadata, "Upload-Metadata");
      const { maxUploadBytes } = deps;
      const hasContent = request.headers.get("content-type") === CHUNK_MEDIA_TYPE;
      const contentBytes = hasContent ? Number(request.headers.get("content-length") ?? 0) : 0;
      // Checked before the upload exists, because after a failure its client would not learn its location.
      if (contentBytes > (upload.size ?? maxUploadBytes)) {
        throw new AppError("payload_too_large", "The content is longer than the upload may be.");
      }
      const sizeBytes = upload.size ?? contentBytes;
      await deps.store.requireSpace(sizeBytes);
      await requireRoomForUpload(deps.db, uploader.environmentId, { sizeBytes, maxUploadBytes });
      const insert = (db: Db | Tx) =>
        insertVideo(db, {
          id: upload.id,
          environmentId: uploader.environmentId,
          metadata,
          sizeBytes: upload.size ?? null,
          now: deps.clock.now(),
        });
      await (creation ? insertOnce(deps.db, creation, insert) : insert(deps.db));
      deps.onUploading?.(uploader.environmentId);
      requestOf(request).endTurn();
      return { metadata };
    },

    async onUploadFinish(request, { id, offset: sizeBytes }) {
      const { owner, log } = requestOf(request);
      const endTurn = await turns.reenter(owner);
      try {
        await syncUnlessDeleted(deps, id);
        if (request.method === "POST") requestOf(request).stored = { id, sizeBytes };
        const accepted = await acceptUpload(deps, { videoId: id, sizeBytes });
        if (accepted) log.info({ videoId: id, bytes: sizeBytes }, "upload accepted");
      } finally {
        endTurn();
      }
      return {};
    },

    onResponseError(request, error) {
      requestOf(request).failure = error;
      return undefined;
    },
  };
}

/** @throws AppError `upload_not_found` if the video was deleted while its last bytes arrived */
async function syncUnlessDeleted({ db, recordings }: UploadsDeps, uploadId: string): Promise<void> {
  try {
    await recordings.sync(uploadId);
  } catch (error) {
    if (await findVideo(db, uploadId)) throw error;
    throw new AppError("upload_not_found", "The video was deleted.", { cause: error });
  }
}

/**
 * Checks what tus requires. The tus server would respond with the wrong status.
 * @throws AppError `upload_version_unsupported`, `unsupported_media_type`
 */
function checkProtocol(request: FastifyRequest): void {
  const { method, headers } = request;
  if (headers["tus-resumable"] !== TUS_VERSION) {
    throw new AppError("upload_version_unsupported", `Send the header \`Tus-Resumable: ${TUS_VERSION}\`.`, {
      headers: { "tus-resumable": TUS_VERSION, "tus-version": TUS_VERSION },
    });
  }
  if (method === "PATCH" && headers["content-type"] !== CHUNK_MEDIA_TYPE) {
    throw new AppError("unsupported_media_type", `Send the header \`Content-Type: ${CHUNK_MEDIA_TYPE}\`.`, {
      headers: { "tus-resumable": TUS_VERSION },
    });
  }
  if (method === "POST" || method === "PATCH") refuseEncodedBody(request);
}

/**
 * Responds 201 to a POST whose upload is complete but could not be accepted, for example because of a short database
 * outage. The sweep accepts it. After an error, the client would upload the recording again as a second video. The
 * upload cannot be removed, because its acceptance may have been committed although the response was lost. A PATCH may
 * fail instead, because its client then requests the offset of the same upload.
 */
async function respondStored(
  { id, sizeBytes }: { id: string; sizeBytes: number },
  { log, failure }: UploadRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  log.error({ err: failure, videoId: id }, "could not accept a complete upload; the sweep will accept it");
  return await reply
    .code(201)
    .headers({
      location: `${UPLOADS_PATH}/${id}`,
      "tus-resumable": TUS_VERSION,
      "upload-offset": String(sizeBytes),
    })
    .send();
}

/** Responds to a repeated creation, whose first response was lost. The client then requests the offset. */
async function respondRepeated(
  { store }: UploadsDeps,
  { id, uploaded_at: uploadedAt, size_bytes: sizeBytes }: VideoRow,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if (uploadedAt === null) await store.ensureFile(id);
  const offset = uploadedAt === null ? (await store.getUpload(id)).offset : sizeBytes;
  return await reply
    .code(201)
    .headers({
      location: `${UPLOADS_PATH}/${id}`,
      "tus-resumable": TUS_VERSION,
      "upload-offset": String(offset),
      "idempotency-replayed": "true",
    })
    .send();
}

const CODES: Record<number, AppErrorCode> = {
  400: "upload_rejected",
  403: "upload_rejected",
  404: "upload_not_found",
  409: "upload_conflict",
  410: "upload_expired",
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
  const named = isDiskFull(failure) ? storageFull(failure) : failure;
  if (named instanceof AppError) {
    const { code, message } = named;
    return new AppError(code, message, { headers: { ...kept, ...named.headers }, cause: failure });
  }
  // After the tus server's status 400, clients would give up. After a conflict, they request the offset and resume.
  if (status === 400 && text.trim() === ERRORS.ABORTED.body) {
    const message =
      "Another request has taken over this upload, or its lock was lost. Request the offset and resume.";
    return new AppError("upload_conflict", message, { headers: kept, cause: failure });
  }
  const code = CODES[status];
  if (!code) return failure ?? new Error(`the tus server answered ${status}: ${text.trim()}`);
  return new AppError(code, text.trim(), { headers: kept, cause: failure });
}
