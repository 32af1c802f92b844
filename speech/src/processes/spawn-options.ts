/** V8 of Node.js 24, with which these were measured. One that does not know a flag refuses to start. */
const MEASURED_V8 = "13.6.";

/**
 * Flags for a process that runs models, in its threads too. Tensors come and go at every token; with room for that,
 * and with their memory counted beside the heap's instead of looked through the heap for whenever there are 64 MB
 * of it, V8's own threads take half the processor time, and the process some 50 MB more memory (ten minutes of speech).
 */
export function heapFlags(v8Version = process.versions.v8): string[] {
  if (!v8Version.startsWith(MEASURED_V8)) return [];
  return [
    "--initial-heap-size=128",
    "--min-semi-space-size=4",
    "--external-memory-accounted-in-global-limit",
  ];
}
