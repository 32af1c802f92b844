import { parseRetryAfter } from "@subtext/speech/lib/retry-after";
import { buildConnector, Client, type Dispatcher, errors } from "undici";
import type { Clock } from "../lib/clock.ts";
import {
  type EndpointPolicy,
  guardedLookup,
  RefusedAddressError,
  type ResolveHost,
  refuseLiteral,
  UnresolvedHostError,
} from "./guard-url.ts";

/** The dashboard shows this much of a response body. */
const MAX_BODY_BYTES = 1024;
const MAX_HEADER_BYTES = 16 * 1024;

/**
 * `refused_address`: all addresses of the host are forbidden. `protocol`: the response is not HTTP, or its headers are
 * too large.
 */
export type AttemptFailure = "timeout" | "refused_address" | "dns" | "connection" | "tls" | "protocol";

export type AttemptOutcome =
  | {
      kind: "response";
      status: number;
      /** Milliseconds until the response headers arrived. */
      latencyMs: number;
      /** From `Retry-After`; null without it. */
      retryAfterMs: number | null;
      /** At most the first 1024 bytes as text, without control characters except tabs and line breaks. */
      bodyStart: string;
    }
  | { kind: "failed"; reason: AttemptFailure; message: string; latencyMs: number };

export interface WebhookPost {
  url: URL;
  /** Sent in addition to `constantHeaders`. */
  headers: Record<string, string>;
  /** JSON. */
  body: string;
  /** Applies separately to connecting and to the response, so that a distant receiver has the full time to respond. */
  timeoutMs: number;
  policy: EndpointPolicy;
  resolve: ResolveHost;
  /** For the `User-Agent` header. */
  version: string;
  clock: Clock;
  signal: AbortSignal;
}

export function constantHeaders(version: string): Record<string, string> {
  return { "content-type": "application/json", "user-agent": `Subtext/${version} (webhook)` };
}

/**
 * Sends a webhook. Does not follow redirects. Only the status counts, even if the body breaks off or never ends.
 *
 * Each attempt uses its own connection, so a receiver costs at most a socket and a few 64 KiB buffers for twice
 * `timeoutMs`.
 *
 * @throws the reason of `signal`, or `InvalidArgumentError` for an error of the caller
 */
export async function postWebhook(post: WebhookPost): Promise<AttemptOutcome> {
  post.signal.throwIfAborted();
  // The operator may have forbidden plain http after the endpoint was created.
  if (post.url.protocol !== "https:" && !post.policy.allowHttp) {
    return {
      kind: "failed",
      reason: "refused_address",
      message: "the URL must begin with https://",
      latencyMs: 0,
    };
  }
  const startedAt = performance.now();
  const timeout = new AbortController();
  const end = new AbortController();
  const signal = AbortSignal.any([post.signal, timeout.signal, end.signal]);
  // If the event loop was blocked, setImmediate lets a response that has already arrived be read first.
  const timer = setTimeout(() => setImmediate(() => timeout.abort()), post.timeoutMs);
  const onConnect = () => void timer.refresh();
  const latencyMs = () => Math.round(performance.now() - startedAt);

  const client = new Client(post.url.origin, {
    connect: guardedConnector(post, signal, onConnect),
    pipelining: 1,
    maxHeaderSize: MAX_HEADER_BYTES,
    // These timeouts would restart with every byte. The timer above covers the whole response.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  try {
    const response = await client.request({
      method: "POST",
      path: post.url.pathname + post.url.search,
      headers: { ...post.headers, ...constantHeaders(post.version) },
      body: post.body,
      signal,
    });
    const latency = latencyMs();
    const [retryAfter] = [response.headers["retry-after"]].flat();
    const bodyStart = await readStart(response.body);
    post.signal.throwIfAborted();
    return {
      kind: "response",
      status: response.statusCode,
      latencyMs: latency,
      retryAfterMs: parseRetryAfter(retryAfter, post.clock.now().getTime()),
      bodyStart,
    };
  } catch (error) {
    post.signal.throwIfAborted();
    if (error instanceof errors.InvalidArgumentError) throw error;
    const failure: [AttemptFailure, string] = timeout.signal.aborted
      ? ["timeout", `no response within ${post.timeoutMs} ms`]
      : explain(error);
    return { kind: "failed", reason: failure[0], message: failure[1], latencyMs: latencyMs() };
  } finally {
    clearTimeout(timer);
    // Also aborts a connection that is being opened. `destroy` would wait for it.
    end.abort();
    await client.destroy();
  }
}

/** The TLS handshake failed, for example because of the certificate. */
class TlsError extends Error {}

function guardedConnector(
  post: WebhookPost,
  signal: AbortSignal,
  onConnect: () => void,
): buildConnector.connector {
  const connect = buildConnector({
    lookup: guardedLookup(post.policy, post.resolve),
    signal,
    // HTTP/2 has no advantage for a single request.
    allowH2: false,
    timeout: 0,
  });
  return (options, callback) => {
    try {
      refuseLiteral(options.hostname, post.policy);
    } catch (error) {
      callback(error as Error, null);
      return;
    }
    connect(options, (...[error, socket]) => {
      if (error === null) {
        onConnect();
        callback(null, socket);
      } else
        callback(
          options.protocol === "https:" && isTlsFailure(error) ? new TlsError(error.message) : error,
          null,
        );
    });
  };
}

/** Unlike TLS errors, socket errors have an `errno` or the code ECONNRESET. */
function isTlsFailure(error: Error): boolean {
  if (error instanceof RefusedAddressError || error instanceof UnresolvedHostError) return false;
  if (error instanceof AggregateError || error.name === "AbortError") return false;
  const { code, errno } = error as NodeJS.ErrnoException;
  return code === "EPROTO" || (errno === undefined && code !== "ECONNRESET");
}

function explain(error: unknown): [AttemptFailure, string] {
  if (error instanceof RefusedAddressError) return ["refused_address", error.message];
  if (error instanceof UnresolvedHostError) return ["dns", error.message];
  if (error instanceof TlsError) return ["tls", firstLine(error.message)];
  if (error instanceof errors.HTTPParserError || error instanceof errors.HeadersOverflowError) {
    return ["protocol", firstLine(error.message)];
  }
  if (error instanceof AggregateError) return explain(error.errors[0]);
  return ["connection", firstLine(error instanceof Error ? error.message : String(error))];
}

function firstLine(message: string): string {
  return readable(message.split("\n", 1)[0] ?? "").slice(0, 200);
}

/** Reads only as much as is stored. Leaving the loop destroys the stream. Never throws. */
async function readStart(body: Dispatcher.ResponseData["body"]): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let length = 0;
  try {
    for await (const chunk of body) {
      const part = (chunk as Buffer).subarray(0, MAX_BODY_BYTES - length);
      text += decoder.decode(part, { stream: true });
      length += part.length;
      if (length >= MAX_BODY_BYTES) break;
    }
  } catch {
    // The body broke off or timed out. The text so far is stored.
  }
  return readable(text);
}

/** The database cannot store NUL, and other control characters are useless in the dashboard. */
function readable(text: string): string {
  return text.replace(/[^\P{Cc}\t\n\r]/gu, "\uFFFD");
}
