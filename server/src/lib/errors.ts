import { API_ERRORS } from "@subtext/client/contract/api-errors";

/** All error codes: those of the public API, and those that only operators see. `docs/errors.md` explains each. */
export const APP_ERRORS = {
  ...API_ERRORS,

  storage_object_missing: { status: 404, retryable: false, title: "The stored file is missing" },

  storage_deletions_stopped: {
    status: 409,
    retryable: false,
    title: "Stored files are not deleted until the store is accepted",
  },
  storage_changed: { status: 409, retryable: true, title: "The store was written to in the meantime" },

  metrics_token_invalid: { status: 401, retryable: false, title: "The metrics token is missing or wrong" },

  data_folder_in_use: { status: 503, retryable: true, title: "Another process uses the data folder" },
  data_folder_not_writable: { status: 503, retryable: false, title: "The data folder cannot be written" },
  data_folder_mismatch: {
    status: 503,
    retryable: false,
    title: "The data folder cannot be used with these settings",
  },
  installation_missing: { status: 503, retryable: false, title: "No installation was found" },
  database_version_mismatch: { status: 503, retryable: false, title: "The database has another version" },
  query_outside_transaction: { status: 500, retryable: false, title: "A query bypassed its transaction" },

  backup_not_possible: {
    status: 409,
    retryable: false,
    title: "Use the tools of this database for backups",
  },
  backup_running: { status: 409, retryable: true, title: "A backup is in progress" },
  backup_target_refused: { status: 409, retryable: false, title: "The backup cannot be written there" },

  command_line_required: { status: 403, retryable: false, title: "Only the command line can do this" },
  sign_in_required: { status: 401, retryable: false, title: "Sign in first" },
  sign_in_failed: { status: 401, retryable: false, title: "The email or password is wrong" },
  role_required: { status: 403, retryable: false, title: "Your role does not allow this" },
  owner_required: { status: 403, retryable: false, title: "Only an owner can do this" },
  set_up_link_invalid: { status: 403, retryable: false, title: "The setup link is invalid or expired" },
  invitation_invalid: { status: 403, retryable: false, title: "The invitation is invalid or expired" },
  invitation_not_found: { status: 404, retryable: false, title: "Invitation not found" },
  operator_not_found: { status: 404, retryable: false, title: "Operator not found" },
  operator_email_taken: {
    status: 409,
    retryable: false,
    title: "An operator with this email already exists",
  },
  last_owner: { status: 409, retryable: false, title: "One owner must remain" },
  environment_not_found: { status: 404, retryable: false, title: "Environment not found" },
  environment_name_taken: { status: 409, retryable: false, title: "The environment's name is taken" },
  api_key_not_found: { status: 404, retryable: false, title: "API key not found" },
  api_key_limit_reached: {
    status: 409,
    retryable: false,
    title: "API key limit reached",
  },
  recording_deleted: {
    status: 410,
    retryable: false,
    title: "The retention period of the recording has ended",
  },
  transcript_not_found: { status: 404, retryable: false, title: "There is no transcript yet" },
  revision_not_found: { status: 404, retryable: false, title: "The transcript has no such revision" },
  bulk_operation_not_found: { status: 404, retryable: false, title: "Bulk operation not found" },
  waveform_not_found: { status: 404, retryable: false, title: "There is no waveform yet" },
  poster_not_found: { status: 404, retryable: false, title: "There is no poster" },
  transcription_not_failed: {
    status: 409,
    retryable: false,
    title: "Only a failed transcription can be reprocessed",
  },
  ai_transcription_off: { status: 409, retryable: false, title: "AI Transcription is off" },
  video_not_finished: { status: 409, retryable: true, title: "The video is not finished" },
  transcription_finished: {
    status: 409,
    retryable: false,
    title: "Only an unfinished transcription can be canceled",
  },
} as const satisfies Record<string, { status: number; retryable: boolean; title: string }>;

export type AppErrorCode = keyof typeof APP_ERRORS;

export interface AppErrorOptions extends ErrorOptions {
  /** In lower case. */
  headers?: Record<string, string>;
}

/** An error with a code. Clients see its `message`, which must not reveal internals. */
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
