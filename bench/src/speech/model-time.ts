import { createRequire } from "node:module";
import { getEnvironmentData, isMainThread, setEnvironmentData } from "node:worker_threads";
import type { InferenceSession } from "onnxruntime-node";

/**
 * Loaded into every thread of a run (`--import`). Sums the CPU time of the calls in which the model runtime computes.
 * With one thread per session, the runtime computes on the calling thread, so this is the thread's CPU time during the
 * call.
 */

// The instance that the speech package uses.
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

/** Returns the CPU seconds of all calls of the runtime so far, in all threads. */
export function modelSeconds(): number {
  return Number(Atomics.load(microseconds, 0)) / 1e6;
}
