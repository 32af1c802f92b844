import { type EngineSelection, engineDefinition } from "../engines/registry.ts";
import { SpeechError } from "../errors.ts";
import type { MemoryLimit } from "./memory-limit.ts";

/**
 * Memory of a loaded model for each byte of its files: what was read, the graph with its outputs added, the runtime's
 * copy and the weights packed for its processor. Measured.
 */
const BUNDLED_PER_FILE_BYTE = 9.6;
const WHISPER_PER_FILE_BYTE = 4;
/** Memory of a full batch. Measured for the bundled engine; Whisper's batches are bounded by this many bytes. */
const BUNDLED_BATCH_BYTES = 130_000_000;
const WHISPER_BATCH_BYTES = 512 * 1024 ** 2;
/** What a Whisper encoder computes at a time, of any batch. */
const WHISPER_ENCODER_BYTES = 263_000_000;
/** A speech process without its models, and its decoder, which needs up to 150 MB for 12 hours. */
const PROCESS_BYTES = 250_000_000;
const DECODER_BYTES = 150_000_000;

/** Shares of a full batch that are tried before a recording is rejected. */
const BATCH_SHARES = [1, 1 / 2, 1 / 4];

/** The bundled engine on one thread. */
const BYTES_PER_THREAD = 400_000_000;
/** Threads that `memoryLimitBytes` includes. */
const THREADS_INCLUDED = 2;

/**
 * Memory that a speech process may use beyond one with two threads and the bundled engine.
 * @param threads Threads that its models may use.
 * @param modelBytes Of the files from which it loads a Whisper model; 0 if it loads none.
 */
export function furtherBytes(threads: number, modelBytes: number): number {
  const forThreads = Math.max(0, threads - THREADS_INCLUDED) * BYTES_PER_THREAD;
  return forThreads + whisperBytes(modelBytes, 1);
}

/** How many concurrent recordings, with how many threads and which batch size, fit into memory. */
export interface Parallelism {
  processes: number;
  threads: number;
  /** Share of a full batch, 0 … 1. */
  batchShare: number;
  /** Memory of each process, without its decoder. */
  processBytes: number;
}

export interface MemoryBudget extends MemoryLimit {
  /** Bytes that are reserved for everything except speech processes. */
  reservedBytes: number;
}

/**
 * Returns the parallelism of these engines that fits into memory.
 * @throws SpeechError `insufficient_memory`, `model_unusable`
 */
export async function planParallelism(
  engines: EngineSelection,
  { processes, threads, memory }: { processes: number; threads: number; memory: MemoryBudget },
): Promise<Parallelism> {
  const loadsBundled = engines.bundled && (engines.multilingual === null || engines.bundledTakesEnglish);
  const bundledBytes = loadsBundled
    ? await engineDefinition({ kind: "moonshine" }).modelFileBytes({ kind: "moonshine" })
    : 0;
  const modelBytes = await modelFileBytes(engines);
  return fitParallelism({ processes, threads, modelBytes, bundledBytes }, memory);
}

/** Bytes of the files of the multilingual model that a process with these engines loads. */
export async function modelFileBytes({ multilingual }: EngineSelection): Promise<number> {
  return multilingual === null ? 0 : await engineDefinition(multilingual).modelFileBytes(multilingual);
}

/** Bytes of the files from which models are loaded; 0 for a model that is not loaded. */
interface ModelBytes {
  bundledBytes: number;
  modelBytes: number;
}

/**
 * Returns the parallelism requested, or as much of it as fits: fewer processes first, then fewer threads,
 * then smaller batches.
 * @throws SpeechError `insufficient_memory` if one process with one thread and the smallest batches does not fit
 */
export function fitParallelism(
  asked: { processes: number; threads: number } & ModelBytes,
  { bytes, source, reservedBytes }: MemoryBudget,
): Parallelism {
  const available = bytes - reservedBytes;
  const fewerThreads = Array.from({ length: asked.threads }, (_, index) => asked.threads - index);
  const choices = [
    ...fewerThreads.map((threads) => ({ threads, batchShare: 1 })),
    ...BATCH_SHARES.map((batchShare) => ({ threads: 1, batchShare })),
  ];
  for (const choice of choices) {
    const processes = Math.min(asked.processes, Math.floor(available / neededBytes(asked, choice)));
    if (processes === 0) continue;
    return { ...choice, processes, processBytes: Math.floor(available / processes) - DECODER_BYTES };
  }
  const wanted = reservedBytes + neededBytes(asked, choices.at(-1)!);
  const has = Math.floor(bytes / 1024 ** 2);
  const wants = Math.ceil(wanted / 1024 ** 2);
  const otherwise = asked.modelBytes > 0 ? ", or choose a smaller model" : "";
  throw new SpeechError(
    "insufficient_memory",
    `Transcription needs ${wants} MiB of memory, and ${source} is ${has} MiB. Raise it to ${wants} MiB${otherwise}.`,
  );
}

/** Memory of one process and its decoder. */
function neededBytes(
  { bundledBytes, modelBytes }: ModelBytes,
  { threads, batchShare }: { threads: number; batchShare: number },
): number {
  const ofThread =
    bundledBytes === 0 ? 0 : bundledBytes * BUNDLED_PER_FILE_BYTE + BUNDLED_BATCH_BYTES * batchShare;
  return PROCESS_BYTES + DECODER_BYTES + threads * ofThread + whisperBytes(modelBytes, batchShare);
}

function whisperBytes(modelBytes: number, batchShare: number): number {
  if (modelBytes === 0) return 0;
  return modelBytes * WHISPER_PER_FILE_BYTE + WHISPER_ENCODER_BYTES + WHISPER_BATCH_BYTES * batchShare;
}
