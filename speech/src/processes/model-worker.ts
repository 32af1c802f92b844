import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { EngineSpec } from "../engines/registry.ts";
import { SpeechError } from "../errors.ts";
import type { EncoderSpeed } from "../models/estimated-speed.ts";
import type { VoiceActivityDetector } from "../vad/voice-activity.ts";
import { fromErrorMessage } from "./process-messages.ts";
import type {
  FromWorker,
  ToWorker,
  WorkerCall,
  WorkerEngineDescription,
  WorkerResults,
  WorkerSpec,
} from "./worker-messages.ts";

const MAIN = new URL("worker-main.ts", import.meta.url);

export class ModelWorker {
  /** Null if the worker runs no engine. */
  readonly description: WorkerEngineDescription | null;
  readonly #worker: Worker;
  readonly #calls = new Map<number, PromiseWithResolvers<unknown>>();
  #lastCall = 0;
  #fault: Error | null = null;

  private constructor(worker: Worker, description: WorkerEngineDescription | null) {
    this.#worker = worker;
    this.description = description;
    worker.on("message", (message: FromWorker) => this.#receive(message));
    worker.once("error", (cause) => this.#end(crash(`An engine thread crashed: ${cause}`, cause)));
    worker.once("exit", () => this.#end(crash("An engine thread exited.")));
  }

  /**
   * @param prepared the result of the engine's `prepare`; null if it has none
   * @throws SpeechError
   */
  static async open(spec: WorkerSpec, prepared: Promise<unknown> | null = null): Promise<ModelWorker> {
    const worker = startWorker(spec);
    // An idle worker must not keep the process alive.
    worker.unref();
    const opened = Promise.withResolvers<WorkerEngineDescription | null>();
    const fail = (cause: unknown) => opened.reject(crash(`An engine thread crashed: ${cause}`, cause));
    const receive = (message: FromWorker) => {
      if (message.type === "opened") opened.resolve(message.description);
      else if (message.type === "unusable") opened.reject(fromErrorMessage(message.error));
    };
    const sendPrepared = (value: unknown) =>
      worker.postMessage({ type: "prepared", prepared: value } satisfies ToWorker);
    prepared?.then(sendPrepared, opened.reject);
    // Keeps the process alive until the worker has opened its model.
    const waiting = setInterval(() => {}, 2 ** 30);
    worker.once("error", fail).once("exit", fail).once("message", receive);
    try {
      return new ModelWorker(worker, await opened.promise);
    } catch (error) {
      void worker.terminate();
      throw error;
    } finally {
      clearInterval(waiting);
      worker.off("error", fail).off("exit", fail).off("message", receive);
    }
  }

  /**
   * Calls may overlap. The samples of utterances are transferred to the worker.
   * @throws SpeechError, or the signal's reason after the worker has stopped the call
   */
  async call<Call extends WorkerCall>(
    call: Call,
    signal: AbortSignal,
  ): Promise<WorkerResults[Call["method"]]> {
    signal.throwIfAborted();
    if (this.#fault !== null) throw this.#fault;
    this.#lastCall += 1;
    const id = this.#lastCall;
    const response = Promise.withResolvers<unknown>();
    this.#calls.set(id, response);
    const abort = () => this.#send({ type: "abort", id });
    signal.addEventListener("abort", abort, { once: true });
    this.#worker.ref();
    try {
      this.#send({ type: "call", id, call }, samplesOf(call));
      return (await response.promise) as WorkerResults[Call["method"]];
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      signal.removeEventListener("abort", abort);
      this.#calls.delete(id);
      if (this.#calls.size === 0) this.#worker.unref();
    }
  }

  forget(utterances: number[]): void {
    this.#send({ type: "forget", utterances });
  }

  async close(): Promise<void> {
    this.#fault ??= new Error("The worker is closed.");
    await this.#worker.terminate();
  }

  #send(message: ToWorker, transferred: readonly Float32Array[] = []): void {
    this.#worker.postMessage(
      message,
      transferred.map(({ buffer }) => buffer as ArrayBuffer),
    );
  }

  #receive(message: FromWorker): void {
    if (message.type === "done") this.#calls.get(message.id)?.resolve(message.result);
    else if (message.type === "failed") this.#calls.get(message.id)?.reject(fromErrorMessage(message.error));
  }

  #end(fault: Error): void {
    this.#fault ??= fault;
    for (const { reject } of this.#calls.values()) reject(this.#fault);
  }
}

function samplesOf(call: WorkerCall): Float32Array[] {
  return call.method === "probabilities" ? [] : call.utterances.flatMap(({ samples }) => samples ?? []);
}

function crash(message: string, cause?: unknown): SpeechError {
  return new SpeechError("engine_crashed", message, { cause });
}

/**
 * Runs an engine's `prepare` in a separate thread.
 * @throws SpeechError
 */
export async function prepareInWorker(spec: EngineSpec): Promise<unknown> {
  return await runOnce({ kind: "prepare", spec });
}

/**
 * Measures how fast the machine runs an encoder. Takes two seconds, in a separate thread.
 * @throws SpeechError
 */
export async function measureEncoderSpeedInWorker(threads: number): Promise<EncoderSpeed> {
  return (await runOnce({ kind: "encoderSpeed", threads })) as EncoderSpeed;
}

/** Must be called in the main thread, because only its variables are visible to native code. */
function startWorker(workerData: WorkerSpec): Worker {
  // Otherwise onnxruntime sends telemetry to Microsoft, also from the service and commands, which measure the machine.
  process.env.ORT_DISABLE_TELEMETRY = "1";
  return new Worker(MAIN, { workerData });
}

async function runOnce(workerData: WorkerSpec): Promise<unknown> {
  const worker = startWorker(workerData);
  try {
    const [message] = (await once(worker, "message")) as [FromWorker];
    if (message.type === "unusable") throw fromErrorMessage(message.error);
    return message.type === "prepared" ? message.prepared : null;
  } finally {
    void worker.terminate();
  }
}

/** Opens voice activity detection in a separate thread, so it can work ahead of the engine. */
export async function openVoiceActivityWorker(): Promise<VoiceActivityDetector> {
  const worker = await ModelWorker.open({ kind: "voiceActivity" });
  return {
    probabilities: (samples, preceding, signal) =>
      worker.call({ method: "probabilities", samples, preceding }, signal),
    close: () => worker.close(),
  };
}
