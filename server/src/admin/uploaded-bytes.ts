import type { Sources } from "../storage/recording-store.ts";

/** A disk tells at once; of a bucket that takes 50 ms it is asked every 5 s. */
const SHARE_OF_THE_TIME = 0.01;
/** Of so many uploads what is known is kept; more than are shown at once. */
const MOST_KNOWN = 1_000;

interface Known {
  bytes: Promise<number | null>;
  /** By `performance.now`. */
  askAgainAt: number;
}

/**
 * How much has come of uploads that are running, for everybody who looks at them. The longer the storage takes to
 * answer, the more seldom it is asked.
 */
export class UploadSizes {
  readonly #sources: Pick<Sources, "inspect">;
  readonly #known = new Map<string, Known>();

  constructor(sources: Pick<Sources, "inspect">) {
    this.#sources = sources;
  }

  /** Bytes; null where the storage does not answer, which is no reason to tell nothing of the video. */
  async of(videoId: string): Promise<number | null> {
    const begun = performance.now();
    const known = this.#known.get(videoId);
    if (known && begun < known.askAgainAt) return await known.bytes;
    const asked: Known = { bytes: this.#ask(videoId), askAgainAt: Number.POSITIVE_INFINITY };
    this.#known.delete(videoId);
    this.#known.set(videoId, asked);
    if (this.#known.size > MOST_KNOWN) this.#known.delete(this.#known.keys().next().value!);
    const bytes = await asked.bytes;
    asked.askAgainAt = begun + (performance.now() - begun) / SHARE_OF_THE_TIME;
    return bytes;
  }

  async #ask(videoId: string): Promise<number | null> {
    try {
      return (await this.#sources.inspect(videoId))?.sizeBytes ?? 0;
    } catch {
      return null;
    }
  }
}
