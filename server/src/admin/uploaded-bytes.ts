import type { RecordingStore } from "../storage/recording-store.ts";

/** Maximum fraction of time spent on queries: a bucket that answers in 50 ms is queried every 5 s. */
const MAX_SHARE_OF_TIME = 0.01;
const MAX_CACHED = 1_000;

interface Known {
  bytes: Promise<number | null>;
  /** In milliseconds of `performance.now()`. */
  askAgainAt: number;
}

/**
 * Caches how many bytes of unfinished uploads were received. The slower the storage, the longer the cache is used.
 */
export class UploadedBytes {
  readonly #recordings: Pick<RecordingStore, "inspect">;
  readonly #known = new Map<string, Known>();

  constructor(recordings: Pick<RecordingStore, "inspect">) {
    this.#recordings = recordings;
  }

  /** Returns null if the storage does not respond, so that the rest of the video can still be shown. */
  async of(videoId: string): Promise<number | null> {
    const begun = performance.now();
    const known = this.#known.get(videoId);
    if (known && begun < known.askAgainAt) return await known.bytes;
    const asked: Known = { bytes: this.#ask(videoId), askAgainAt: Number.POSITIVE_INFINITY };
    this.#known.delete(videoId);
    this.#known.set(videoId, asked);
    if (this.#known.size > MAX_CACHED) this.#known.delete(this.#known.keys().next().value!);
    const bytes = await asked.bytes;
    asked.askAgainAt = begun + (performance.now() - begun) / MAX_SHARE_OF_TIME;
    return bytes;
  }

  async #ask(videoId: string): Promise<number | null> {
    try {
      return (await this.#recordings.inspect(videoId))?.sizeBytes ?? 0;
    } catch {
      return null;
    }
  }
}
