import { SpeechError } from "../../errors.ts";
import { excerpt } from "./response.ts";

type Headers = Record<string, string | string[] | undefined>;

/** Why a server returned no transcript. */
export interface ServerFailure {
  /**
   * `transient`: a retry may succeed. `invalid`: the response was not a transcript. `rejected`: it will reject
   * this request again, but maybe not the next. `misconfigured`: it will reject every request until a setting
   * is changed.
   */
  kind: "transient" | "invalid" | "rejected" | "misconfigured";
  /** For people, after the server's name: `answered 503`. Never contains a key. */
  message: string;
  /** `Retry-After`; null if missing. */
  retryAfterMs: number | null;
  /** Parameters that it rejects, as far as it names them. */
  rejects: readonly ("wordTimes" | "responseFormat")[];
}

const RETRYABLE = new Set([408, 425, 429]);
/** OpenAI responds with "too many requests" also if the account has no credit left. */
const NO_CREDIT = /insufficient_quota|billing_hard_limit/;

/** The server is not running, or the address is wrong. */
const UNREACHABLE = new Set([
  "ENOTFOUND",
  "EAI_AGAIN",
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);
/** Messages for people, where those of the HTTP client say too little. */
const MESSAGES: Readonly<Record<string, string>> = {
  UND_ERR_CONNECT_TIMEOUT: "it could not be reached in time",
  UND_ERR_RES_EXCEEDED_MAX_SIZE: "its response is too long",
  TimeoutError: "its response was not complete in time",
};
/** Certificates that are not trusted or belong to another server. */
const UNTRUSTED = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY/;

/** @returns null if the response is successful */
export function failureOf({
  status,
  headers,
  body,
}: {
  status: number;
  headers: Headers;
  body: string;
}): ServerFailure | null {
  if (status >= 200 && status < 300) return null;
  const failure = (kind: ServerFailure["kind"], hint: string, said = body): ServerFailure => ({
    kind,
    message: `answered ${status}${hint}${said.trim() === "" ? "" : `: ${excerpt(serverMessage(said))}`}`,
    retryAfterMs: retryAfterMs(headers, Date.now()),
    rejects: [400, 422, 501].includes(status) ? rejectedParameters(body) : [],
  });
  // The server's message may contain a part of the key.
  if (status === 401 || status === 403) return failure("misconfigured", " (is the key right?)", "");
  if (status === 429 && NO_CREDIT.test(body)) return failure("misconfigured", " (no credit left)");
  if (status >= 500 || RETRYABLE.has(status)) return failure("transient", "");
  if (status >= 300 && status < 400) {
    return failure(
      "misconfigured",
      ` (a redirect${redirectTarget(headers)}; give the URL that it leads to)`,
      "",
    );
  }
  if (status === 404 || status === 405) {
    return failure("misconfigured", " (is the base URL right, with its /v1, and does it have the model?)");
  }
  if (status === 413) {
    return failure(
      "rejected",
      " (let it, or the proxy before it, take requests of 1 MB: half a minute of sound)",
    );
  }
  return failure("rejected", "");
}

/**
 * Classifies broken connections, failed name lookups, timeouts and invalid responses.
 * @param failsIfUnreachable whether an unreachable server counts as misconfigured rather than as restarting
 */
export function failureOfError(error: unknown, failsIfUnreachable: boolean): ServerFailure {
  const other = { retryAfterMs: null, rejects: [] };
  if (error instanceof SpeechError) return { kind: "invalid", message: `failed: ${error.message}`, ...other };
  const { code, name, message } = error as NodeJS.ErrnoException;
  const inner = error instanceof AggregateError ? (error.errors[0] as Error | undefined) : undefined;
  const said =
    MESSAGES[code ?? ""] ?? MESSAGES[name] ?? (message || inner?.message || code || "the connection failed");
  if (failsIfUnreachable && UNREACHABLE.has(code ?? "")) {
    const message = `failed: ${said} (is the address right, and does the server run?)`;
    return { kind: "misconfigured", message, ...other };
  }
  const kind = UNTRUSTED.test(code ?? "") ? "misconfigured" : "transient";
  return { kind, message: `failed: ${said}`, ...other };
}

function rejectedParameters(body: string): ServerFailure["rejects"] {
  return [
    ...(body.includes("timestamp_granularities") ? (["wordTimes"] as const) : []),
    ...(/response_format|verbose_json/.test(body) ? (["responseFormat"] as const) : []),
  ];
}

/** The error message in a body of OpenAI, FastAPI or whisper.cpp; the body itself if there is none. */
function serverMessage(body: string): string {
  try {
    const { error, detail, message } = JSON.parse(body);
    const said = error?.message ?? error ?? detail ?? message ?? body;
    return typeof said === "string" ? said : JSON.stringify(said);
  } catch {
    return body;
  }
}

function redirectTarget({ location }: Headers): string {
  const target = typeof location === "string" ? URL.parse(location) : null;
  return target === null ? "" : ` to ${target.origin}`;
}

/** `Retry-After` in seconds or as a date (RFC 9110, section 10.2.3), relative to `nowMs`. */
export function retryAfterMs(headers: Headers, nowMs: number): number | null {
  const value = [headers["retry-after"]].flat()[0]?.trim() ?? "";
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs);
}
