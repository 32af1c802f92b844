import { MAX_TIMER_MS } from "./timers.ts";

/** Maximum number of concurrent requests until the first response has reported the rate limit. */
const MAX_IN_FLIGHT_UNKNOWN = 8;
/** A background request that has waited this long is treated like the others. */
const OVERDUE_MS = 10_000;

export interface Turn {
  /** A background request is sent only if half of the quota remains for other requests, or if it is overdue. */
  isBackground?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

interface Waiting {
  sinceMs: number;
  begin(): void;
}

interface Limit {
  quota: number;
  refillPerMs: number;
}

/**
 * Keeps the requests of one key within its rate limit. A token bucket follows the `RateLimit` and `RateLimit-Policy`
 * headers of the responses, which also count the requests of other programs with this key.
 */
export class Pacer {
  readonly #foreground: Waiting[] = [];
  readonly #background: Waiting[] = [];
  /** Null until the first response; "none" if the service reports no limit. */
  #limit: Limit | "none" | null = null;
  #tokens = 0;
  #countedAtMs = 0;
  #inFlight = 0;
  #wasForeground = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * Resolves when the request may be sent. Call `end` after the request.
   * @throws the signal's reason if it is aborted
   */
  async begin({ isBackground = false, signal }: Turn): Promise<void> {
    signal?.throwIfAborted();
    const queue = isBackground ? this.#background : this.#foreground;
    await new Promise<void>((resolve, reject) => {
      const abort = () => {
        queue.splice(queue.indexOf(waiting), 1);
        reject(signal?.reason);
        this.#advance();
      };
      const waiting = {
        sinceMs: performance.now(),
        begin: () => {
          signal?.removeEventListener("abort", abort);
          resolve();
        },
      };
      signal?.addEventListener("abort", abort, { once: true });
      queue.push(waiting);
      this.#advance();
    });
  }

  end(): void {
    this.#inFlight -= 1;
    this.#advance();
  }

  /** Applies the rate limit that a response reports. Call it before `end`. */
  observe(headers: Headers): void {
    const reported = readRateLimit(headers);
    if (reported) {
      this.#limit = reported.limit;
      // The service may not have counted the other requests in flight yet.
      this.#tokens = reported.remaining - (this.#inFlight - 1);
      this.#countedAtMs = performance.now();
    } else {
      this.#limit ??= "none";
    }
    this.#advance();
  }

  #advance(): void {
    clearTimeout(this.#timer);
    for (let delayMs = this.#delayMs(); delayMs !== null; delayMs = this.#delayMs()) {
      if (delayMs > 0) {
        this.#timer = setTimeout(() => this.#advance(), Math.min(Math.ceil(delayMs), MAX_TIMER_MS));
        return;
      }
      const isBackground = this.#isBackgroundNext();
      this.#wasForeground = !isBackground;
      this.#tokens -= 1;
      this.#inFlight += 1;
      (isBackground ? this.#background : this.#foreground).shift()?.begin();
    }
  }

  /** Time until the next request may be sent; null if none is waiting, or if one in flight must finish first. */
  #delayMs(): number | null {
    const isBackground = this.#isBackgroundNext();
    const next = isBackground ? this.#background[0] : this.#foreground[0];
    if (!next) return null;
    if (this.#limit === "none") return 0;
    if (this.#limit === null) return this.#inFlight < MAX_IN_FLIGHT_UNKNOWN ? 0 : null;
    const { quota, refillPerMs } = this.#limit;
    const nowMs = performance.now();
    this.#tokens = Math.min(quota, this.#tokens + (nowMs - this.#countedAtMs) * refillPerMs);
    this.#countedAtMs = nowMs;
    const needed = (tokens: number) => Math.max(0, (tokens - this.#tokens) / refillPerMs);
    if (!isBackground) return needed(1);
    const overdueMs = Math.max(0, next.sinceMs + OVERDUE_MS - nowMs);
    return Math.min(needed(1 + Math.floor(quota / 2)), Math.max(needed(1), overdueMs));
  }

  #isBackgroundNext(): boolean {
    const [foreground] = this.#foreground;
    const [background] = this.#background;
    if (!foreground || !background) return !foreground;
    return this.#wasForeground && performance.now() - background.sinceMs >= OVERDUE_MS;
  }
}

/** Returns the limit with the fewest requests remaining. */
function readRateLimit(headers: Headers): { limit: Limit; remaining: number } | null {
  const policies = new Map(readItems(headers.get("ratelimit-policy")));
  let tightest: { limit: Limit; remaining: number } | null = null;
  for (const [name, { r: remaining }] of readItems(headers.get("ratelimit"))) {
    const { q: quota, w: windowSeconds } = policies.get(name) ?? {};
    if (remaining === undefined || !quota || !windowSeconds) continue;
    if (tightest && tightest.remaining <= remaining) continue;
    tightest = { limit: { quota, refillPerMs: quota / (windowSeconds * 1000) }, remaining };
  }
  return tightest;
}

/** Parses an RFC 9651 list such as `"per-key";r=59;t=1`. Only integer parameters are returned. */
function readItems(header: string | null): [name: string, parameters: Record<string, number>][] {
  return (header ?? "").split(",").map((item) => {
    const [name = "", ...parameters] = item.split(";").map((part) => part.trim());
    const integers = parameters.flatMap((parameter) => {
      const [, key, value] = /^(\w+)=(\d{1,15})$/.exec(parameter) ?? [];
      return key === undefined ? [] : [[key, Number(value)] as const];
    });
    return [name, Object.fromEntries(integers)];
  });
}
