import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { MoonshineModel } from "../engines/moonshine/model.ts";
import { SpeechError } from "../errors.ts";
import type { VoiceActivity } from "../vad/voice-activity.ts";
import type { FromReader } from "./moonshine-reader-main.ts";
import { fromErrorMessage } from "./process-messages.ts";
import type {
  FromLane,
  LaneCall,
  LaneDescription,
  LanePart,
  LaneResults,
  ToLane,
} from "./worker-messages.ts";

/** A thread that runs one model, as the rest of its process sees it. */
export class Lane {
  /** Null where it runs no engine. */
  readonly description: LaneDescription | null;
  readonly #worker: Worker;
  readonly #calls = new Map<number, PromiseWithResolvers<unknown>>();
  #lastCall = 0;
  #fault: Error | null = null;

  private constructor(worker: Worker, description: LaneDescription | null) {
    this.#worker = worker;
    this.description = description;
    worker.on("message", (message: FromLane) => this.#receive(message));
    worker.once("error", (cause) => this.#end(crash(`A thread of the engine ended: ${cause}`, cause)));
    worker.once("exit", () => this.#end(crash("A thread of the engine ended on its own.")));
  }

  /** @throws SpeechError */
  static async open(part: LanePart): Promise<Lane> {
    const worker = new Worker(new URL("worker-main.ts", import.meta.url), { workerData: part });
    // A thread that waits for work is no reason for its process to stay.
    worker.unref();
    const opened = Promise.withResolvers<LaneDescription | null>();
    const fail = (cause: unknown) => opened.reject(crash(`A thread of the engine ended: ${cause}`, cause));
    const receive = (message: FromLane) => {
      if (message.type === "opened") opened.resolve(message.description);
      else if (message.type === "unusable") opened.reject(fromErrorMessage(message.error));
    };
    // Until it has answered there is something to wait for.
    const waiting = setInterval(() => {}, 2 ** 30);
    worker.once("error", fail).once("exit", fail).once("message", receive);
    try {
      return new Lane(worker, await opened.promise);
    } catch (error) {
      void worker.terminate();
      throw error;
    } finally {
      clearInterval(waiting);
      worker.off("error", fail).off("exit", fail).off("message", receive);
    }
  }

  /**
   * Calls may be made while others are under way; the model computes one step at a time. The samples of
   * utterances are given away.
   * @throws SpeechError, or the signal's reason as soon as the thread has let go.
   */
  async call<Call extends LaneCall>(call: Call, signal: AbortSignal): Promise<LaneResults[Call["method"]]> {
    signal.throwIfAborted();
    if (this.#fault !== null) throw this.#fault;
    this.#lastCall += 1;
    const id = this.#lastCall;
    const answer = Promise.withResolvers<unknown>();
    this.#calls.set(id, answer);
    const abort = () => this.#send({ type: "abort", id });
    signal.addEventListener("abort", abort, { once: true });
    this.#worker.ref();
    try {
      this.#send({ type: "call", id, call }, samplesOf(call));
      return (await answer.promise) as LaneResults[Call["method"]];
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
    this.#fault ??= new Error("The lane is closed.");
    await this.#worker.terminate();
  }

  #send(message: ToLane, given: readonly Float32Array[] = []): void {
    this.#worker.postMessage(
      message,
      given.map(({ buffer }) => buffer as ArrayBuffer),
    );
  }

  #receive(message: FromLane): void {
    if (message.type === "done") this.#calls.get(message.id)?.resolve(message.result);
    else if (message.type === "failed") this.#calls.get(message.id)?.reject(fromErrorMessage(message.error));
  }

  #end(fault: Error): void {
    this.#fault ??= fault;
    for (const { reject } of this.#calls.values()) reject(this.#fault);
  }
}

function samplesOf(call: LaneCall): Float32Array[] {
  return call.method === "probabilities" ? [] : call.utterances.flatMap(({ samples }) => samples ?? []);
}

function crash(message: string, cause?: unknown): SpeechError {
  return new SpeechError("engine_crashed", message, { cause });
}

/**
 * Reads the bundled model in a thread of its own, which ends with it: what makes its tokens readable fills a
 * heap that every collection of garbage would have to look through.
 * @throws SpeechError
 */
export async function readMoonshineInThread(): Promise<MoonshineModel> {
  const worker = new Worker(new URL("moonshine-reader-main.ts", import.meta.url));
  try {
    const [answer] = (await once(worker, "message")) as [FromReader];
    if (answer.type === "unusable") throw fromErrorMessage(answer.error);
    return answer.model;
  } finally {
    void worker.terminate();
  }
}

/** Voice activity in a thread of its own, so that the next minutes are listened to while these are heard. */
export async function openVoiceActivityLane(): Promise<VoiceActivity> {
  const lane = await Lane.open({ kind: "voiceActivity" });
  return {
    probabilities: (samples, preceding, signal) =>
      lane.call({ method: "probabilities", samples, preceding }, signal),
    close: () => lane.close(),
  };
}
