import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";

export interface PostOptions {
  headers: Record<string, string>;
  body: Uint8Array;
  timeouts: PostTimeouts;
  /** A longer response is an error. */
  maxAnswerBytes: number;
  signal: AbortSignal;
}

export interface PostTimeouts {
  /** To connect, including name lookup and TLS. */
  connectMs: number;
  /** From the start until the first byte of the response. */
  firstByteMs: number;
  /** From the start until the end of the response. */
  totalMs: number;
}

export interface PostAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Error code of a connection timeout. */
export const CONNECT_TIMEOUT = "ETIMEDOUT";

/**
 * Sends one POST on a connection of its own, so no reused connection can have been closed by the server. Does
 * not follow redirects. Uses `http` and `https` because `fetch` cannot wait longer than 5 minutes for a
 * response.
 * @throws Error with a message for people; or the signal's reason
 */
export async function post(url: URL, options: PostOptions): Promise<PostAnswer> {
  options.signal.throwIfAborted();
  const send = url.protocol === "https:" ? requestHttps : requestHttp;
  const request = send(url, {
    method: "POST",
    headers: { ...options.headers, "content-length": options.body.length, connection: "close" },
    signal: options.signal,
  });
  let late: Error | null = null;
  const limit = (milliseconds: number, what: string, code = "ERR_LATE") =>
    setTimeout(() => {
      late = Object.assign(new Error(`${what} within ${milliseconds / 1000} s`), { code });
      request.destroy(late);
    }, milliseconds);
  const { connectMs, firstByteMs, totalMs } = options.timeouts;
  const connect = limit(connectMs, "it could not be reached", CONNECT_TIMEOUT);
  const timers = [
    connect,
    limit(firstByteMs, "it did not answer"),
    limit(totalMs, "its answer was not whole"),
  ];
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request.on("socket", (socket) =>
        socket.once(url.protocol === "https:" ? "secureConnect" : "connect", () => clearTimeout(connect)),
      );
      request.on("response", resolve);
      request.on("error", reject);
      request.end(options.body);
    });
    clearTimeout(timers[1]);
    const body = await bodyOf(response, options.maxAnswerBytes);
    return { status: response.statusCode ?? 0, headers: response.headers, body };
  } catch (error) {
    options.signal.throwIfAborted();
    throw late ?? error;
  } finally {
    for (const timer of timers) clearTimeout(timer);
    request.destroy();
  }
}

async function bodyOf(response: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`its answer is longer than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
