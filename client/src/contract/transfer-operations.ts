import type { Operation } from "./operation.ts";
import { TRANSCRIPT_FORMATS } from "./transcription.ts";

const TUS = { "Tus-Resumable": { description: "The protocol version", required: true, example: "1.0.0" } };
const uploadId = { uploadId: "Identifier of the upload, which is the video's" };

const upload = {
  group: "Uploads",
  access: "key or url",
  permission: "create_video",
  rateLimited: false,
  params: uploadId,
  requestHeaders: TUS,
} as const;

const EXPIRY = "When the upload is removed unless more of it comes, HTTP date";

/** Errors of the whole storage, and of one stored file. */
const ofStorage = ["storage_unavailable", "storage_object_denied", "storage_object_unusable"] as const;
const ofUpload = [
  "upload_url_invalid",
  "origin_not_allowed",
  "upload_not_found",
  "upload_version_unsupported",
] as const;

/** Uploads: tus 1.0 with creation, creation-with-upload, creation-defer-length, termination and expiration. */
export const UPLOAD_OPERATIONS = {
  createUpload: {
    ...upload,
    id: "createUpload",
    method: "POST",
    path: "/api/v1/uploads",
    summary: "Create an upload (tus)",
    description:
      "tus creation, with a key: `endpoint` of a tus client. The upload's id is the video's id. With an `Idempotency-Key`, a client that repeats its request gets the upload that the first one created, so no second video is created.",
    access: "key",
    params: {},
    requestHeaders: {
      ...TUS,
      "Upload-Length": {
        description: "Total size in bytes; or `Upload-Defer-Length: 1`",
        required: false,
        example: "18934221",
      },
      "Upload-Metadata": {
        description: "Keys with base64 values, separated by commas; at most 4 KB in total",
        required: false,
        example: "filename bWVldGluZy5tcDQ=,customer NDI=",
      },
    },
    success: {
      status: 201,
      description: "The upload was created",
      body: null,
      headers: { Location: "The upload's address, relative", "Upload-Expires": EXPIRY },
    },
    errors: [
      "origin_not_allowed",
      "upload_version_unsupported",
      "upload_rejected",
      "invalid_metadata",
      "payload_too_large",
      "unsupported_media_type",
      "open_upload_limit_reached",
      "storage_full",
      ...ofStorage,
    ],
  },
  getUploadOffset: {
    ...upload,
    id: "getUploadOffset",
    method: "HEAD",
    path: "/api/v1/uploads/{uploadId}",
    summary: "Ask how far an upload is (tus)",
    description: "With a key, or with the upload URL of `POST /api/v1/videos`. Error responses have no body.",
    success: {
      status: 200,
      description: "The offset of the upload",
      body: null,
      headers: { "Upload-Offset": "Bytes that are here", "Upload-Length": "Bytes in all" },
    },
    errors: [...ofUpload, "upload_expired"],
    insteadOfFault: "upload_locked",
  },
  uploadPiece: {
    ...upload,
    id: "uploadPiece",
    method: "PATCH",
    path: "/api/v1/uploads/{uploadId}",
    summary: "Upload a piece (tus)",
    description:
      "Appends bytes at `Upload-Offset`. The last byte completes the upload and queues the transcription.",
    requestHeaders: {
      ...TUS,
      "Upload-Offset": { description: "The offset of the first byte", required: true, example: "0" },
    },
    bodyMediaType: "application/offset+octet-stream",
    success: {
      status: 204,
      description: "The bytes were received",
      body: null,
      headers: { "Upload-Offset": "Bytes that are here", "Upload-Expires": EXPIRY },
    },
    errors: [
      ...ofUpload,
      "upload_rejected",
      "upload_conflict",
      "upload_expired",
      "upload_locked",
      "payload_too_large",
      "unsupported_media_type",
      "storage_full",
      ...ofStorage,
    ],
  },
  deleteUpload: {
    ...upload,
    id: "deleteUpload",
    method: "DELETE",
    path: "/api/v1/uploads/{uploadId}",
    summary: "Give an upload up (tus)",
    description: "Cancels an unfinished upload. To delete an uploaded video, use `/api/v1/videos/{videoId}`.",
    success: { status: 204, description: "Deleted", body: null },
    errors: [...ofUpload, "upload_rejected", ...ofStorage],
  },
} as const satisfies Record<string, Operation>;

/** File URLs. Their format depends on the storage: take them from a transcription, never build one. */
export const FILE_OPERATIONS = {
  getFile: {
    id: "getFile",
    method: "GET",
    path: "/files/{key}",
    group: "Files",
    summary: "Fetch a transcript file",
    description:
      "The URLs in `files` of a transcription, used unchanged: without a key, for 5 minutes, from any origin, with ranges. If files are stored in a bucket, the bucket responds instead.",
    access: "url",
    permission: null,
    rateLimited: false,
    params: { key: "Opaque, with slashes; the rest of the URL's path and query is signed" },
    success: {
      status: 200,
      description: `The file as UTF-8: ${new Intl.ListFormat("en-GB", { type: "disjunction" }).format(
        Object.values(TRANSCRIPT_FORMATS).map(({ contentType }) => `\`${contentType}\``),
      )}`,
      body: null,
      files: Object.fromEntries(
        Object.values(TRANSCRIPT_FORMATS).map(({ contentType, content }) => [contentType, content]),
      ),
      headers: { ETag: "Of the file", "Content-Disposition": "A name to save it by" },
    },
    errors: ["file_url_invalid", "file_url_expired", "file_not_found", "range_not_satisfiable", ...ofStorage],
  },
} as const satisfies Record<string, Operation>;
