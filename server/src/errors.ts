/**
 * Every error that the service gives by name: its HTTP status, its title for people, and whether the
 * same request may succeed later. `docs/errors.md` explains each; a test holds the two together.
 */
export const APP_ERRORS = {
  missing_api_key: { status: 401, retryable: false, title: "No API key was sent" },
  invalid_api_key: { status: 401, retryable: false, title: "The API key is not valid" },
  insufficient_permission: { status: 403, retryable: false, title: "The API key lacks a permission" },
  video_not_found: { status: 404, retryable: false, title: "There is no such video" },
  transcription_not_found: { status: 404, retryable: false, title: "The video has no transcription" },
  route_not_found: { status: 404, retryable: false, title: "There is nothing at this address" },
  method_not_allowed: { status: 405, retryable: false, title: "The method is not allowed here" },
  invalid_request: { status: 400, retryable: false, title: "The request is not well formed" },
  invalid_metadata: { status: 400, retryable: false, title: "The metadata is not acceptable" },
  payload_too_large: { status: 413, retryable: false, title: "The request is too large" },
  headers_too_large: { status: 431, retryable: false, title: "The request's headers are too large" },
  unsupported_media_type: { status: 415, retryable: false, title: "The content type is not supported" },
  rate_limited: { status: 429, retryable: true, title: "Too many requests" },
  internal_error: { status: 500, retryable: true, title: "Something went wrong on our side" },
  service_unavailable: { status: 503, retryable: true, title: "The service can not answer now" },

  upload_not_found: { status: 404, retryable: false, title: "There is no such upload" },
  upload_expired: { status: 410, retryable: false, title: "The upload has expired" },
  upload_conflict: { status: 409, retryable: true, title: "The upload stands at another offset" },
  upload_locked: { status: 423, retryable: true, title: "The upload is being written to" },
  upload_rejected: { status: 400, retryable: false, title: "The upload request is not valid tus 1.0" },
  upload_version_unsupported: { status: 412, retryable: false, title: "Only tus 1.0.0 is spoken here" },

  file_url_invalid: { status: 403, retryable: false, title: "The file URL was altered" },
  file_url_expired: { status: 403, retryable: false, title: "The file URL has expired" },
  file_not_found: { status: 404, retryable: false, title: "There is no such file" },
  range_not_satisfiable: { status: 416, retryable: false, title: "The range lies outside the file" },

  storage_full: { status: 507, retryable: true, title: "There is no space left" },
  storage_unavailable: { status: 503, retryable: true, title: "The storage does not answer" },
  storage_object_missing: { status: 404, retryable: false, title: "The stored file is missing" },

  data_folder_in_use: { status: 503, retryable: true, title: "Another process uses the data folder" },
  data_folder_mismatch: { status: 503, retryable: false, title: "The data folder is another database's" },
  database_version_mismatch: { status: 503, retryable: false, title: "The database is of another version" },
  query_outside_transaction: { status: 500, retryable: false, title: "A query bypassed its transaction" },

  sign_in_required: { status: 401, retryable: false, title: "Sign in first" },
  sign_in_failed: { status: 401, retryable: false, title: "The email or the password is wrong" },
  origin_not_allowed: { status: 403, retryable: false, title: "The page is not one of this service" },
  environment_not_found: { status: 404, retryable: false, title: "There is no such environment" },
  environment_name_taken: { status: 409, retryable: false, title: "The environment's name is taken" },
  api_key_not_found: { status: 404, retryable: false, title: "There is no such API key" },
  webhook_endpoint_not_found: { status: 404, retryable: false, title: "There is no such webhook endpoint" },
  webhook_url_rejected: { status: 400, retryable: false, title: "The webhook URL is not acceptable" },
  transcription_not_failed: {
    status: 409,
    retryable: false,
    title: "Only a failed transcription can be reprocessed",
  },
} as const satisfies Record<string, { status: number; retryable: boolean; title: string }>;

export type AppErrorCode = keyof typeof APP_ERRORS;

export interface AppErrorOptions extends ErrorOptions {
  /** Header fields of the HTTP response, lower case. */
  headers?: Record<string, string>;
}

/** An error with a name; `message` is for the client to read and tells nothing of the inside. */
export class AppError extends Error {
  readonly code: AppErrorCode;
  readonly status: number;
  readonly retryable: boolean;
  readonly title: string;
  readonly headers: Record<string, string>;

  constructor(code: AppErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options);
    this.name = "AppError";
    this.code = code;
    this.headers = options.headers ?? {};
    const { status, retryable, title } = APP_ERRORS[code];
    this.status = status;
    this.retryable = retryable;
    this.title = title;
  }
}
