import { SubtextError } from "./errors.ts";
import { exchange, readJson } from "./exchange.ts";
import { Retries, readRetryAfterMs } from "./retry.ts";
import { abortAfter, sleep } from "./timers.ts";
import type { RequestOptions, Transport } from "./transport.ts";
import type { Transcription, TranscriptWord } from "./types.ts";

type TranscriptionStatus = Transcription["status"];
type FileFormat = keyof NonNullable<Transcription["files"]>;

/** Where a transcription is COMPLETED, none of its fields is null. */
export type Completed<T> = { [Field in keyof T]: NonNullable<T[Field]> } & { status: "COMPLETED" };

/** A transcription with captions, words and text. */
export type CompletedTranscription = Completed<Transcription>;

/** A transcription in any other state: there are no files. */
export type OtherTranscription<Status extends TranscriptionStatus> = Transcription & {
  status: Status;
  files: null;
  completedAt: null;
};

/** What `transcriptions.wait` ends with; its `status` tells which of them it is. */
export type EndedTranscription =
  | CompletedTranscription
  | OtherTranscription<"FAILED">
  | OtherTranscription<"SKIPPED">;

export interface WaitOptions extends RequestOptions {
  /** For the whole wait, which else ends with the transcription alone. */
  waitTimeoutMs?: number;
}

/** Where the service does not say when to ask again. */
const POLL_MS = 2_000;
/** Whatever it, or a proxy before it, says. */
const [SHORTEST_POLL_MS, LONGEST_POLL_MS] = [500, 60_000];
/** The longer a wait has lasted, the less often it asks: it notices the end at most a tenth too late. */
const [BACKOFF_SHARE, LONGEST_BACKOFF_MS] = [0.1, 30_000];

/** `subtext.transcriptions`. Everything needs `get_video`. */
export class Transcriptions {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * The transcription of a video, in whichever state. URLs of `files` live for minutes: fetch at once.
   * @throws SubtextError `video_not_found`; `transcription_not_found` where none was made
   */
  get(videoId: string, options: RequestOptions = {}): Promise<Transcription> {
    return this.#transport.call("getTranscription", { params: { videoId } }, options);
  }

  /**
   * Asks, as often as the service wants to be asked, until the transcription has ended. Where you can be
   * reached, a webhook tells it sooner and at less cost.
   * @throws SubtextError `wait_timed_out`, and whatever `get` throws
   */
  async wait(videoId: string, options: WaitOptions = {}): Promise<EndedTranscription> {
    const { waitTimeoutMs, signal, ...rest } = options;
    const timeout = waitTimeoutMs === undefined ? undefined : abortAfter(waitTimeoutMs);
    const signals = [signal, timeout].filter((one) => one !== undefined);
    const either = AbortSignal.any(signals);
    const beganMs = performance.now();
    try {
      for (;;) {
        const { body, headers } = await this.#transport.callForHeaders(
          "getTranscription",
          { params: { videoId } },
          { ...rest, signal: either, isBackground: true },
        );
        if (hasEnded(body)) return body;
        await sleep(pollDelayMs(headers, performance.now() - beganMs), either);
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (timeout?.aborted) throw new SubtextError({ code: "wait_timed_out", cause: error });
      throw error;
    }
  }

  /** The words with their times. @throws SubtextError `transcription_not_completed` */
  async words(videoId: string, options: RequestOptions = {}): Promise<TranscriptWord[]> {
    return await this.#fetchFile(videoId, "json", options, async (response) => {
      return (await readJson(response)) as TranscriptWord[];
    });
  }

  /** The captions, WebVTT. @throws SubtextError `transcription_not_completed` */
  vtt(videoId: string, options: RequestOptions = {}): Promise<string> {
    return this.#fetchFile(videoId, "vtt", options, (response) => response.text());
  }

  /** The text. @throws SubtextError `transcription_not_completed` */
  text(videoId: string, options: RequestOptions = {}): Promise<string> {
    return this.#fetchFile(videoId, "txt", options, (response) => response.text());
  }

  /** A URL may end while it waits for its turn, so every try takes a new one. */
  async #fetchFile<T>(
    videoId: string,
    format: FileFormat,
    options: RequestOptions,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const { fetch, retry, ...defaults } = this.#transport.options;
    const { signal, timeoutMs = defaults.timeoutMs } = options;
    const retries = new Retries(retry, signal);
    for (let refusals = 0; ; ) {
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
        if (error instanceof SubtextError && error.status === 403 && refusals === 0) {
          refusals += 1;
          continue;
        }
        await retries.pause(error);
      }
    }
  }
}

function pollDelayMs(headers: Headers, elapsedMs: number): number {
  const askedMs = readRetryAfterMs(headers, Date.now()) ?? POLL_MS;
  const backoffMs = Math.min(elapsedMs * BACKOFF_SHARE, LONGEST_BACKOFF_MS);
  return Math.min(Math.max(askedMs, backoffMs, SHORTEST_POLL_MS), LONGEST_POLL_MS);
}

function hasEnded(transcription: Transcription): transcription is EndedTranscription {
  return transcription.status !== "PENDING" && transcription.status !== "PROCESSING";
}
