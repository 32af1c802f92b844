/** The longest delay that timers support. With a longer delay, they fire immediately. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Returns a signal that aborts after the delay, or never if the delay is longer than `MAX_TIMER_MS`. */
export function abortAfter(durationMs: number): AbortSignal {
  if (durationMs > MAX_TIMER_MS) return new AbortController().signal;
  // Node.js accepts only whole milliseconds.
  return AbortSignal.timeout(Math.ceil(durationMs));
}

/** @throws the signal's reason if it is aborted */
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
      Math.min(durationMs, MAX_TIMER_MS),
    );
    signal?.addEventListener("abort", abort, { once: true });
  });
}
