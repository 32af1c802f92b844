/**
 * The errors of the public API. `retryable` means that the same request may succeed later. Codes are stable; titles are
 * for humans and may change.
 */
export const API_ERRORS = {
  missing_api_key: { status: 401, retryable: false, title: "No API key was sent" },
  invalid_api_key: { status: 401, retryable: false, title: "The API key is not valid" },
  insufficient_permission: { status: 403, retryable: false, title: "The API key lacks a permission" },
  video_not_found: { status: 404, retryable: false, title: "The video was not found" },
  transcription_not_found: { status: 404, retryable: false, title: "The video has no transcription" },
  transcription_not_completed: {
    status: 409,
    retryable: false,
    title: "The transcription is not completed",
  },
  transcript_changed: { status: 412, retryable: false, title: "The transcript was changed in the meantime" },
  invalid_words: { status: 422, retryable: false, title: "The words are invalid" },
  precondition_required: { status: 428, retryable: false, title: "The request needs `If-Match`" },
  upload_incomplete: { status: 404, retryable: true, title: "The video is still uploading" },
  route_not_found: { status: 404, retryable: false, title: "There is no route at this path" },
  method_not_allowed: { status: 405, retryable: false, title: "The method is not allowed for this path" },
  invalid_request: { status: 400, retryable: false, title: "The request is malformed" },
  invalid_metadata: { status: 400, retryable: false, title: "The metadata is invalid" },
  request_timeout: { status: 408, retryable: true, title: "The request took too long to arrive" },
  payload_too_large: { status: 413, retryable: false, title: "The request is too large" },
  headers_too_large: { status: 431, retryable: false, title: "The request headers are too large" },
  unsupported_media_type: { status: 415, retryable: false, title: "The content type is not supported" },
  rate_limited: { status: 429, retryable: true, title: "Too many requests" },
  internal_error: { status: 500, retryable: true, title: "Internal server error" },
  service_unavailable: { status: 503, retryable: true, title: "The service is unavailable" },

  idempotency_key_reused: {
    status: 422,
    retryable: false,
    title: "The idempotency key was used for another request",
  },
  idempotency_key_in_use: {
    status: 409,
    retryable: true,
    title: "A request with this idempotency key is still running",
  },

  upload_not_found: { status: 404, retryable: false, title: "The upload was not found" },
  upload_expired: { status: 410, retryable: false, title: "The upload has expired" },
  upload_conflict: { status: 409, retryable: true, title: "The offset does not match the upload" },
  open_upload_limit_reached: {
    status: 409,
    retryable: true,
    title: "The limit for unfinished uploads was reached",
  },
  upload_locked: { status: 423, retryable: true, title: "Another request is writing to the upload" },
  upload_rejected: { status: 400, retryable: false, title: "The upload request is not valid tus 1.0" },
  upload_version_unsupported: { status: 412, retryable: false, title: "Only tus 1.0.0 is supported" },
  upload_url_invalid: { status: 403, retryable: false, title: "The upload URL is invalid" },
  origin_not_allowed: { status: 403, retryable: false, title: "The origin is not allowed" },
  storage_full: { status: 507, retryable: true, title: "No storage space is left" },
  storage_unavailable: { status: 503, retryable: true, title: "Storage is unavailable" },
  storage_object_denied: { status: 503, retryable: true, title: "Storage denied access to the file" },
  storage_object_unusable: { status: 503, retryable: true, title: "Storage cannot serve the file" },

  file_url_invalid: { status: 403, retryable: false, title: "The file URL is invalid" },
  file_url_expired: { status: 403, retryable: false, title: "The file URL has expired" },
  file_not_found: { status: 404, retryable: false, title: "The file was not found" },
  range_not_satisfiable: { status: 416, retryable: false, title: "The range is outside the file" },

  webhook_endpoint_not_found: { status: 404, retryable: false, title: "The webhook endpoint was not found" },
  webhook_endpoint_limit_reached: {
    status: 409,
    retryable: false,
    title: "The limit for webhook endpoints was reached",
  },
  webhook_endpoint_disabled: { status: 409, retryable: false, title: "The webhook endpoint is disabled" },
  webhook_url_rejected: { status: 400, retryable: false, title: "The webhook URL is not allowed" },
  delivery_not_found: { status: 404, retryable: false, title: "The delivery was not found" },
} as const satisfies Record<string, { status: number; retryable: boolean; title: string }>;

export type ApiErrorCode = keyof typeof API_ERRORS;
