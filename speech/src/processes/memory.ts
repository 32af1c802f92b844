import {
  type EngineSelection,
  type EngineSpec,
  engineDefinition,
  loadsBundled,
} from "../engines/registry.ts";
import { SpeechError } from "../errors.ts";
import type { MemoryLimit } from "./memory-limit.ts";

/** Memory of a full batch, as measured. */
const BUNDLED_BATCH_BYTES = 130_000_000;
/**
 * Maximum memory of a full batch. A batch has at least one row, and a row of a large model may need more than the smallest
 * share or even the maximum. The plan is sufficient nevertheless, because `weightBytes` estimates more than the weights
 * of large models need: for `whisper-medium`, the minimum is 4.2 GB, and the measured peak is 3.4 GB.
 */
const WHISPER_BATCH_BYTES = 512 * 1024 ** 2;
/** Working memory of a Whisper encoder for any batch size. */
const WHISPER_ENCODER_BYTES = 263_000_000;
/** A speech process without models. */
const PROCESS_BYTES = 250_000_000;
/** A decoder needs up to 150 MB for 12 hours. */
const DECODER_BYTES = 150_000_000;

/** Batch sizes, as shares of the maximum, that are tried before a recording is rejected. */
const BATCH_SHARES = [1, 1 / 2, 1 / 4];

/** Memory of the bundled engine per thread. */
const BYTES_PER_THREAD = 400_000_000;
/** Number of threads that `memoryLimitBytes` includes. */
const THREADS_INCLUDED = 2;

/**
 * Returns the memory that a speech process may use in addition to `memoryLimitBytes`.
 * @param modelBytes memory of the weights of its Whisper model; 0 without Whisper
 */
export function additionalBytes(threads: number, modelBytes: number): number {
  const forThreads = Math.max(0, threads - THREADS_INCLUDED) * BYTES_PER_THREAD;
  return forThreads + whisperBytes(modelBytes, 1);
}

export interface Parallelism {
  processes: number;
  threads: number;
  /** Batch size as a share of the maximum, 0 … 1. */
  batchShare: number;
  /** Memory of each process without its decoder. */
  processBytes: number;
}

export interface MemoryBudget extends MemoryLimit {
  /** Bytes that are not available to speech processes. */
  reservedBytes: number;
}

/**
 * Returns the requested parallelism, reduced to fit the available memory.
 * @throws SpeechError `insufficient_memory`, `model_unusable`
 */
export async function planParallelism(
  engines: EngineSelection,
  { processes, threads, memory }: { processes: number; threads: number; memory: MemoryBudget },
): Promise<Parallelism> {
  const bundledBytes = loadsBundled(engines)
    ? await engineDefinition({ kind: "moonshine" }).weightBytes({ kind: "moonshine" })
    : 0;
  const modelBytes = await modelWeightBytes(engines);
  return fitParallelism({ processes, threads, modelBytes, bundledBytes }, memory);
}

/** Returns the memory of the multilingual model's weights; 0 if there is none. */
export async function modelWeightBytes({ multilingual }: EngineSelection): Promise<number> {
  return multilingual === null ? 0 : await engineDefinition(multilingual).weightBytes(multilingual);
}

/** Memory of weights, for each thread of the bundled engine; 0 for a model that is not loaded. */
interface ModelBytes {
  bundledBytes: number;
  modelBytes: number;
}

/**
 * Returns the requested parallelism, reduced to fit the available memory: processes first, then threads, then batches.
 * @throws SpeechError `insufficient_memory` if there is too little memory for the minimum
 */
export function fitParallelism(
  requested: { processes: number; threads: number } & ModelBytes,
  { bytes, source, reservedBytes }: MemoryBudget,
): Parallelism {
  const available = bytes - reservedBytes;
  const fewerThreads = Array.from({ length: requested.threads }, (_, index) => requested.threads - index);
  const choices = [
    ...fewerThreads.map((threads) => ({ threads, batchShare: 1 })),
    ...BATCH_SHARES.map((batchShare) => ({ threads: 1, batchShare })),
  ];
  for (const choice of choices) {
    const processes = Math.min(requested.processes, Math.floor(available / neededBytes(requested, choice)));
    if (processes === 0) continue;
    return { ...choice, processes, processBytes: Math.floor(available / processes) - DECODER_BYTES };
  }
  const minimum = reservedBytes + neededBytes(requested, choices.at(-1)!);
  const limitMiB = Math.floor(bytes / 1024 ** 2);
  const minimumMiB = Math.ceil(minimum / 1024 ** 2);
  const alternative = requested.modelBytes > 0 ? ", or choose a smaller model" : "";
  throw new SpeechError(
    "insufficient_memory",
    `Transcription needs ${minimumMiB} MiB of memory, but ${source} is ${limitMiB} MiB. Raise it to ${minimumMiB} MiB${alternative}.`,
  );
}

/**
 * Returns the memory that a speech process and its decoder need with one thread and the smallest batches.
 * @throws SpeechError `model_unusable`
 */
export async function minimumBytes(multilingual: EngineSpec): Promise<number> {
  const modelBytes = await engineDefinition(multilingual).weightBytes(multilingual);
  return neededBytes({ bundledBytes: 0, modelBytes }, { threads: 1, batchShare: BATCH_SHARES.at(-1)! });
}

function neededBytes(
  { bundledBytes, modelBytes }: ModelBytes,
  { threads, batchShare }: { threads: number; batchShare: number },
): number {
  const threadBytes = bundledBytes === 0 ? 0 : bundledBytes + BUNDLED_BATCH_BYTES * batchShare;
  return PROCESS_BYTES + DECODER_BYTES + threads * threadBytes + whisperBytes(modelBytes, batchShare);
}

function whisperBytes(modelBytes: number, batchShare: number): number {
  if (modelBytes === 0) return 0;
  return modelBytes + WHISPER_ENCODER_BYTES + WHISPER_BATCH_BYTES * batchShare;
}
