import { requireArgument, requireDuration, requireObject, requireSignal } from "./arguments.ts";
import { SubtextError } from "./errors.ts";
import { exchange, readJson } from "./exchange.ts";
import { Retries, readRetryAfterMs } from "./retry.ts";
import type { CompletedTranscription, EndedTranscription, Transcription } from "./states.ts";
import { abortAfter, sleep } from "./timers.ts";
import type { PostOptions, RequestOptions, Transport } from "./transport.ts";
import type { SavedWords, TranscriptWord, TranscriptWords, TranscriptWordsChange } from "./types.ts";

type FileFormat = keyof CompletedTranscription["files"];

export interface WaitOptions extends RequestOptions {
  /** Timeout of the whole wait; none by default. */
  waitTimeoutMs?: number | undefined;
}

/** Used if the service sends no `Retry-After`. */
const POLL_MS = 2_000;
/** Limits for the `Retry-After` of the service or a proxy. */
const [MIN_POLL_MS, MAX_POLL_MS] = [500, 60_000];
/** The delay between polls grows to 10% of the time waited. */
const [BACKOFF_SHARE, MAX_BACKOFF_MS] = [0.1, 30_000];

/** `subtext.transcriptions`. All methods but `updateWords` require the `get_video` permission. */
export class Transcriptions {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Returns the transcription of a video in any state. The URLs in `files` expire within minutes.
   * @throws SubtextError `video_not_found`; `upload_incomplete`; `transcription_not_found` if the video will not be
   * transcribed
   */
  async get(videoId: string, options: RequestOptions = {}): Promise<Transcription> {
    const transcription = await this.#transport.call("getTranscription", { params: { videoId } }, options);
    return transcription as Transcription;
  }

  /**
   * Waits for the upload to finish and the transcription to end, by polling. If the service can reach your program, use
   * a webhook instead, which is faster and cheaper.
   * @throws SubtextError `wait_timed_out`, and the errors of `get` except `upload_incomplete`
   */
  async wait(videoId: string, options: WaitOptions = {}): Promise<EndedTranscription> {
    requireObject(options, "options");
    const { waitTimeoutMs, signal, ...rest } = options;
    requireDuration(waitTimeoutMs, "waitTimeoutMs");
    requireSignal(signal);
    const timeout = waitTimeoutMs === undefined ? undefined : abortAfter(waitTimeoutMs);
    const either = AbortSignal.any([signal, timeout].filter((each) => each !== undefined));
    const startMs = performance.now();
    try {
      for (;;) {
        const { ended, retryAfterMs } = await this.#poll(videoId, { ...rest, signal: either });
        if (ended) return ended;
        await sleep(pollDelayMs(retryAfterMs, performance.now() - startMs), either);
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (timeout?.aborted) throw new SubtextError({ code: "wait_timed_out", cause: error });
      throw error;
    }
  }

  async #poll(
    videoId: string,
    options: RequestOptions,
  ): Promise<{ ended?: EndedTranscription; retryAfterMs: number | null }> {
    const call = { params: { videoId } };
    try {
      const background = { ...options, isBackground: true };
      const { body, headers } = await this.#transport.callForHeaders("getTranscription", call, background);
      const retryAfterMs = readRetryAfterMs(headers, Date.now());
      if (body.status === "PENDING" || body.status === "PROCESSING") return { retryAfterMs };
      const { transcription } = (await this.#transport.callForHeaders("getVideo", call, background)).body;
      // A FAILED transcription may have been reprocessed between the two requests.
      if (transcription?.status !== body.status) return { retryAfterMs };
      const { failure, skipReason, incomplete } = transcription;
      return { ended: { ...body, failure, skipReason, incomplete } as EndedTranscription, retryAfterMs };
    } catch (error) {
      if (!(error instanceof SubtextError) || error.code !== "upload_incomplete") throw error;
      return { retryAfterMs: error.retryAfterMs };
    }
  }

  /**
   * Returns the words with speakers and confidences, for `updateWords`.
   * @throws SubtextError `transcription_not_completed`, and the errors of `get`
   */
  async editableWords(videoId: string, options: RequestOptions = {}): Promise<TranscriptWords> {
    return await this.#transport.call("getTranscriptWords", { params: { videoId } }, options);
  }

  /**
   * Replaces all words of a transcript, if it still has the words that `editableWords` returned. Requires the
   * `edit_transcript` permission.
   * @param ifMatch the `etag` of these words
   * @throws SubtextError `transcript_changed` if the transcript has changed since then; `invalid_words`; the errors of
   * `editableWords`
   */
  async updateWords(
    videoId: string,
    change: TranscriptWordsChange,
    options: PostOptions & { ifMatch: string },
  ): Promise<SavedWords> {
    requireObject(options, "options");
    const { ifMatch, ...rest } = options;
    requireArgument(typeof ifMatch === "string", "ifMatch", "the `etag` of the words that you changed");
    const call = { params: { videoId }, body: change, ifMatch };
    return await this.#transport.call("updateTranscriptWords", call, rest);
  }

  /** Returns the words with their times. @throws SubtextError `transcription_not_completed`, and the errors of `get` */
  async words(videoId: string, options: RequestOptions = {}): Promise<TranscriptWord[]> {
    return await this.#fetchFile(videoId, "json", options, async (response) => {
      return (await readJson(response)) as TranscriptWord[];
    });
  }

  /** Returns the captions as WebVTT. @throws SubtextError `transcription_not_completed`, and the errors of `get` */
  vtt(videoId: string, options: RequestOptions = {}): Promise<string> {
    return this.#fetchFile(videoId, "vtt", options, (response) => response.text());
  }

  /** Returns the plain text. @throws SubtextError `transcription_not_completed`, and the errors of `get` */
  text(videoId: string, options: RequestOptions = {}): Promise<string> {
    return this.#fetchFile(videoId, "txt", options, (response) => response.text());
  }

  /** Gets a new URL for every attempt, because URLs expire. */
  async #fetchFile<T>(
    videoId: string,
    format: FileFormat,
    options: RequestOptions,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    requireObject(options, "options");
    const { fetch, retry, ...defaults } = this.#transport.options;
    const { signal, timeoutMs = defaults.timeoutMs } = options;
    const retries = new Retries(retry, signal);
    for (let rejections = 0; ; ) {
      const { files, status } = await this.get(videoId, options);
      if (!files) {
        throw new SubtextError({
          code: "transcription_not_completed",
          detail: `The transcription is ${status}.`,
        });
      }
      try {
        return await exchange(fetch, files[format].url, {}, { timeoutMs, signal }, read);
      } catch (error) {
        if (error instanceof SubtextError && error.status === 403 && rejections === 0) {
          rejections += 1;
          continue;
        }
        await retries.pause(error);
      }
    }
  }
}

function pollDelayMs(retryAfterMs: number | null, elapsedMs: number): number {
  const backoffMs = Math.min(elapsedMs * BACKOFF_SHARE, MAX_BACKOFF_MS);
  return Math.min(Math.max(retryAfterMs ?? POLL_MS, backoffMs, MIN_POLL_MS), MAX_POLL_MS);
}
