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

export class ProgressMeter {
  readonly #now: () => number;
  #seen: { at: number; bytes: number }[] = [];

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number) {
    this.#now = now;
  }

  progress(receivedBytes: number, totalBytes: number | null, elsewhere: boolean): DownloadProgress {
    const at = this.#now();
    // A decrease means that a file was restarted, so the rate is unknown.
    if (receivedBytes < (this.#seen.at(-1)?.bytes ?? 0)) this.#seen = [];
    this.#seen = [...this.#seen.filter((each) => at - each.at <= WINDOW_MS), { at, bytes: receivedBytes }];
    const [oldest] = this.#seen;
    const elapsedMs = at - (oldest?.at ?? at);
    const gained = receivedBytes - (oldest?.bytes ?? receivedBytes);
    const bytesPerSecond = elapsedMs >= SHORTEST_MS ? (gained / elapsedMs) * 1000 : null;
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
