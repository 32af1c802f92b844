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
import { parseRetryAfter } from "./retry-after.ts";

/** How much of an answer is kept for the dashboard. */
const MAX_BODY_BYTES = 1024;
const MAX_HEADER_BYTES = 16 * 1024;

/**
 * `refused_address`: the host is, or stands for, nothing but addresses out of bounds. `protocol`: what came back is
 * no HTTP, or its headers are too large.
 */
export type AttemptFailure = "timeout" | "refused_address" | "dns" | "connection" | "tls" | "protocol";

/** What came of one POST. */
export type AttemptOutcome =
  | {
      kind: "response";
      status: number;
      /** Until the headers were there. */
      latencyMs: number;
      /** What the receiver asked to wait, seconds; null where it asked nothing. */
      retryAfterSeconds: number | null;
      /** At most the first 1024 bytes as text, control characters replaced. */
      bodyStart: string;
    }
  | { kind: "failed"; reason: AttemptFailure; message: string; latencyMs: number };

export interface WebhookPost {
  url: URL;
  /** Besides `constantHeaders`. */
  headers: Record<string, string>;
  /** JSON. */
  body: string;
  /**
   * For the name and the connection, and once more for the answer: a receiver has all of it, however far away it
   * is.
   */
  timeoutMs: number;
  policy: EndpointPolicy;
  resolve: ResolveHost;
  /** Of this service, for the user agent. */
  version: string;
  clock: Clock;
  /** Ends the attempt when the service stops. */
  signal: AbortSignal;
}

/** Of every webhook. */
export function constantHeaders(version: string): Record<string, string> {
  return { "content-type": "application/json", "user-agent": `Subtext/${version} (webhook)` };
}

/**
 * Sends one webhook and says what came of it; redirects are answers like any other. The status alone
 * decides: once it is there, a body that is cut off or never ends changes nothing.
 *
 * Every attempt has a connection of its own, so one receiver can cost at most a socket, some buffers of
 * 64 KiB and `timeoutMs`, and nothing of it is left for the next.
 *
 * @throws the reason of `signal`, and nothing else but a fault of the caller (`InvalidArgumentError`)
 */
export async function postWebhook(post: WebhookPost): Promise<AttemptOutcome> {
  post.signal.throwIfAborted();
  // The operator may have turned plain http off since the endpoint was made.
  if (post.url.protocol !== "https:" && !post.policy.allowHttp) {
    return {
      kind: "failed",
      reason: "refused_address",
      message: "the URL must begin with https://",
      latencyMs: 0,
    };
  }
  const startedAt = performance.now();
  const ended = new AbortController();
  const end = () => ended.abort();
  post.signal.addEventListener("abort", end, { once: true });
  let timedOut = false;
  const expire = () => {
    timedOut = true;
    end();
  };
  // After the event loop has read what is there by now: it may have been kept from that while an answer came.
  const timer = setTimeout(() => setImmediate(expire), post.timeoutMs);
  const onConnect = () => void timer.refresh();
  const latencyMs = () => Math.round(performance.now() - startedAt);

  const client = new Client(post.url.origin, {
    connect: guardedConnector(post, ended.signal, onConnect),
    pipelining: 1,
    maxHeaderSize: MAX_HEADER_BYTES,
    // One clock for the whole answer: these would start anew with every byte.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  try {
    const response = await client.request({
      method: "POST",
      path: post.url.pathname + post.url.search,
      headers: { ...post.headers, ...constantHeaders(post.version) },
      body: post.body,
      signal: ended.signal,
    });
    const latency = latencyMs();
    const retryAfter = response.headers["retry-after"];
    const bodyStart = await readStart(response.body);
    post.signal.throwIfAborted();
    return {
      kind: "response",
      status: response.statusCode,
      latencyMs: latency,
      retryAfterSeconds: parseRetryAfter([retryAfter].flat()[0], post.clock.now()),
      bodyStart,
    };
  } catch (error) {
    post.signal.throwIfAborted();
    if (error instanceof errors.InvalidArgumentError) throw error;
    const failure: [AttemptFailure, string] = timedOut
      ? ["timeout", `no answer within ${post.timeoutMs} ms`]
      : explain(error);
    return { kind: "failed", reason: failure[0], message: failure[1], latencyMs: latencyMs() };
  } finally {
    clearTimeout(timer);
    post.signal.removeEventListener("abort", end);
    // Also ends a connection that is still being made, which the client would wait for.
    end();
    await client.destroy();
  }
}

/** Failed while the secure connection was made: the certificate, the protocol. */
class TlsError extends Error {}

function guardedConnector(
  post: WebhookPost,
  signal: AbortSignal,
  onConnect: () => void,
): buildConnector.connector {
  const connect = buildConnector({
    lookup: guardedLookup(post.policy, post.resolve),
    signal,
    // A second protocol with its own windows and limits, for one request.
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
        callback(options.protocol === "https:" && isOfTls(error) ? new TlsError(error.message) : error, null);
    });
  };
}

/** Errors of sockets carry the system's number or are a broken connection; those of TLS carry neither. */
function isOfTls(error: Error): boolean {
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

/** Reads no further than is kept; leaving the loop destroys the rest. Never throws. */
async function readStart(body: Dispatcher.ResponseData["body"]): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let length = 0;
  try {
    for await (const chunk of body) {
      const kept = (chunk as Buffer).subarray(0, MAX_BODY_BYTES - length);
      text += decoder.decode(kept, { stream: true });
      length += kept.length;
      if (length >= MAX_BODY_BYTES) break;
    }
  } catch {
    // The answer was cut off or the time is up: its status is known, and what was read is kept.
  }
  return readable(text);
}

/** The database can not store NUL, and the dashboard should not be sent the others. */
function readable(text: string): string {
  return text.replace(/[^\P{Cc}\t\n\r]/gu, "\uFFFD");
}
