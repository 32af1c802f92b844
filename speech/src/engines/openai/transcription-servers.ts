import { SpeechError, type SpeechErrorCode } from "../../errors.ts";
import { SAMPLE_RATE } from "../../media/audio.ts";
import type { Utterance } from "../../vad/utterances.ts";
import { type PostTimeouts, post } from "./http-post.ts";
import type { Clock } from "./load-balancer.ts";
import { Fleet } from "./load-balancer.ts";
import { parseResponse, type TranscriptionResponse } from "./response.ts";
import { failureOf, failureOfError, type ServerFailure } from "./server-failure.ts";
import { type ServerQuirks, transcriptionForm } from "./transcription-form.ts";

export interface TranscriptionServersOptions {
  servers: readonly { url: string; apiKey: string | null }[];
  model: string;
  concurrency: number;
  timeouts: PostTimeouts;
  /** Maximum attempts per utterance. */
  tries: number;
  /** How long an utterance is retried after its first failure. */
  patienceMs: number;
  /** Whether a server that has never been reached is given up at once. */
  failsIfUnreachable: boolean;
  firstRestMs: number;
  longestRestMs: number;
  clock: Clock;
  random: () => number;
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
const MAX_ANSWER_BYTES = 2_000_000;

/** Servers with the same model. */
export class TranscriptionServers {
  readonly #servers: readonly Server[];
  readonly #fleet: Fleet<Server>;
  readonly #options: TranscriptionServersOptions;

  /** @throws SpeechError `engine_refused` if there is no server or a URL is invalid */
  constructor(options: TranscriptionServersOptions) {
    if (options.servers.length === 0) {
      throw new SpeechError("engine_refused", "No transcription server is configured.");
    }
    this.#options = options;
    this.#servers = options.servers.map(({ url, apiKey }) => ({
      url: transcriptionUrl(url),
      apiKey,
      quirks: { supportsWordTimes: true, isWhisperCpp: false },
      wasReached: false,
      lastFailure: null,
    }));
    this.#fleet = new Fleet(this.#servers, options);
  }

  /**
   * Retries until a server returns a transcript of the utterance.
   * @param language ISO code; null to let the server detect the language
   * @throws SpeechError `engine_refused`, `engine_unavailable`, `engine_answer_invalid`; the signal's reason
   */
  async ask(
    utterance: Utterance,
    language: string | null,
    signal: AbortSignal,
  ): Promise<TranscriptionResponse> {
    const { clock, patienceMs, tries } = this.#options;
    const request = this.#fleet.request();
    const failures = new Map<Server, ServerFailure>();
    for (let failed = 0; failed < tries && request.never.size < this.#servers.length; ) {
      const place = await this.#fleet.place(request, signal);
      if (place === null) break;
      const { server } = place;
      const { quirks } = server;
      const outcome = await this.#askOnce(server, utterance, language, signal).catch((error: unknown) => {
        place.left();
        throw error;
      });
      if ("answer" in outcome) {
        server.lastFailure = null;
        place.succeeded(utterance.samples.length / SAMPLE_RATE);
        if (!outcome.answer.fromWhisperCpp || quirks.isWhisperCpp) return outcome.answer;
        server.quirks = { ...server.quirks, isWhisperCpp: true };
        // It assumed that the utterance is English.
        if (language !== null) return outcome.answer;
        continue;
      }
      const { failure } = outcome;
      if (failure.rejectsWordTimes && quirks.supportsWordTimes) {
        server.quirks = { ...server.quirks, supportsWordTimes: false };
        place.left();
        continue;
      }
      server.lastFailure = failure;
      failures.set(server, failure);
      if (failure.kind === "refused") place.left();
      else place.failed(failure.retryAfterMs);
      if (failure.kind === "passing" || failure.kind === "senseless") {
        failed++;
        request.ratherNot.add(server);
      } else request.never.add(server);
      request.deadline = Math.min(request.deadline, clock.now() + patienceMs);
    }
    throw this.#noTranscript(failures);
  }

  async #askOnce(
    server: Server,
    utterance: Utterance,
    language: string | null,
    signal: AbortSignal,
  ): Promise<{ answer: TranscriptionResponse } | { failure: ServerFailure }> {
    const form = new Response(transcriptionForm(utterance, this.#options.model, language, server.quirks));
    const body = await form.bytes();
    try {
      const answer = await post(server.url, {
        headers: {
          ...(server.apiKey !== null && { authorization: `Bearer ${server.apiKey}` }),
          "content-type": form.headers.get("content-type") ?? "",
          accept: "application/json",
          "user-agent": "subtext",
        },
        body,
        timeouts: this.#options.timeouts,
        maxAnswerBytes: MAX_ANSWER_BYTES,
        signal,
      });
      server.wasReached = true;
      // Some servers echo the request in errors, which are shown to people.
      const shown = server.apiKey ? answer.body.replaceAll(server.apiKey, "…") : answer.body;
      const failure = failureOf({ ...answer, body: shown }, this.#options.clock.date());
      if (failure !== null) return { failure };
      const seconds = utterance.samples.length / SAMPLE_RATE;
      try {
        return { answer: parseResponse(answer.body, seconds) };
      } catch {
        // Parses again for the error, which quotes the response.
        return { answer: parseResponse(shown, seconds) };
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
    const mayPass = kinds.has("passing") || failures.length < this.#servers.length;
    const code: SpeechErrorCode = mayPass
      ? "engine_unavailable"
      : kinds.has("senseless")
        ? "engine_answer_invalid"
        : "engine_refused";
    const why = failures.length === 0 ? "none was free in time" : failures.map(({ text }) => text).join("; ");
    return new SpeechError(code, `No transcription server gave a transcript: ${why}.`);
  }
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
