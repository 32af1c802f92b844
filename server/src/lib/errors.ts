import { API_ERRORS } from "@subtext/client/contract/api-errors";

/**
 * Every error that the service gives by name: those of the public API, and those that only operators and the
 * service itself meet. `docs/errors.md` explains each; a test holds the two together.
 */
export const APP_ERRORS = {
  ...API_ERRORS,

  storage_object_missing: { status: 404, retryable: false, title: "The stored file is missing" },

  storage_deletions_stopped: {
    status: 409,
    retryable: false,
    title: "Stored files are not deleted until the store is accepted",
  },
  storage_changed: { status: 409, retryable: true, title: "The store was written to meanwhile" },

  metrics_token_invalid: { status: 401, retryable: false, title: "The metrics need their token" },

  data_folder_in_use: { status: 503, retryable: true, title: "Another process uses the data folder" },
  data_folder_mismatch: { status: 503, retryable: false, title: "The data folder is another database's" },
  installation_missing: { status: 503, retryable: false, title: "There is no installation" },
  database_version_mismatch: { status: 503, retryable: false, title: "The database is of another version" },
  query_outside_transaction: { status: 500, retryable: false, title: "A query bypassed its transaction" },

  backup_not_possible: {
    status: 409,
    retryable: false,
    title: "This database is backed up by its own tools",
  },
  backup_running: { status: 409, retryable: true, title: "A backup is being made" },
  backup_target_refused: { status: 409, retryable: false, title: "The backup can not be written there" },

  command_line_required: { status: 403, retryable: false, title: "Only the command line may do this" },
  sign_in_required: { status: 401, retryable: false, title: "Sign in first" },
  sign_in_failed: { status: 401, retryable: false, title: "The email or the password is wrong" },
  owner_required: { status: 403, retryable: false, title: "Only an owner may do this" },
  set_up_link_invalid: { status: 403, retryable: false, title: "The set-up link does not hold (any more)" },
  invitation_invalid: { status: 403, retryable: false, title: "The invitation does not hold (any more)" },
  invitation_not_found: { status: 404, retryable: false, title: "There is no such invitation" },
  operator_not_found: { status: 404, retryable: false, title: "There is no such operator" },
  operator_email_taken: { status: 409, retryable: false, title: "There is an operator with this email" },
  last_owner: { status: 409, retryable: false, title: "One owner must remain" },
  environment_not_found: { status: 404, retryable: false, title: "There is no such environment" },
  environment_name_taken: { status: 409, retryable: false, title: "The environment's name is taken" },
  api_key_not_found: { status: 404, retryable: false, title: "There is no such API key" },
  api_key_limit_reached: {
    status: 409,
    retryable: false,
    title: "There are as many API keys as may be",
  },
  recording_deleted: { status: 410, retryable: false, title: "The recording was deleted for its age" },
  transcript_not_found: { status: 404, retryable: false, title: "There is no transcript (yet)" },
  waveform_not_found: { status: 404, retryable: false, title: "There is no waveform (yet)" },
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
