import { SpeechError } from "../errors.ts";
import { minimumBytes } from "./memory.ts";
import { type AvailableMemory, readAvailableMemory } from "./memory-limit.ts";
import { createSpeech } from "./process-pool.ts";
import { SpeechProcessEnded } from "./speech-process.ts";

const HEARTBEAT_TIMEOUT_MS = 60_000;
/** The supervisor raises this limit by the needs of the model. */
const MEMORY_LIMIT_BYTES = 1_600 * 1024 ** 2;

/**
 * Loads a Whisper model in a process of its own and transcribes a second of silence with it.
 * @param folder absolute
 * @param memory null if it is unknown
 * @throws the reason of `signal`; SpeechError `model_unusable` with the reason; SpeechError `insufficient_memory`, without
 * an attempt if less memory is available than the model needs, for example because another model is loaded. Other
 * failures are not the model's.
 */
export async function tryModel(
  folder: string,
  signal: AbortSignal,
  memory: AvailableMemory | null = readAvailableMemory(),
): Promise<void> {
  const multilingual = { kind: "whisper" as const, folder };
  const neededBytes = await minimumBytes(multilingual).catch(unusable);
  if (memory !== null && memory.availableBytes < neededBytes) throw insufficientMemory(neededBytes, memory);
  const speech = createSpeech({
    parts: () => ({ bundled: false, multilingual, bundledTakesEnglish: false, remedy: "" }),
    ...{ processes: 1, threads: 1, memoryLimitBytes: MEMORY_LIMIT_BYTES, triesEngines: true },
    heartbeatTimeoutMs: HEARTBEAT_TIMEOUT_MS,
  });
  const close = () => void speech.close();
  signal.addEventListener("abort", close, { once: true });
  try {
    signal.throwIfAborted();
    await speech.describe();
  } catch (error) {
    signal.throwIfAborted();
    if (ranOutOfMemory(error)) throw insufficientMemory(neededBytes, memory, error);
    if (error instanceof SpeechError && error.code === "model_unusable") unusable(error);
  } finally {
    signal.removeEventListener("abort", close);
    await speech.close();
  }
}

/** If memory runs out, the kernel kills a process that uses much of it. */
function ranOutOfMemory(error: unknown): boolean {
  if (error instanceof SpeechProcessEnded) return error.signal === "SIGKILL";
  return error instanceof SpeechError && error.code === "engine_out_of_memory";
}

function insufficientMemory(
  neededBytes: number,
  memory: AvailableMemory | null,
  cause?: unknown,
): SpeechError {
  const inMebibytes = (bytes: number) => `${Math.max(0, Math.round(bytes / 1024 ** 2))} MiB`;
  const available =
    memory === null ? "" : ` ${inMebibytes(memory.availableBytes)} of ${memory.source} are available.`;
  return new SpeechError(
    "insufficient_memory",
    `The downloaded model was not installed, because running it needs ${inMebibytes(neededBytes)} of memory.${available} Free memory or choose a smaller model. The download is kept for the next attempt.`,
    { cause },
  );
}

function unusable(error: Error): never {
  const message = `The downloaded model cannot be run, so it was not installed: ${error.message}`;
  throw new SpeechError("model_unusable", message, { cause: error });
}
