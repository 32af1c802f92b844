/** The bundled engine's copy of its model, with a batch: measured 270 MB and 130 MB. */
const BYTES_PER_THREAD = 400_000_000;
/** Threads that every limit has room for. */
const THREADS_INCLUDED = 2;
/**
 * While a model is loaded, what was read of it, the copy with its outputs added, what the runtime makes of it
 * and that packed for its processor lie side by side.
 */
const MEMORY_PER_MODEL_BYTE = 4;
/** Batches of such a model are bounded by half a gigabyte; what it computes meanwhile comes on top. */
const MODEL_WORK_BYTES = 800_000_000;

/**
 * Bytes that a speech process may take beyond one that has two threads and the bundled engine.
 * @param threads Threads that its models may use.
 * @param modelBytes Of the files from which it loads a model; 0 where it loads none.
 */
export function furtherBytes(threads: number, modelBytes: number): number {
  const forThreads = Math.max(0, threads - THREADS_INCLUDED) * BYTES_PER_THREAD;
  const forModel = modelBytes === 0 ? 0 : modelBytes * MEMORY_PER_MODEL_BYTE + MODEL_WORK_BYTES;
  return forThreads + forModel;
}
