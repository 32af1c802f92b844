import { SpeechError } from "../errors.ts";
import { type ContentHash, hashOfEntityTag } from "./content-hash.ts";

/** A hub of models, or a mirror of one: `<url>/<owner>/<name>/resolve/<revision>/<path>` gives a file. */
export interface Hub {
  /** Without a slash at its end. */
  url: string;
  /** Sent to this hub as a bearer token, never to where it redirects; null where it asks for none. */
  token: string | null;
}

export interface HubTimeouts {
  /** Until an answer begins, milliseconds. */
  answerMs: number;
  /** Between two pieces of an answer, milliseconds. */
  stallMs: number;
  /** What comes more slowly than this, over `stallMs`, is as good as nothing. */
  leastBytesPerSecond: number;
}

export interface HubFile {
  repository: string;
  revision: string;
  path: string;
}

/** What the hub says of a file, before and while it gives it. */
export interface HubAnswer {
  status: number;
  headers: Headers;
  /** The commit that the file is taken from; null where the hub does not say. */
  commit: string | null;
  /** Null where the hub does not state one. */
  hash: ContentHash | null;
  /** Size of the whole file; null where the hub does not say. */
  bytes: number | null;
  /** Pieces of the content as they come. Errors of the connection are thrown from here. */
  content(): AsyncGenerator<Uint8Array>;
  /** Lets go of the connection where the content is not wanted. */
  discard(): Promise<void>;
}

/** The connection failed, or the answer did not come in time: what another try may mend. */
export class ConnectionError extends Error {
  override name = "ConnectionError";
}

const MAX_REDIRECTS = 8;

/**
 * Asks for one file. Of the answers on the way to the one that gives the content, the first that states the commit,
 * the hash and the size counts: the hub states them where it redirects to its content network, which knows other
 * tags.
 *
 * @throws ConnectionError
 * @throws SpeechError `model_download_failed` where redirects lead nowhere, or from https to http
 * @throws the reason of `signal`
 */
export async function askHub(
  hub: Hub,
  file: HubFile,
  options: {
    method: "GET" | "HEAD";
    headers?: Record<string, string>;
    timeouts: HubTimeouts;
    signal: AbortSignal;
  },
): Promise<HubAnswer> {
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
          // Compressed answers have other lengths, and ranges of them other bytes.
          "accept-encoding": "identity",
          ...options.headers,
          ...(hub.token !== null &&
            url.origin === new URL(hub.url).origin && { authorization: `Bearer ${hub.token}` }),
        },
      });
      stated.commit ??= response.headers.get("x-repo-commit");
      // Other servers' tags may look like hashes and be none.
      const isHub = stated.commit !== null && url.origin === new URL(hub.url).origin;
      const ownTag = isHub ? response.headers.get("etag") : null;
      stated.hash ??= hashOfEntityTag(response.headers.get("x-linked-etag") ?? ownTag);
      stated.bytes ??= wholeNumber(response.headers.get("x-linked-size"));
      const location = response.headers.get("location");
      const redirects = response.status >= 300 && response.status < 400 && location !== null;
      const enough = method === "HEAD" && stated.hash !== null && stated.bytes !== null;
      if (!redirects || enough) {
        return {
          status: redirects ? 200 : response.status,
          headers: response.headers,
          commit: stated.commit,
          hash: stated.hash,
          bytes: stated.bytes ?? (redirects ? null : statedSize(response, method)),
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
  throw new SpeechError("model_download_failed", `${from.host} redirects to what is no safe address.`);
}

/** Size of the whole file as the answer that gives it tells. */
function statedSize(response: Response, method: "GET" | "HEAD"): number | null {
  if (response.status === 206) {
    return wholeNumber(response.headers.get("content-range")?.split("/").at(-1) ?? null);
  }
  if (response.status !== 200) return null;
  // Some servers answer HEAD with a length of 0.
  const length = wholeNumber(response.headers.get("content-length"));
  return method === "HEAD" && length === 0 ? null : length;
}

function wholeNumber(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** Ends a request that shows no sign of life for too long. */
class Watchdog {
  readonly signal: AbortSignal;
  readonly #impatience = new AbortController();
  readonly #outer: AbortSignal;
  readonly #stallMs: number;
  readonly #leastBytes: number;
  #timer: NodeJS.Timeout | undefined;

  constructor({ answerMs, stallMs, leastBytesPerSecond }: HubTimeouts, outer: AbortSignal) {
    this.#outer = outer;
    this.#stallMs = stallMs;
    this.#leastBytes = (leastBytesPerSecond * stallMs) / 1000;
    this.signal = AbortSignal.any([outer, this.#impatience.signal]);
    this.#wait(answerMs, "did not answer");
  }

  async *read(response: Response): AsyncGenerator<Uint8Array> {
    // Only the time that the server takes counts, not that of whoever takes the pieces.
    let [waitedMs, bytes, asked] = [0, 0, performance.now()];
    try {
      this.#wait(this.#stallMs, "fell silent");
      for await (const piece of response.body ?? []) {
        this.stop();
        waitedMs += performance.now() - asked;
        bytes += piece.byteLength;
        if (waitedMs >= this.#stallMs) {
          if (bytes < this.#leastBytes) throw tooSlow(bytes, waitedMs);
          [waitedMs, bytes] = [0, 0];
        }
        yield piece;
        this.#wait(this.#stallMs, "fell silent");
        asked = performance.now();
      }
    } catch (error) {
      throw this.explain(error);
    } finally {
      this.stop();
    }
  }

  async discard(response: Response): Promise<void> {
    this.stop();
    // A connection that is broken already needs no letting go.
    await response.body?.cancel().catch(() => {});
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #wait(ms: number, complaint: string): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#impatience.abort(new ConnectionError(`the server ${complaint} for ${Math.round(ms / 1000)} s`));
    }, ms);
  }

  /** What an error of the connection is to those who asked. */
  explain(error: unknown): unknown {
    if (error instanceof SpeechError) return error;
    if (this.#outer.aborted) return this.#outer.reason;
    if (error instanceof ConnectionError) return error;
    if (this.#impatience.signal.aborted) return this.#impatience.signal.reason;
    // fetch says "fetch failed", and why in the cause.
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const text = cause instanceof Error ? [cause.message, codeOf(cause)].find(Boolean) : String(cause);
    return new ConnectionError(text ?? "the connection failed", { cause: error });
  }
}

function tooSlow(bytes: number, waitedMs: number): ConnectionError {
  const seconds = waitedMs / 1000;
  return new ConnectionError(`the server gives ${Math.round(bytes / seconds)} bytes a second, no more`);
}

function codeOf(error: Error): string | undefined {
  return "code" in error && typeof error.code === "string" ? error.code : undefined;
}
