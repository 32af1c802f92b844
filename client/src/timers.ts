/** Timers take no more: of anything longer they make a millisecond. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Aborts after so long; of what is longer than timers take, `Infinity` among it, never. */
export function abortAfter(durationMs: number): AbortSignal {
  return durationMs > LONGEST_TIMER_MS ? new AbortController().signal : AbortSignal.timeout(durationMs);
}

/** @throws the signal's reason where it is aborted */
export function sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener("abort", abort);
        resolve();
      },
      Math.min(durationMs, LONGEST_TIMER_MS),
    );
    signal?.addEventListener("abort", abort, { once: true });
  });
}
