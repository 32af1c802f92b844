import type { IncomingHttpHeaders } from "node:http";
import { SpeechError } from "../../errors.ts";
import { CONNECT_TIMEOUT, type PostAnswer } from "./http-post.ts";
import { excerpt } from "./response.ts";

/** Why a server returned no transcript. */
export interface ServerFailure {
  /**
   * `passing`: a retry may succeed. `senseless`: the response was not a transcript. `refused`: it will reject
   * this request again, but maybe not the next. `misconfigured`: it will reject every request until a setting
   * is changed.
   */
  kind: "passing" | "senseless" | "refused" | "misconfigured";
  /** For people, after the server's name: `answered 503`. Never contains a key. */
  message: string;
  /** `Retry-After`; null if missing. */
  retryAfterMs: number | null;
  /** Whether it rejects requests for word times. */
  rejectsWordTimes: boolean;
}

const TRY_AGAIN = new Set([408, 425, 429]);
/** OpenAI responds with "too many requests" also if the account has no credit left. */
const NO_MONEY = /insufficient_quota|billing_hard_limit/;

/** The server is not running, or the address is wrong. */
const NOT_REACHED = new Set([
  "ENOTFOUND",
  "EAI_AGAIN",
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  CONNECT_TIMEOUT,
]);
/** Certificates that are not trusted or belong to another server. */
const NOT_TRUSTED = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY/;

/** @returns null if the response is successful */
export function failureOf({ status, headers, body }: PostAnswer, nowMs: number): ServerFailure | null {
  if (status >= 200 && status < 300) return null;
  const failure = (kind: ServerFailure["kind"], hint: string, said = body): ServerFailure => ({
    kind,
    message: `answered ${status}${hint}${said.trim() === "" ? "" : `: ${excerpt(serverMessage(said))}`}`,
    retryAfterMs: retryAfterMs(headers, nowMs),
    rejectsWordTimes: [400, 422].includes(status) && body.includes("timestamp_granularities"),
  });
  // The server's message may contain a part of the key.
  if (status === 401 || status === 403) return failure("misconfigured", " (is the key right?)", "");
  if (status === 429 && NO_MONEY.test(body)) return failure("misconfigured", " (no credit left)");
  if (status >= 500 || TRY_AGAIN.has(status)) return failure("passing", "");
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
      "refused",
      " (let it, or the proxy before it, take requests of 1 MB: half a minute of sound)",
    );
  }
  return failure("refused", "");
}

/**
 * Classifies broken connections, failed name lookups, timeouts and invalid responses.
 * @param failsIfUnreachable whether an unreachable server counts as misconfigured rather than as restarting
 */
export function failureOfError(error: unknown, failsIfUnreachable: boolean): ServerFailure {
  const other = { retryAfterMs: null, rejectsWordTimes: false };
  if (error instanceof SpeechError)
    return { kind: "senseless", message: `failed: ${error.message}`, ...other };
  const { code, message } = error as NodeJS.ErrnoException;
  const inner = error instanceof AggregateError ? (error.errors[0] as Error | undefined) : undefined;
  const said = message || inner?.message || code || "the connection failed";
  if (failsIfUnreachable && NOT_REACHED.has(code ?? "")) {
    const message = `failed: ${said} (is the address right, and does the server run?)`;
    return { kind: "misconfigured", message, ...other };
  }
  const kind = NOT_TRUSTED.test(code ?? "") ? "misconfigured" : "passing";
  return { kind, message: `failed: ${said}`, ...other };
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

function redirectTarget({ location }: IncomingHttpHeaders): string {
  const target = location === undefined ? null : URL.parse(location);
  return target === null ? "" : ` to ${target.origin}`;
}

/** `Retry-After` in seconds or as a date (RFC 9110, section 10.2.3), relative to `nowMs`. */
export function retryAfterMs(headers: IncomingHttpHeaders, nowMs: number): number | null {
  const value = headers["retry-after"]?.trim();
  if (value === undefined || value === "") return null;
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs);
}
