/**
 * V8 of Node.js 24, with which these were measured. Node refuses to start with flags that its V8 does not
 * know.
 */
const MEASURED_V8 = "13.6.";

/**
 * Flags for a process that runs models, also in its threads. Decoding allocates and frees tensors for every
 * token. A larger heap, and accounting external memory in the heap limit instead of collecting garbage after
 * every 64 MB of it, halve the processor time of V8's own threads for some 50 MB more memory (ten minutes of
 * speech).
 */
export function heapFlags(v8Version = process.versions.v8): string[] {
  if (!v8Version.startsWith(MEASURED_V8)) return [];
  return [
    "--initial-heap-size=128",
    "--min-semi-space-size=4",
    "--external-memory-accounted-in-global-limit",
  ];
}
