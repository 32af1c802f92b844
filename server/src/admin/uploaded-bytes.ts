import type { RecordingStore } from "../storage/recording-store.ts";

/** Maximum fraction of time spent on queries: a bucket that answers in 50 ms is queried every 5 s. */
const MAX_SHARE_OF_TIME = 0.01;
const MAX_CACHED_UPLOADS = 1_000;

interface CachedBytes {
  bytes: Promise<number | null>;
  /** In milliseconds of `performance.now()`. */
  expiresAt: number;
}

/** Caches how many bytes of unfinished uploads were received. The slower the storage, the longer the cache is used. */
export class UploadedBytes {
  readonly #recordings: Pick<RecordingStore, "inspect">;
  readonly #cache = new Map<string, CachedBytes>();

  constructor(recordings: Pick<RecordingStore, "inspect">) {
    this.#recordings = recordings;
  }

  /** Returns null if the storage does not respond, so that the rest of the video can still be shown. */
  async of(videoId: string): Promise<number | null> {
    const startedAt = performance.now();
    const cached = this.#cache.get(videoId);
    if (cached && startedAt < cached.expiresAt) return await cached.bytes;
    const entry: CachedBytes = { bytes: this.#inspect(videoId), expiresAt: Number.POSITIVE_INFINITY };
    this.#cache.delete(videoId);
    this.#cache.set(videoId, entry);
    if (this.#cache.size > MAX_CACHED_UPLOADS) this.#cache.delete(this.#cache.keys().next().value!);
    const bytes = await entry.bytes;
    entry.expiresAt = startedAt + (performance.now() - startedAt) / MAX_SHARE_OF_TIME;
    return bytes;
  }

  async #inspect(videoId: string): Promise<number | null> {
    try {
      return (await this.#recordings.inspect(videoId))?.sizeBytes ?? 0;
    } catch {
      return null;
    }
  }
}
