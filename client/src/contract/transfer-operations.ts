import type { Operation } from "./operation.ts";
import { TRANSCRIPT_FORMATS } from "./transcription.ts";

const TUS = { "Tus-Resumable": { description: "tus protocol version", required: true, example: "1.0.0" } };
const uploadId = { uploadId: "Upload ID; same as the video ID" };

const upload = {
  group: "Uploads",
  access: "key or url",
  permission: "create_video",
  rateLimited: false,
  params: uploadId,
  requestHeaders: TUS,
} as const;

const EXPIRY = "HTTP date when the upload expires if no more data arrives";

const storageErrors = ["storage_unavailable", "storage_object_denied", "storage_object_unusable"] as const;
const uploadErrors = [
  "upload_url_invalid",
  "origin_not_allowed",
  "upload_not_found",
  "upload_version_unsupported",
] as const;

/** tus 1.0 with creation, creation-with-upload, creation-defer-length, termination and expiration. */
export const UPLOAD_OPERATIONS = {
  createUpload: {
    ...upload,
    id: "createUpload",
    method: "POST",
    path: "/api/v1/uploads",
    summary: "Create an upload (tus)",
    description:
      "Use this as your tus client's `endpoint`; requires an API key. The upload ID is also the video ID. A request repeated with the same `Idempotency-Key` returns the existing upload instead of creating a second video.",
    access: "key",
    params: {},
    requestHeaders: {
      ...TUS,
      "Upload-Length": {
        description: "Total size in bytes; if unknown, send `Upload-Defer-Length: 1` instead",
        required: false,
        example: "18934221",
      },
      "Upload-Metadata": {
        description: "Keys with base64 values, separated by commas; at most 4 KiB in total",
        required: false,
        example: "filename bWVldGluZy5tcDQ=,customer NDI=",
      },
    },
    success: {
      status: 201,
      description: "The upload was created",
      body: null,
      headers: { Location: "Relative URL of the upload", "Upload-Expires": EXPIRY },
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
      ...storageErrors,
    ],
  },
  getUploadOffset: {
    ...upload,
    id: "getUploadOffset",
    method: "HEAD",
    path: "/api/v1/uploads/{uploadId}",
    summary: "Get upload offset (tus)",
    description:
      "Requires an API key or the upload URL from `POST /api/v1/videos`. Error responses have no body.",
    success: {
      status: 200,
      description: "The offset of the upload",
      body: null,
      headers: { "Upload-Offset": "Bytes received", "Upload-Length": "Total size in bytes" },
    },
    errors: [...uploadErrors, "upload_expired"],
    serverErrorReplacement: "upload_locked",
  },
  uploadChunk: {
    ...upload,
    id: "uploadChunk",
    method: "PATCH",
    path: "/api/v1/uploads/{uploadId}",
    summary: "Upload a chunk (tus)",
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
      headers: { "Upload-Offset": "Bytes received", "Upload-Expires": EXPIRY },
    },
    errors: [
      ...uploadErrors,
      "upload_rejected",
      "open_upload_limit_reached",
      "upload_conflict",
      "upload_expired",
      "upload_locked",
      "payload_too_large",
      "unsupported_media_type",
      "storage_full",
      ...storageErrors,
    ],
  },
  deleteUpload: {
    ...upload,
    id: "deleteUpload",
    method: "DELETE",
    path: "/api/v1/uploads/{uploadId}",
    summary: "Cancel an upload (tus)",
    description: "Cancels an unfinished upload. To delete an uploaded video, use `/api/v1/videos/{videoId}`.",
    success: { status: 204, description: "The upload was canceled", body: null },
    errors: [...uploadErrors, "upload_rejected", ...storageErrors],
  },
} as const satisfies Record<string, Operation>;

/** The format of file URLs depends on the storage backend, so clients must not construct them. */
export const FILE_OPERATIONS = {
  getFile: {
    id: "getFile",
    method: "GET",
    path: "/files/{key}",
    group: "Files",
    summary: "Download a transcript file",
    description:
      "Use the URLs in `files` of a transcription as is. They are valid for 5 minutes, need no key, and work from any origin. If files are stored in a bucket, the URLs point to the bucket.",
    access: "url",
    permission: null,
    rateLimited: false,
    params: { key: "Opaque; may contain slashes" },
    success: {
      status: 200,
      description: `The file as UTF-8: ${new Intl.ListFormat("en-GB", { type: "disjunction" }).format(
        Object.values(TRANSCRIPT_FORMATS).map(({ contentType }) => `\`${contentType}\``),
      )}`,
      body: null,
      files: Object.fromEntries(
        Object.values(TRANSCRIPT_FORMATS).map(({ contentType, content }) => [contentType, content]),
      ),
      headers: { ETag: "The file's ETag", "Content-Disposition": "Suggested filename" },
      partial: "The requested range of the file",
    },
    errors: [
      "file_url_invalid",
      "file_url_expired",
      "file_not_found",
      "range_not_satisfiable",
      ...storageErrors,
    ],
  },
} as const satisfies Record<string, Operation>;
