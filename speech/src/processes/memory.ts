import type { EngineParts } from "../engines/engine-parts.ts";
import { modelFileBytes } from "../engines/model-file-bytes.ts";
import { SpeechError } from "../errors.ts";
import type { MemoryLimit } from "./memory-limit.ts";

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
  return forThreads + bytesForModel(modelBytes);
}

function bytesForModel(modelBytes: number): number {
  return modelBytes === 0 ? 0 : modelBytes * MEMORY_PER_MODEL_BYTE + MODEL_WORK_BYTES;
}

/** What a speech process takes without its models, and the decoder that it starts. */
const PROCESS_BYTES = 400_000_000;

/** How many recordings at once, and threads for each, fit into the memory that there is. */
export interface Parallelism {
  processes: number;
  threads: number;
  /** What each process, with its decoder, may take. */
  processBytes: number;
}

export interface MemoryBudget extends MemoryLimit {
  /** Bytes of it that are kept for everything but speech processes. */
  reservedBytes: number;
}

/**
 * Returns the parallelism of these engines that fits into memory.
 * @throws SpeechError `insufficient_memory`, `model_unusable`
 */
export async function planParallelism(
  engines: EngineParts,
  { processes, threads, memory }: { processes: number; threads: number; memory: MemoryBudget },
): Promise<Parallelism> {
  const bundled = engines.bundled && (engines.multilingual === null || engines.bundledTakesEnglish);
  const modelBytes = await modelFileBytes(engines);
  return fitParallelism({ processes, threads, modelBytes, bundled }, memory);
}

/**
 * Returns the parallelism that was asked for, or as much of it as fits: fewer processes first, then fewer threads.
 * @throws SpeechError `insufficient_memory` if one process with one thread does not fit
 */
export function fitParallelism(
  asked: { processes: number; threads: number; modelBytes: number; bundled: boolean },
  { bytes, source, reservedBytes }: MemoryBudget,
): Parallelism {
  const available = bytes - reservedBytes;
  for (let threads = asked.threads; threads > 0; threads--) {
    const processes = Math.min(asked.processes, Math.floor(available / neededBytes({ ...asked, threads })));
    if (processes > 0) return { processes, threads, processBytes: Math.floor(available / processes) };
  }
  const wanted = reservedBytes + neededBytes({ ...asked, threads: 1 });
  const has = Math.floor(bytes / 1024 ** 2);
  const wants = Math.ceil(wanted / 1024 ** 2);
  const otherwise = asked.modelBytes > 0 ? ", or choose a smaller model" : "";
  throw new SpeechError(
    "insufficient_memory",
    `Transcription needs ${wants} MiB of memory, and ${source} is ${has} MiB. Raise it to ${wants} MiB${otherwise}.`,
  );
}

/** @param models.modelBytes of the files from which a model is loaded; 0 where none is */
function neededBytes(models: { threads: number; modelBytes: number; bundled: boolean }): number {
  const bundledBytes = models.bundled ? models.threads * BYTES_PER_THREAD : 0;
  return PROCESS_BYTES + bundledBytes + bytesForModel(models.modelBytes);
}
