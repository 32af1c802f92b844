/** How far the download of a model is. */
export interface DownloadProgress {
  receivedBytes: number;
  /** Null where the hub does not say how large the files are. */
  totalBytes: number | null;
  /** Over the last seconds; null until it can be told. */
  bytesPerSecond: number | null;
  /** Null until it can be told. */
  remainingSeconds: number | null;
  /** True where another process downloads and this one waits for it. */
  elsewhere: boolean;
}

const WINDOW_MS = 10_000;
/** Rates over less than this are noise. */
const SHORTEST_MS = 500;

/** Tells the rate of a download and how long it will take, by what came in over the last ten seconds. */
export class ProgressMeter {
  readonly #now: () => number;
  #seen: { at: number; bytes: number }[] = [];

  /** @param now milliseconds of a clock that only goes forward */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** @param elsewhere as in `DownloadProgress` */
  progress(receivedBytes: number, totalBytes: number | null, elsewhere: boolean): DownloadProgress {
    const at = this.#now();
    // Less than before: a file was begun anew, and what is known of the rate is of no use.
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
