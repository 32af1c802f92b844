import { type ErrorCode, SubtextError } from "./errors.ts";
import { readRetryAfterMs } from "./retry.ts";
import { abortAfter } from "./timers.ts";
import type { Problem } from "./types.ts";

/** As much of `fetch` as is used; anything of this form can be injected. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface ExchangeOptions {
  /** For one request with its answer's body. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** Answers of proxies and gateways, which carry none of the service's codes, that may pass. */
const PASSING_STATUSES = [408, 425, 429, 500, 502, 503, 504];

/**
 * Makes one request and reads its answer.
 *
 * @param read takes what is wanted of a 2xx answer
 * @throws SubtextError where no answer came in time or another one; the signal's reason where it is aborted
 */
export async function exchange<T>(
  fetch: Fetch,
  url: string,
  init: RequestInit,
  { timeoutMs, signal }: ExchangeOptions,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const timeout = abortAfter(timeoutMs);
  const either = signal ? AbortSignal.any([signal, timeout]) : timeout;
  try {
    // A redirected POST would come as a GET, and a key is for nobody else.
    const response = await fetch(url, { ...init, redirect: "manual", signal: either });
    if (response.ok) return await read(response);
    throw errorOf(response, await response.text());
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof SubtextError) throw error;
    if (timeout.aborted) throw new SubtextError({ code: "request_timed_out", cause: error });
    throw new SubtextError({ code: "connection_failed", cause: error });
  }
}

/** @throws SubtextError `unexpected_response` */
export async function readJson(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch (cause) {
    const requestId = response.headers.get("x-request-id") ?? undefined;
    const { status } = response;
    throw new SubtextError({
      code: "unexpected_response",
      status,
      requestId,
      detail: "No JSON came.",
      cause,
    });
  }
}

function errorOf(response: Response, text: string): SubtextError {
  const { status, headers } = response;
  const told = {
    status,
    requestId: headers.get("x-request-id") ?? undefined,
    retryAfterMs: readRetryAfterMs(headers, Date.now()) ?? undefined,
  };
  if (response.type === "opaqueredirect" || (status >= 300 && status < 400)) {
    return new SubtextError({ ...told, code: "unexpected_redirect" });
  }
  const problem = readProblem(headers, text);
  if (problem) {
    const { code, detail, requestId } = problem;
    return new SubtextError({ ...told, code: code as ErrorCode, detail, requestId });
  }
  return new SubtextError({
    ...told,
    code: "unexpected_response",
    detail: `HTTP ${status} came, and no word of the service.`,
    retryable: PASSING_STATUSES.includes(status),
  });
}

function readProblem(headers: Headers, text: string): Problem | null {
  if (!headers.get("content-type")?.startsWith("application/problem+json")) return null;
  try {
    const problem = JSON.parse(text) as Problem;
    return typeof problem.code === "string" ? problem : null;
  } catch {
    return null;
  }
}
