import { createRequire } from "node:module";
import { getEnvironmentData, isMainThread, setEnvironmentData } from "node:worker_threads";
import type { InferenceSession } from "onnxruntime-node";

/**
 * Preloaded into every thread. Sums the CPU time that the calling threads spend in model calls. This is the full cost
 * only for sessions with one thread, which compute on the calling thread.
 */

// The speech package must resolve the same copy of onnxruntime-node, because its prototype is patched.
const { prototype } = createRequire(import.meta.resolve("@subtext/speech/vad/voice-activity"))(
  "onnxruntime-node",
).InferenceSession as { prototype: InferenceSession };

const KEY = "subtext.modelMicroseconds";
if (isMainThread) setEnvironmentData(KEY, new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT) as never);
const microseconds = new BigInt64Array(getEnvironmentData(KEY) as unknown as SharedArrayBuffer);

const { run } = prototype;
prototype.run = async function timedRun(this: InferenceSession, ...args: never[]) {
  const before = process.threadCpuUsage();
  try {
    return await (run as (...args: never[]) => ReturnType<typeof run>).apply(this, args);
  } finally {
    const { user, system } = process.threadCpuUsage(before);
    Atomics.add(microseconds, 0, BigInt(user + system));
  }
};

/** Returns the CPU seconds of all model calls so far, in all threads. */
export function modelSeconds(): number {
  return Number(Atomics.load(microseconds, 0)) / 1e6;
}
