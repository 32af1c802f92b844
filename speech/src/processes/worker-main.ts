import { parentPort, workerData } from "node:worker_threads";
import type { Engine, Utterance } from "../engines/engine.ts";
import { openMoonshine } from "../engines/moonshine/moonshine.ts";
import { openWhisper } from "../engines/whisper/whisper.ts";
import { release } from "../onnx/tensors.ts";
import { openVoiceActivity, type VoiceActivity } from "../vad/voice-activity.ts";
import { toErrorMessage } from "./process-messages.ts";
import type { FromLane, LaneCall, LanePart, LaneResults, SentUtterance, ToLane } from "./worker-messages.ts";

/**
 * A thread that runs one model. The runtime computes on the thread that calls it and nothing else happens
 * there meanwhile; in a thread of its own it leaves the speech process free to read, to report and to stop.
 */

interface Loaded {
  engine: Engine | null;
  voiceActivity: VoiceActivity | null;
}

async function load(part: LanePart): Promise<Loaded> {
  switch (part.kind) {
    case "voiceActivity":
      return { engine: null, voiceActivity: await openVoiceActivity({ threads: 1 }) };
    case "moonshine":
      return { engine: await openMoonshine(part), voiceActivity: null };
    case "whisper":
      return { engine: await openWhisper(part), voiceActivity: null };
  }
}

const kept = new Map<number, Utterance>();

/** The same object each time: engines keep what they have computed of an utterance by its identity. */
function receive(sent: readonly SentUtterance[]): Utterance[] {
  return sent.map(({ id, start, samples }) => {
    const utterance = kept.get(id) ?? (samples && { samples, start });
    if (!utterance) throw new Error(`Utterance ${id} came without its samples.`);
    return utterance;
  });
}

async function answer({ engine, voiceActivity }: Loaded, call: LaneCall, signal: AbortSignal) {
  if (call.method === "probabilities") {
    if (voiceActivity === null) throw new Error("This lane does not know voice activity.");
    return await voiceActivity.probabilities(call.samples, call.preceding, signal);
  }
  if (engine === null) throw new Error("This lane has no engine.");
  const utterances = receive(call.utterances);
  if (call.method === "hear") {
    try {
      return await engine.hear(utterances, { signal, ...(call.languages && { languages: call.languages }) });
    } finally {
      release(
        call.utterances.flatMap(({ id, samples }) => (samples === null || kept.has(id) ? [] : [samples])),
      );
    }
  }
  for (const [place, { id }] of call.utterances.entries()) kept.set(id, utterances[place]!);
  return await engine.detectLanguages!(utterances, signal);
}

const port = parentPort!;
const aborts = new Map<number, AbortController>();

function send(message: FromLane): void {
  port.postMessage(message);
}

async function take(loaded: Loaded, id: number, call: LaneCall): Promise<void> {
  const abort = new AbortController();
  aborts.set(id, abort);
  try {
    const result: LaneResults[keyof LaneResults] = await answer(loaded, call, abort.signal);
    send({ type: "done", id, result });
  } catch (error) {
    send({ type: "failed", id, error: toErrorMessage(error) });
  } finally {
    aborts.delete(id);
  }
}

try {
  const loaded = await load(workerData as LanePart);
  port.on("message", (message: ToLane) => {
    if (message.type === "call") void take(loaded, message.id, message.call);
    else if (message.type === "abort") aborts.get(message.id)?.abort();
    else for (const id of message.utterances) kept.delete(id);
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
} catch (error) {
  send({ type: "unusable", error: toErrorMessage(error) });
}
