import { SpeechError } from "../../errors.ts";
import { parseRetryAfter } from "../../lib/retry-after.ts";
import { excerpt } from "./response.ts";

type Headers = Record<string, string | string[] | undefined>;

export interface ServerFailure {
  /**
   * `transient`: a retry may succeed. `invalid`: the response is not a transcript. `rejected`: the server would reject
   * this request again. `misconfigured`: the server would reject any request until a setting is changed.
   */
  kind: "transient" | "invalid" | "rejected" | "misconfigured";
  /** Follows the server's URL in messages: `responded with 503`. Never contains a key. */
  message: string;
  /** Null if the response has no `Retry-After`. */
  retryAfterMs: number | null;
  /** Parameters that the server names as unsupported. */
  rejects: readonly ("wordTimes" | "responseFormat" | "prompt")[];
}

const RETRYABLE = new Set([408, 425, 429]);
/** OpenAI also responds with 429 if the account has no credit left. */
const NO_CREDIT = /insufficient_quota|billing_hard_limit/;

/** Error codes that mean that the server is not running or the address is wrong. */
const UNREACHABLE = new Set([
  "ENOTFOUND",
  "EAI_AGAIN",
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);
/** Replacements for unhelpful messages of the HTTP client. */
const MESSAGES: Readonly<Record<string, string>> = {
  UND_ERR_CONNECT_TIMEOUT: "the connection timed out",
  UND_ERR_RES_EXCEEDED_MAX_SIZE: "the response is too long",
  TimeoutError: "the response timed out",
};
/** Matches errors for certificates that are not trusted or belong to another server. */
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
    message: `responded with ${status}${hint}${said.trim() === "" ? "" : `: ${excerpt(serverMessage(said))}`}`,
    retryAfterMs: parseRetryAfter([headers["retry-after"]].flat()[0], Date.now()),
    rejects: [400, 422, 501].includes(status) ? rejectedParameters(body) : [],
  });
  // The server's message may contain a part of the key.
  if (status === 401 || status === 403) return failure("misconfigured", " (check the API key)", "");
  if (status === 429 && NO_CREDIT.test(body)) return failure("misconfigured", " (no credit left)");
  if (status >= 500 || RETRYABLE.has(status)) return failure("transient", "");
  if (status >= 300 && status < 400) {
    return failure(
      "misconfigured",
      ` (a redirect${redirectTarget(headers)}; configure its target instead)`,
      "",
    );
  }
  if (status === 404 || status === 405) {
    return failure("misconfigured", " (check the base URL, including /v1, and the model)");
  }
  if (status === 413) {
    return failure("rejected", " (the server and its proxy must accept requests of 1 MB)");
  }
  return failure("rejected", "");
}

/**
 * Classifies broken connections, failed DNS lookups, timeouts and invalid responses.
 * @param failsIfUnreachable whether an unreachable server counts as misconfigured; otherwise it may be restarting
 */
export function failureOfError(error: unknown, failsIfUnreachable: boolean): ServerFailure {
  const other = { retryAfterMs: null, rejects: [] };
  if (error instanceof SpeechError) return { kind: "invalid", message: `failed: ${error.message}`, ...other };
  const { code, name, message } = error as NodeJS.ErrnoException;
  const inner = error instanceof AggregateError ? (error.errors[0] as Error | undefined) : undefined;
  const said =
    MESSAGES[code ?? ""] ?? MESSAGES[name] ?? (message || inner?.message || code || "the connection failed");
  if (failsIfUnreachable && UNREACHABLE.has(code ?? "")) {
    const message = `failed: ${said} (check the address and whether the server is running)`;
    return { kind: "misconfigured", message, ...other };
  }
  const kind = UNTRUSTED.test(code ?? "") ? "misconfigured" : "transient";
  return { kind, message: `failed: ${said}`, ...other };
}

function rejectedParameters(body: string): ServerFailure["rejects"] {
  return [
    ...(body.includes("timestamp_granularities") ? (["wordTimes"] as const) : []),
    ...(/response_format|verbose_json/.test(body) ? (["responseFormat"] as const) : []),
    ...(/\bprompt\b/.test(body) ? (["prompt"] as const) : []),
  ];
}

/** Returns the error message in a response of OpenAI, FastAPI or whisper.cpp, or else the whole body. */
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
