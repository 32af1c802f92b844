import { SpeechError } from "../errors.ts";
import { type ContentHash, hashOfEntityTag } from "./content-hash.ts";

/** A model hub or a mirror. The URL of a file is `<url>/<owner>/<name>/resolve/<revision>/<path>`. */
export interface Hub {
  /** Without a trailing slash. */
  url: string;
  /** Bearer token, which is never sent to other hosts; null if the hub requires none. */
  token: string | null;
}

export interface HubTimeouts {
  /** Timeout for the start of a response. */
  responseMs: number;
  /** Timeout between two chunks of a response. */
  stallMs: number;
  /** A lower rate during `stallMs` counts as stalled. */
  minBytesPerSecond: number;
}

export interface HubFile {
  repository: string;
  revision: string;
  path: string;
}

/** The hub's response for a file. Fields are null if the hub does not report them. */
export interface HubResponse {
  status: number;
  headers: Headers;
  commit: string | null;
  hash: ContentHash | null;
  /** Size of the whole file. */
  bytes: number | null;
  /** Yields the content in chunks. Throws ConnectionError. */
  content(): AsyncGenerator<Uint8Array>;
  /** Closes the connection without reading the content. */
  discard(): Promise<void>;
}

/** The connection failed or timed out. A retry may succeed. */
export class ConnectionError extends Error {
  override name = "ConnectionError";
}

const MAX_REDIRECTS = 8;

/**
 * Requests a file and follows redirects. The hub reports commit, hash and size when it redirects to its CDN, whose ETags
 * are different. Therefore the first response with each of these values counts.
 *
 * @throws ConnectionError
 * @throws SpeechError `model_download_failed` if a redirect is invalid or leads from https to http
 * @throws the reason of `signal`
 */
export async function requestFile(
  hub: Hub,
  file: HubFile,
  options: {
    method: "GET" | "HEAD";
    headers?: Record<string, string>;
    timeouts: HubTimeouts;
    signal: AbortSignal;
  },
): Promise<HubResponse> {
  const { method, timeouts, signal } = options;
  const watchdog = new Watchdog(timeouts, signal);
  const stated = {
    commit: null as string | null,
    hash: null as ContentHash | null,
    bytes: null as number | null,
  };
  try {
    let url = fileUrl(hub, file);
    for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
      const response = await fetch(url, {
        method,
        redirect: "manual",
        signal: watchdog.signal,
        headers: {
          // Compressed responses would have different lengths and ranges.
          "accept-encoding": "identity",
          ...options.headers,
          ...(hub.token !== null &&
            url.origin === new URL(hub.url).origin && { authorization: `Bearer ${hub.token}` }),
        },
      });
      stated.commit ??= response.headers.get("x-repo-commit");
      // ETags of other servers may look like hashes.
      const isHub = stated.commit !== null && url.origin === new URL(hub.url).origin;
      const ownTag = isHub ? response.headers.get("etag") : null;
      stated.hash ??= hashOfEntityTag(response.headers.get("x-linked-etag") ?? ownTag);
      stated.bytes ??= wholeNumber(response.headers.get("x-linked-size"));
      const location = response.headers.get("location");
      const redirects = response.status >= 300 && response.status < 400 && location !== null;
      const isComplete = method === "HEAD" && stated.hash !== null && stated.bytes !== null;
      if (!redirects || isComplete) {
        return {
          status: redirects ? 200 : response.status,
          headers: response.headers,
          commit: stated.commit,
          hash: stated.hash,
          bytes: stated.bytes ?? (redirects ? null : sizeOfFile(response, method)),
          content: () => watchdog.read(response),
          discard: () => watchdog.discard(response),
        };
      }
      await response.body?.cancel();
      url = redirectTarget(url, location);
    }
    throw new SpeechError("model_download_failed", `${file.path}: more than ${MAX_REDIRECTS} redirects.`);
  } catch (error) {
    watchdog.stop();
    throw watchdog.explain(error);
  }
}

function fileUrl(hub: Hub, { repository, revision, path }: HubFile): URL {
  const segments = [...repository.split("/"), "resolve", revision, ...path.split("/")];
  return new URL(`${hub.url}/${segments.map(encodeURIComponent).join("/")}`);
}

function redirectTarget(from: URL, location: string): URL {
  const target = URL.canParse(location, from.href) ? new URL(location, from) : null;
  const safe = target?.protocol === "https:" || (target?.protocol === "http:" && from.protocol === "http:");
  if (target && safe) return target;
  throw new SpeechError("model_download_failed", `${from.host} redirects to an unsafe address.`);
}

function sizeOfFile(response: Response, method: "GET" | "HEAD"): number | null {
  if (response.status === 206) {
    return wholeNumber(response.headers.get("content-range")?.split("/").at(-1) ?? null);
  }
  if (response.status !== 200) return null;
  // Some servers respond to HEAD with a length of 0.
  const length = wholeNumber(response.headers.get("content-length"));
  return method === "HEAD" && length === 0 ? null : length;
}

function wholeNumber(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** Aborts a stalled request. */
class Watchdog {
  readonly signal: AbortSignal;
  readonly #stalled = new AbortController();
  readonly #outer: AbortSignal;
  readonly #stallMs: number;
  readonly #minBytes: number;
  #timer: NodeJS.Timeout | undefined;

  constructor({ responseMs, stallMs, minBytesPerSecond }: HubTimeouts, outer: AbortSignal) {
    this.#outer = outer;
    this.#stallMs = stallMs;
    this.#minBytes = (minBytesPerSecond * stallMs) / 1000;
    this.signal = AbortSignal.any([outer, this.#stalled.signal]);
    this.#wait(responseMs, "did not respond");
  }

  async *read(response: Response): AsyncGenerator<Uint8Array> {
    // Measures only the time of the server, not that of the consumer.
    let [waitedMs, bytes, startedAt] = [0, 0, performance.now()];
    try {
      this.#wait(this.#stallMs, "sent no data");
      for await (const chunk of response.body ?? []) {
        this.stop();
        waitedMs += performance.now() - startedAt;
        bytes += chunk.byteLength;
        if (waitedMs >= this.#stallMs) {
          if (bytes < this.#minBytes) throw tooSlow(bytes, waitedMs);
          [waitedMs, bytes] = [0, 0];
        }
        yield chunk;
        this.#wait(this.#stallMs, "sent no data");
        startedAt = performance.now();
      }
    } catch (error) {
      throw this.explain(error);
    } finally {
      this.stop();
    }
  }

  async discard(response: Response): Promise<void> {
    this.stop();
    // The connection may already be broken.
    await response.body?.cancel().catch(() => {});
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #wait(ms: number, problem: string): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#stalled.abort(new ConnectionError(`the server ${problem} for ${Math.round(ms / 1000)} s`));
    }, ms);
  }

  /** Converts an error to the one that the caller gets. */
  explain(error: unknown): unknown {
    if (error instanceof SpeechError) return error;
    if (this.#outer.aborted) return this.#outer.reason;
    if (error instanceof ConnectionError) return error;
    if (this.#stalled.signal.aborted) return this.#stalled.signal.reason;
    // `fetch` reports "fetch failed" with the reason as the cause.
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const text = cause instanceof Error ? [cause.message, codeOf(cause)].find(Boolean) : String(cause);
    return new ConnectionError(text ?? "the connection failed", { cause: error });
  }
}

function tooSlow(bytes: number, waitedMs: number): ConnectionError {
  const seconds = waitedMs / 1000;
  return new ConnectionError(`the server sends only ${Math.round(bytes / seconds)} bytes per second`);
}

function codeOf(error: Error): string | undefined {
  return "code" in error && typeof error.code === "string" ? error.code : undefined;
}
