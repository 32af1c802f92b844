import { SpeechError } from "../errors.ts";
import { createSpeech } from "./process-pool.ts";

const HEARTBEAT_TIMEOUT_MS = 60_000;
/** The supervisor raises this limit by the needs of the model. */
const MEMORY_LIMIT_BYTES = 1_600 * 1024 ** 2;

/**
 * Loads a Whisper model in a process of its own and transcribes a second of silence with it.
 * @param folder absolute
 * @throws the reason of `signal`; SpeechError `model_unusable` with the reason. Other failures, such as too little memory, are not the model's.
 */
export async function tryModel(folder: string, signal: AbortSignal): Promise<void> {
  const engines = {
    ...{ bundled: false, multilingual: { kind: "whisper" as const, folder } },
    ...{ bundledTakesEnglish: false, remedy: "" },
  };
  const speech = createSpeech({
    parts: () => engines,
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
    if (!(error instanceof SpeechError) || error.code !== "model_unusable") return;
    const message = `The downloaded model cannot be run, so it was not installed: ${error.message}`;
    throw new SpeechError("model_unusable", message, { cause: error });
  } finally {
    signal.removeEventListener("abort", close);
    await speech.close();
  }
}
