/** Bytes of weights in memory per thread for which the base limit suffices on a slow processor: `whisper-small`. */
const BASE_BYTES_PER_THREAD = 1_250_000_000;
/** A step may take this many times as long as the slowest step so far. */
const SLOWEST_STEPS = 10;

/**
 * Returns the time without progress after which a process counts as hung. It grows with the work of a batch, which is
 * proportional to the size of its weights, and with the time that steps have taken on this machine.
 */
export function stallLimitMs(
  baseMs: number,
  { threads, modelBytes, slowestStepMs }: { threads: number; modelBytes: number; slowestStepMs: number },
): number {
  const bytesPerThread = modelBytes / threads;
  return Math.max(baseMs, (baseMs * bytesPerThread) / BASE_BYTES_PER_THREAD, SLOWEST_STEPS * slowestStepMs);
}
