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
  transcriptionForm,
} from "./transcription-form.ts";

export interface TranscriptionServersOptions extends LoadBalancerOptions {
  servers: readonly { url: string; apiKey: string | null }[];
  model: string;
  /** To connect, including name lookup and TLS. */
  connectTimeoutMs: number;
  /** From the start of a request to the end of its response. */
  timeoutMs: number;
  /** Maximum attempts per utterance. */
  maxAttempts: number;
  /** Whether a server that has never been reached is given up at once. */
  failsIfUnreachable: boolean;
}

interface Server {
  readonly url: URL;
  readonly apiKey: string | null;
  quirks: ServerQuirks;
  /** Whether it has ever responded. */
  wasReached: boolean;
  /** Why the last request failed; null if it succeeded. */
  lastFailure: ServerFailure | null;
}

/** A real response for 30 seconds of speech, with every token, takes 50 KB. */
const MAX_RESPONSE_BYTES = 2_000_000;

/** Servers with the same model. */
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
      quirks: { format: REQUEST_FORMATS[0], isWhisperCpp: false },
      wasReached: false,
      lastFailure: null,
    }));
    this.#balancer = new LoadBalancer(this.#servers, options);
    const connections = {
      // Each request has its own connection: the server may have closed a reused one.
      pipelining: 0,
      connect: { timeout: options.connectTimeoutMs },
      headersTimeout: 0,
      bodyTimeout: 0,
      maxResponseSize: MAX_RESPONSE_BYTES,
    };
    // As Node.js itself does: a proxy is used only if NODE_USE_ENV_PROXY asks for it.
    const usesProxy = process.env.NODE_USE_ENV_PROXY === "1";
    this.#agent = usesProxy
      ? new EnvHttpProxyAgent({ ...connections, proxyTunnel: false })
      : new Agent(connections);
  }

  /**
   * Retries until a server returns a transcript of the utterance.
   * @param language ISO code; null to let the server detect the language
   * @throws SpeechError `engine_refused`, `engine_unavailable`, `engine_answer_invalid`; the signal's reason
   */
  async transcribe(
    utterance: Utterance,
    language: string | null,
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
      const outcome = await this.#attempt(server, utterance, language, signal).catch((error: unknown) => {
        slot.release();
        throw error;
      });
      if ("response" in outcome) {
        server.lastFailure = null;
        slot.succeeded(utterance.samples.length / SAMPLE_RATE);
        if (!outcome.response.fromWhisperCpp || quirks.isWhisperCpp) return outcome.response;
        server.quirks = { ...server.quirks, isWhisperCpp: true };
        // It assumed that the utterance is English.
        if (language !== null) return outcome.response;
        continue;
      }
      const { failure } = outcome;
      const format = acceptedFormat(quirks.format, failure);
      if (format !== undefined) {
        server.quirks = { ...server.quirks, format };
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
    language: string | null,
    signal: AbortSignal,
  ): Promise<{ response: TranscriptionResponse } | { failure: ServerFailure }> {
    const { apiKey, quirks } = server;
    const { responseFormat } = quirks.format;
    const form = new Response(transcriptionForm(utterance, this.#options.model, language, quirks));
    try {
      const { statusCode, headers, body } = await sendRequest(server.url, {
        method: "POST",
        headers: {
          ...credentials(server),
          "content-type": form.headers.get("content-type") ?? "",
          accept: "application/json",
          "user-agent": "subtext",
        },
        // Not a stream: some servers require a Content-Length.
        body: await form.bytes(),
        signal: AbortSignal.any([signal, AbortSignal.timeout(this.#options.timeoutMs)]),
        dispatcher: this.#agent,
      });
      server.wasReached = true;
      const text = await body.text();
      // Some servers echo the request in errors, which are shown to people.
      const shown = apiKey ? text.replaceAll(apiKey, "…") : text;
      const failure = failureOf({ status: statusCode, headers, body: shown });
      if (failure !== null) return { failure };
      const seconds = utterance.samples.length / SAMPLE_RATE;
      const parse = responseFormat === "text" ? parseText : parseResponse;
      try {
        return { response: parse(text, seconds) };
      } catch {
        // Parses again for the error, which quotes the response.
        return { response: parse(shown, seconds) };
      }
    } catch (error) {
      signal.throwIfAborted();
      const failsIfUnreachable = this.#options.failsIfUnreachable && !server.wasReached;
      return { failure: failureOfError(error, failsIfUnreachable) };
    }
  }

  /** @param ofRequest the last failures of one request; those of others describe the rest of the servers */
  #noTranscript(ofRequest: ReadonlyMap<Server, ServerFailure>): SpeechError {
    const failures = this.#servers.flatMap((server) => {
      const failure = ofRequest.get(server) ?? server.lastFailure;
      return failure === null ? [] : [{ ...failure, text: `${shownUrl(server.url)} ${failure.message}` }];
    });
    const kinds = new Set(failures.map(({ kind }) => kind));
    // A server that merely did not respond in time has no failure and may respond later.
    const mayPass = kinds.has("transient") || failures.length < this.#servers.length;
    const code: SpeechErrorCode = mayPass
      ? "engine_unavailable"
      : kinds.has("invalid")
        ? "engine_answer_invalid"
        : "engine_refused";
    const why = failures.length === 0 ? "none was free in time" : failures.map(({ text }) => text).join("; ");
    return new SpeechError(code, `No transcription server gave a transcript: ${why}.`);
  }
}

/** Returns the next format without what the server rejects; undefined if it rejects something else. */
function acceptedFormat(asked: RequestFormat, { rejects }: ServerFailure): RequestFormat | undefined {
  return REQUEST_FORMATS.slice(REQUEST_FORMATS.indexOf(asked) + 1).find(
    ({ responseFormat }) =>
      (asked.hasWordTimes && rejects.includes("wordTimes")) ||
      (rejects.includes("responseFormat") && responseFormat !== asked.responseFormat),
  );
}

/** The key, or else the name and password in the URL. */
function credentials({ url, apiKey }: Server): { authorization?: string } {
  if (apiKey !== null) return { authorization: `Bearer ${apiKey}` };
  const [name, password] = [url.username, url.password].map(decodeURIComponent);
  if (!name && !password) return {};
  return { authorization: `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}` };
}

const PATH = "/audio/transcriptions";

/**
 * Returns the transcription URL for a base URL: `https://api.openai.com/v1`, `http://gpu1:8000/v1/`. A URL
 * without a path gets `/v1`; one that ends in `/audio/transcriptions`, or in `/inference` as for
 * whisper.cpp's server, is used as it is.
 * @throws SpeechError `engine_refused` if the URL is invalid
 */
export function transcriptionUrl(baseUrl: string): URL {
  const url = URL.parse(baseUrl.trim());
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    const shown = url === null ? "" : ` (${shownUrl(url)})`;
    throw new SpeechError("engine_refused", `The transcription server's URL is not an http(s) URL${shown}.`);
  }
  const path = url.pathname.replace(/\/+$/, "");
  url.pathname = /\/(audio\/transcriptions|inference)$/.test(path) ? path : (path || "/v1") + PATH;
  return url;
}

/** A URL for messages: without password, query and fragment. */
export function shownUrl({ origin, pathname }: URL): string {
  return origin + pathname;
}
