import { Agent, type Dispatcher, EnvHttpProxyAgent, request as sendRequest } from "undici";
import { SpeechError, type SpeechErrorCode } from "../../errors.ts";
import { SAMPLE_RATE } from "../../media/audio.ts";
import type { Utterance } from "../../vad/utterances.ts";
import { LoadBalancer, type LoadBalancerOptions } from "./load-balancer.ts";
import { parseResponse, parseText, type TranscriptionResponse } from "./response.ts";
import { failureOf, failureOfError, type ServerFailure } from "./server-failure.ts";
import {
  REQUEST_FORMATS,
  type RequestFormat,
  type ServerQuirks,
  type TranscriptionRequest,
  transcriptionForm,
} from "./transcription-form.ts";

export interface TranscriptionServersOptions extends LoadBalancerOptions {
  servers: readonly { url: string; apiKey: string | null }[];
  model: string;
  /** Includes DNS and TLS. */
  connectTimeoutMs: number;
  /** Timeout of a request including its response. */
  timeoutMs: number;
  maxAttempts: number;
  /** Whether a server that was never reached is an error instead of being retried. */
  failsIfUnreachable: boolean;
}

interface Server {
  readonly url: URL;
  readonly apiKey: string | null;
  quirks: ServerQuirks;
  wasReached: boolean;
  /** Null if the last request succeeded. */
  lastFailure: ServerFailure | null;
}

/** A real response for 30 seconds of speech takes 50 KB, including every token. */
const MAX_RESPONSE_BYTES = 2_000_000;

/** Distributes utterances over servers with the same model. */
export class TranscriptionServers {
  readonly #servers: readonly Server[];
  readonly #balancer: LoadBalancer<Server>;
  readonly #options: TranscriptionServersOptions;
  readonly #agent: Dispatcher;

  /** @throws SpeechError `engine_refused` if there is no server or a URL is invalid */
  constructor(options: TranscriptionServersOptions) {
    if (options.servers.length === 0) {
      throw new SpeechError("engine_refused", "No transcription server is configured.");
    }
    this.#options = options;
    this.#servers = options.servers.map(({ url, apiKey }) => ({
      url: transcriptionUrl(url),
      apiKey,
      quirks: { format: REQUEST_FORMATS[0], isWhisperCpp: false, rejectsPrompt: false },
      wasReached: false,
      lastFailure: null,
    }));
    this.#balancer = new LoadBalancer(this.#servers, options);
    const connections = {
      // Each request opens a connection, because the server may have closed an idle one.
      pipelining: 0,
      connect: { timeout: options.connectTimeoutMs },
      headersTimeout: 0,
      bodyTimeout: 0,
      maxResponseSize: MAX_RESPONSE_BYTES,
    };
    // Like Node.js itself, use a proxy only if NODE_USE_ENV_PROXY is set.
    const usesProxy = process.env.NODE_USE_ENV_PROXY === "1";
    this.#agent = usesProxy
      ? new EnvHttpProxyAgent({ ...connections, proxyTunnel: false })
      : new Agent(connections);
  }

  /**
   * Retries until a server returns a transcript of the utterance.
   * @throws SpeechError `engine_refused`, `engine_unavailable`, `engine_answer_invalid`; the signal's reason
   */
  async transcribe(
    utterance: Utterance,
    transcriptionRequest: TranscriptionRequest,
    signal: AbortSignal,
  ): Promise<TranscriptionResponse> {
    const { retryTimeoutMs, maxAttempts } = this.#options;
    const request = this.#balancer.request();
    const failures = new Map<Server, ServerFailure>();
    for (let attempts = 0; attempts < maxAttempts && request.excluded.size < this.#servers.length; ) {
      const slot = await this.#balancer.acquire(request, signal);
      if (slot === null) break;
      const { server } = slot;
      const { quirks } = server;
      const outcome = await this.#attempt(server, utterance, transcriptionRequest, signal).catch(
        (error: unknown) => {
          slot.release();
          throw error;
        },
      );
      if ("response" in outcome) {
        server.lastFailure = null;
        slot.succeeded(utterance.samples.length / SAMPLE_RATE);
        if (!outcome.response.fromWhisperCpp || quirks.isWhisperCpp) return outcome.response;
        server.quirks = { ...server.quirks, isWhisperCpp: true };
        // Without `language`, whisper.cpp assumed English, so ask again.
        if (transcriptionRequest.language !== null) return outcome.response;
        continue;
      }
      const { failure } = outcome;
      const format = acceptedFormat(quirks.format, failure);
      if (format !== undefined) {
        server.quirks = { ...server.quirks, format };
        slot.release();
        continue;
      }
      if (failure.rejects.includes("prompt") && transcriptionRequest.prompt !== "" && !quirks.rejectsPrompt) {
        server.quirks = { ...server.quirks, rejectsPrompt: true };
        slot.release();
        continue;
      }
      server.lastFailure = failure;
      failures.set(server, failure);
      if (failure.kind === "rejected") slot.release();
      else slot.failed(failure.retryAfterMs);
      if (failure.kind === "transient" || failure.kind === "invalid") {
        attempts++;
        request.avoided.add(server);
      } else request.excluded.add(server);
      request.deadline = Math.min(request.deadline, performance.now() + retryTimeoutMs);
    }
    throw this.#noTranscript(failures);
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #attempt(
    server: Server,
    utterance: Utterance,
    transcriptionRequest: TranscriptionRequest,
    signal: AbortSignal,
  ): Promise<{ response: TranscriptionResponse } | { failure: ServerFailure }> {
    const { apiKey, quirks } = server;
    const { responseFormat } = quirks.format;
    const form = new Response(
      transcriptionForm(utterance, this.#options.model, transcriptionRequest, quirks),
    );
    try {
      const { statusCode, headers, body } = await sendRequest(server.url, {
        method: "POST",
        headers: {
          ...credentials(server),
          "content-type": form.headers.get("content-type") ?? "",
          accept: "application/json",
          "user-agent": "subtext",
        },
        // Some servers require a Content-Length, so the body is not a stream.
        body: await form.bytes(),
        signal: AbortSignal.any([signal, AbortSignal.timeout(this.#options.timeoutMs)]),
        dispatcher: this.#agent,
      });
      server.wasReached = true;
      const text = await body.text();
      // Some servers repeat the key in errors.
      const redacted = apiKey ? text.replaceAll(apiKey, "…") : text;
      const failure = failureOf({ status: statusCode, headers, body: redacted });
      if (failure !== null) return { failure };
      const seconds = utterance.samples.length / SAMPLE_RATE;
      const parse = responseFormat === "text" ? parseText : parseResponse;
      try {
        return { response: parse(text, seconds) };
      } catch {
        // The error quotes the response, so parse the redacted text.
        return { response: parse(redacted, seconds) };
      }
    } catch (error) {
      signal.throwIfAborted();
      const failsIfUnreachable = this.#options.failsIfUnreachable && !server.wasReached;
      return { failure: failureOfError(error, failsIfUnreachable) };
    }
  }

  /** @param requestFailures last failures of this request; servers that it did not use report their own last failure */
  #noTranscript(requestFailures: ReadonlyMap<Server, ServerFailure>): SpeechError {
    const failures = this.#servers.flatMap((server) => {
      const failure = requestFailures.get(server) ?? server.lastFailure;
      return failure === null ? [] : [{ ...failure, text: `${redactedUrl(server.url)} ${failure.message}` }];
    });
    const kinds = new Set(failures.map(({ kind }) => kind));
    // A server without a failure was busy and may be free later.
    const mayRecover = kinds.has("transient") || failures.length < this.#servers.length;
    const code: SpeechErrorCode = mayRecover
      ? "engine_unavailable"
      : kinds.has("invalid")
        ? "engine_answer_invalid"
        : "engine_refused";
    const why =
      failures.length === 0 ? "all were busy or unavailable" : failures.map(({ text }) => text).join("; ");
    return new SpeechError(code, `No transcription server returned a transcript: ${why}.`);
  }
}

/** Returns the next format without the rejected parameters; undefined if something else was rejected. */
function acceptedFormat(tried: RequestFormat, { rejects }: ServerFailure): RequestFormat | undefined {
  return REQUEST_FORMATS.slice(REQUEST_FORMATS.indexOf(tried) + 1).find(
    ({ responseFormat }) =>
      (tried.hasWordTimes && rejects.includes("wordTimes")) ||
      (rejects.includes("responseFormat") && responseFormat !== tried.responseFormat),
  );
}

/** Uses the API key, or else the name and password in the URL. */
function credentials({ url, apiKey }: Server): { authorization?: string } {
  if (apiKey !== null) return { authorization: `Bearer ${apiKey}` };
  const [name, password] = [url.username, url.password].map(decodeURIComponent);
  if (!name && !password) return {};
  return { authorization: `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}` };
}

const PATH = "/audio/transcriptions";

/**
 * Returns the transcription URL for a base URL such as `https://api.openai.com/v1`. A URL without a path gets `/v1`. A
 * URL that ends in `/audio/transcriptions` or `/inference` (whisper.cpp) is used as is.
 * @throws SpeechError `engine_refused` if the URL is invalid
 */
export function transcriptionUrl(baseUrl: string): URL {
  const url = URL.parse(baseUrl.trim());
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    // A URL such as `gpu1:8000/v1` has no origin.
    const redacted = url === null || url.origin === "null" ? "" : ` (${redactedUrl(url)})`;
    throw new SpeechError("engine_refused", `The transcription server needs an http(s) URL${redacted}.`);
  }
  const path = url.pathname.replace(/\/+$/, "");
  url.pathname = /\/(audio\/transcriptions|inference)$/.test(path) ? path : (path || "/v1") + PATH;
  return url;
}

export function redactedUrl({ origin, pathname }: URL): string {
  return origin + pathname;
}
