import { API_ERRORS, type ApiErrorCode } from "./contract/api-errors.ts";

/** Errors that the client itself detects. */
export const CLIENT_ERRORS = {
  invalid_argument: { retryable: false, title: "An argument is missing or invalid" },
  connection_failed: { retryable: true, title: "The service is unreachable, or the connection broke" },
  request_timed_out: { retryable: true, title: "The service did not respond in time" },
  unexpected_response: { retryable: false, title: "The response is not one that the service sends" },
  unexpected_redirect: { retryable: false, title: "The server redirected the request; check `baseUrl`" },
  wait_timed_out: { retryable: true, title: "The transcription did not finish within the timeout" },
  transcription_not_completed: { retryable: false, title: "Only COMPLETED transcriptions have files" },
  upload_file_differs: {
    retryable: false,
    title: "The upload was created for another file: its size or name differs",
  },
  webhook_body_not_raw: { retryable: false, title: "The body was parsed before verification" },
  webhook_secret_invalid: {
    retryable: false,
    title: "The signing secret is missing, truncated, or not `whsec_` followed by base64",
  },
  webhook_header_missing: { retryable: false, title: "A `webhook-…` header is missing or malformed" },
  webhook_too_old: { retryable: false, title: "The webhook's timestamp is too far in the past or future" },
  webhook_signature_invalid: { retryable: false, title: "No signature matches any of the secrets" },
  webhook_payload_invalid: { retryable: false, title: "The signed body is not an event" },
} as const satisfies Record<string, { retryable: boolean; title: string }>;

export type ClientErrorCode = keyof typeof CLIENT_ERRORS;

/** A newer service may send other codes, so keep a default branch. */
export type ErrorCode = ApiErrorCode | ClientErrorCode;

export interface ErrorFacts {
  code: ErrorCode;
  /** A message for humans; the code's title by default. */
  detail?: string | undefined;
  status?: number | undefined;
  requestId?: string | undefined;
  retryable?: boolean | undefined;
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/** The type of every error that this package throws, except the reason of an aborted signal. */
export class SubtextError extends Error {
  override readonly name = "SubtextError";
  /** Stable; use it for decisions. */
  readonly code: ErrorCode;
  /** A message for humans; may change. */
  readonly detail: string;
  /** HTTP status; null without a response. */
  readonly status: number | null;
  /** Identifies the request in the service's log; null without a response, or if CORS hides it. */
  readonly requestId: string | null;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** The service's `Retry-After`, if it sent one. */
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
