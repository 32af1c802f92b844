import { type ErrorCode, SubtextError } from "./errors.ts";
import { readRetryAfterMs } from "./retry.ts";
import { abortAfter } from "./timers.ts";
import type { Problem } from "./types.ts";

/** The part of `fetch` that the client uses. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface ExchangeOptions {
  /** Timeout of one request including its response body. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** Statuses to retry if the response comes from a proxy or gateway and has no error code of the service. */
const RETRYABLE_STATUSES = [408, 425, 429, 500, 502, 503, 504];

/**
 * Sends one request and reads its response.
 *
 * @param read reads the body of a 2xx response
 * @throws SubtextError if no 2xx response arrives in time; the signal's reason if it is aborted
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
    // Following a redirect could turn a POST into a GET, or send the key to another host.
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
      detail: "The response is not JSON.",
      cause,
    });
  }
}

function errorOf(response: Response, text: string): SubtextError {
  const { status, headers } = response;
  const facts = {
    status,
    requestId: headers.get("x-request-id") ?? undefined,
    retryAfterMs: readRetryAfterMs(headers, Date.now()) ?? undefined,
  };
  if (response.type === "opaqueredirect" || (status >= 300 && status < 400)) {
    return new SubtextError({ ...facts, code: "unexpected_redirect" });
  }
  const problem = readProblem(headers, text);
  if (problem) {
    const { code, detail, requestId } = problem;
    return new SubtextError({ ...facts, code: code as ErrorCode, detail, requestId });
  }
  return new SubtextError({
    ...facts,
    code: "unexpected_response",
    detail: `Unexpected response (HTTP ${status}).`,
    retryable: RETRYABLE_STATUSES.includes(status),
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
