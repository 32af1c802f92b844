export interface DownloadProgress {
  receivedBytes: number;
  /** Null if the hub does not report the sizes. */
  totalBytes: number | null;
  /** Rate over the last seconds; null until it can be estimated. */
  bytesPerSecond: number | null;
  /** Null until it can be estimated. */
  remainingSeconds: number | null;
  /** True if another process is downloading the model and this process is waiting for it. */
  elsewhere: boolean;
}

const WINDOW_MS = 10_000;
/** Rates over shorter times are unreliable. */
const SHORTEST_MS = 500;
/** Progress is reported for every chunk, thousands of times per second, but only a few reports are kept. */
const KEPT_EVERY_MS = 100;

export class ProgressMeter {
  readonly #now: () => number;
  /** Reports of the last seconds, the oldest first. */
  #kept: { at: number; bytes: number }[] = [];
  #lastBytes = 0;

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number) {
    this.#now = now;
  }

  progress(receivedBytes: number, totalBytes: number | null, elsewhere: boolean): DownloadProgress {
    const at = this.#now();
    // A decrease means that a file was restarted, so the rate is unknown.
    if (receivedBytes < this.#lastBytes) this.#kept = [];
    this.#lastBytes = receivedBytes;
    if (at - (this.#kept.at(-1)?.at ?? Number.NEGATIVE_INFINITY) >= KEPT_EVERY_MS) {
      this.#kept.push({ at, bytes: receivedBytes });
    }
    while (at - this.#kept[0]!.at > WINDOW_MS) this.#kept.shift();
    const oldest = this.#kept[0]!;
    const elapsedMs = at - oldest.at;
    const bytesPerSecond =
      elapsedMs >= SHORTEST_MS ? ((receivedBytes - oldest.bytes) / elapsedMs) * 1000 : null;
    const remaining = totalBytes === null ? null : Math.max(0, totalBytes - receivedBytes);
    return {
      receivedBytes,
      totalBytes,
      bytesPerSecond,
      remainingSeconds: remaining !== null && bytesPerSecond ? remaining / bytesPerSecond : null,
      elsewhere,
    };
  }
}
