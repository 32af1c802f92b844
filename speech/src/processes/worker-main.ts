import { once } from "node:events";
import { flushCompileCache } from "node:module";
import { parentPort, workerData } from "node:worker_threads";
import type { Engine } from "../engines/engine.ts";
import { engineDefinition } from "../engines/registry.ts";
import { measureEncoderSpeed } from "../onnx/encoder-speed.ts";
import { release } from "../onnx/tensors.ts";
import type { Utterance } from "../vad/utterances.ts";
import { openVoiceActivityDetector, type VoiceActivityDetector } from "../vad/voice-activity.ts";
import { toErrorMessage } from "./process-messages.ts";
import type {
  FromWorker,
  SentUtterance,
  ToWorker,
  WorkerCall,
  WorkerResults,
  WorkerSpec,
} from "./worker-messages.ts";

/*
 * Entry point of a worker thread that runs one model. The runtime blocks its thread, so it must not run in the main
 * thread of the speech process, which decodes, reports progress and handles aborts.
 */

const port = parentPort!;

interface Loaded {
  engine: Engine | null;
  voiceActivity: VoiceActivityDetector | null;
}

async function load(spec: Exclude<WorkerSpec, { kind: "prepare" | "encoderSpeed" }>): Promise<Loaded> {
  if (spec.kind === "voiceActivity") {
    return { engine: null, voiceActivity: await openVoiceActivityDetector({ threads: 1 }) };
  }
  const definition = engineDefinition(spec.spec);
  const prepared = definition.prepare === undefined ? Promise.resolve(null) : receivePrepared();
  return { engine: await definition.open(spec.spec, { ...spec, prepared }), voiceActivity: null };
}

async function receivePrepared(): Promise<unknown> {
  const [message] = (await once(port, "message")) as [ToWorker];
  return message.type === "prepared" ? message.prepared : null;
}

const cached = new Map<number, Utterance>();

/** Returns the cached objects, because engines cache results per object. */
function receive(sent: readonly SentUtterance[]): Utterance[] {
  return sent.map(({ id, start, samples }) => {
    const utterance = cached.get(id) ?? (samples && { samples, start });
    if (!utterance) throw new Error(`utterance ${id} was sent without samples`);
    return utterance;
  });
}

async function compute({ engine, voiceActivity }: Loaded, call: WorkerCall, signal: AbortSignal) {
  if (call.method === "probabilities") {
    if (voiceActivity === null) throw new Error("this worker runs no voice activity detection");
    return await voiceActivity.probabilities(call.samples, call.preceding, signal);
  }
  if (engine === null) throw new Error("this worker runs no engine");
  const utterances = receive(call.utterances);
  if (call.method === "recognize") {
    try {
      return await engine.recognize(utterances, {
        signal,
        vocabulary: call.vocabulary,
        ...(call.languages && { languages: call.languages }),
      });
    } finally {
      release(
        call.utterances.flatMap(({ id, samples }) => (samples === null || cached.has(id) ? [] : [samples])),
      );
    }
  }
  for (const [index, { id }] of call.utterances.entries()) cached.set(id, utterances[index]!);
  return await engine.detectLanguages!(utterances, signal);
}

const aborts = new Map<number, AbortController>();

function send(message: FromWorker): void {
  port.postMessage(message);
}

async function handle(loaded: Loaded, id: number, call: WorkerCall): Promise<void> {
  const abort = new AbortController();
  aborts.set(id, abort);
  try {
    const result: WorkerResults[keyof WorkerResults] = await compute(loaded, call, abort.signal);
    send({ type: "done", id, result });
  } catch (error) {
    send({ type: "failed", id, error: toErrorMessage(error) });
  } finally {
    aborts.delete(id);
  }
}

function serve(loaded: Loaded): void {
  port.on("message", (message: ToWorker) => {
    if (message.type === "call") void handle(loaded, message.id, message.call);
    else if (message.type === "abort") aborts.get(message.id)?.abort();
    else if (message.type === "forget") for (const id of message.utterances) cached.delete(id);
  });
  const { engine } = loaded;
  send({
    type: "opened",
    description: engine && {
      name: engine.name,
      languages: engine.languages,
      maxUtteranceSeconds: engine.maxUtteranceSeconds,
      detectsLanguages: engine.detectLanguages !== undefined,
      warnings: engine.warnings ?? [],
    },
  });
}

const spec = workerData as WorkerSpec;
try {
  if (spec.kind === "prepare") {
    const prepared = await engineDefinition(spec.spec).prepare?.();
    // Before the result is sent, because the receiver then terminates this thread.
    flushCompileCache();
    send({ type: "prepared", prepared });
  } else if (spec.kind === "encoderSpeed") {
    send({ type: "prepared", prepared: await measureEncoderSpeed(spec.threads) });
  } else {
    serve(await load(spec));
    flushCompileCache();
  }
} catch (error) {
  send({ type: "unusable", error: toErrorMessage(error) });
}
