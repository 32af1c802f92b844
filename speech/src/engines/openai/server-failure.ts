import type { IncomingHttpHeaders } from "node:http";
import { SpeechError } from "../../errors.ts";
import { CONNECT_TIMEOUT, type PostAnswer } from "./http-post.ts";
import { excerpt } from "./response.ts";

/** Why a server gave no transcript. */
export interface ServerFailure {
  /**
   * `passing`: it may give one later. `senseless`: its answer was no transcript. `refused`: it will refuse this
   * request again, but maybe not the next. `misconfigured`: it will refuse every request until somebody
   * changes a setting.
   */
  kind: "passing" | "senseless" | "refused" | "misconfigured";
  /** For people, to be read after the server's name: `answered 503`. Never holds a key. */
  message: string;
  /** How long the server asks to be left alone; null where it does not say. */
  retryAfterMs: number | null;
  /** Whether it refuses to be asked for times of words. */
  refusesGranularities: boolean;
}

const TRY_AGAIN = new Set([408, 425, 429]);
/** OpenAI answers with "too many requests" also where the account has no money left. */
const NO_MONEY = /insufficient_quota|billing_hard_limit/;

/** Nobody is there, or the address is wrong. */
const NOT_REACHED = new Set([
  "ENOTFOUND",
  "EAI_AGAIN",
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  CONNECT_TIMEOUT,
]);
/** Certificates that nobody here vouches for, or that are of another server. */
const NOT_TRUSTED = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY/;

/** @returns null where the answer says that all went well */
export function failureOf({ status, headers, body }: PostAnswer, nowMs: number): ServerFailure | null {
  if (status >= 200 && status < 300) return null;
  const failure = (kind: ServerFailure["kind"], hint: string, said = body): ServerFailure => ({
    kind,
    message: `answered ${status}${hint}${said.trim() === "" ? "" : `: ${excerpt(serverMessage(said))}`}`,
    retryAfterMs: retryAfterMs(headers, nowMs),
    refusesGranularities: [400, 422].includes(status) && body.includes("timestamp_granularities"),
  });
  // What a server writes of a key may hold a part of it.
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
 * Connections that break, names that are not found, answers that do not come, or are no transcripts.
 * @param mustBeThere whether a server that can not be reached is taken for one with a wrong address, rather than
 *   for one that will be back
 */
export function failureOfError(error: unknown, mustBeThere: boolean): ServerFailure {
  const other = { retryAfterMs: null, refusesGranularities: false };
  if (error instanceof SpeechError)
    return { kind: "senseless", message: `failed: ${error.message}`, ...other };
  const { code, message } = error as NodeJS.ErrnoException;
  const inner = error instanceof AggregateError ? (error.errors[0] as Error | undefined) : undefined;
  const said = message || inner?.message || code || "the connection failed";
  if (mustBeThere && NOT_REACHED.has(code ?? "")) {
    const message = `failed: ${said} (is the address right, and does the server run?)`;
    return { kind: "misconfigured", message, ...other };
  }
  const kind = NOT_TRUSTED.test(code ?? "") ? "misconfigured" : "passing";
  return { kind, message: `failed: ${said}`, ...other };
}

/** The message in a body as OpenAI, FastAPI or whisper.cpp write it; the body itself where it is none. */
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

/** `Retry-After` in seconds or as a date (RFC 9110, section 10.2.3), counted from `nowMs` of the day. */
export function retryAfterMs(headers: IncomingHttpHeaders, nowMs: number): number | null {
  const value = headers["retry-after"]?.trim();
  if (value === undefined || value === "") return null;
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs);
}
