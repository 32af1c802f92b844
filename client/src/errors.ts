import { API_ERRORS, type ApiErrorCode } from "./contract/api-errors.ts";

/** What can go wrong on this side, beside the errors that the API names. */
export const CLIENT_ERRORS = {
  invalid_argument: { retryable: false, title: "An argument is missing or has the wrong type" },
  connection_failed: { retryable: true, title: "The service could not be reached, or the connection broke" },
  request_timed_out: { retryable: true, title: "The service did not answer in time" },
  unexpected_response: { retryable: false, title: "The answer is not one of the service's" },
  unexpected_redirect: { retryable: false, title: "The address answers with a redirect; `baseUrl` is wrong" },
  wait_timed_out: { retryable: true, title: "The transcription did not end in the time given" },
  transcription_not_completed: { retryable: false, title: "There are no files unless it is COMPLETED" },
  upload_file_differs: {
    retryable: false,
    title: "The upload was created for another file: its size or name differs",
  },
  webhook_body_not_raw: { retryable: false, title: "The body was parsed before it was verified" },
  webhook_secret_invalid: { retryable: false, title: "A signing secret is `whsec_` and base64" },
  webhook_header_missing: { retryable: false, title: "A `webhook-…` header is missing or malformed" },
  webhook_too_old: { retryable: false, title: "The webhook was signed too long ago, or is of the future" },
  webhook_signature_invalid: { retryable: false, title: "No signature fits any of the secrets" },
  webhook_payload_invalid: { retryable: false, title: "What was signed is no event" },
} as const satisfies Record<string, { retryable: boolean; title: string }>;

/** The name of an error of this side. */
export type ClientErrorCode = keyof typeof CLIENT_ERRORS;

/** A newer service may send a code that is not listed: keep a default branch. */
export type ErrorCode = ApiErrorCode | ClientErrorCode;

export interface ErrorFacts {
  code: ErrorCode;
  /** For people; the code's title unless said. */
  detail?: string | undefined;
  status?: number | undefined;
  requestId?: string | undefined;
  retryable?: boolean | undefined;
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/** Every error that this package throws, but for the reason of a signal that you abort. */
export class SubtextError extends Error {
  override readonly name = "SubtextError";
  /** Stable: what to decide by. */
  readonly code: ErrorCode;
  /** What happened, for people; it may change. */
  readonly detail: string;
  /** Of the answer; null where none came. */
  readonly status: number | null;
  /** Names the request in the service's log; null where no answer came, or where it may not be read. */
  readonly requestId: string | null;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** When to ask again, where the service told it. */
  readonly retryAfterMs: number | null;

  constructor(facts: ErrorFacts) {
    const known = knownError(facts.code);
    const detail = facts.detail ?? `${known?.title ?? facts.code}.`;
    const request = facts.requestId === undefined ? "" : `, request ${facts.requestId}`;
    super(`${detail} (${facts.code}${request})`, "cause" in facts ? { cause: facts.cause } : undefined);
    this.code = facts.code;
    this.detail = detail;
    this.status = facts.status ?? null;
    this.requestId = facts.requestId ?? null;
    this.retryable = facts.retryable ?? known?.retryable ?? false;
    this.retryAfterMs = facts.retryAfterMs ?? null;
  }
}

function knownError(code: string): { retryable: boolean; title: string } | undefined {
  if (Object.hasOwn(API_ERRORS, code)) return API_ERRORS[code as ApiErrorCode];
  if (Object.hasOwn(CLIENT_ERRORS, code)) return CLIENT_ERRORS[code as ClientErrorCode];
  return undefined;
}
