import { parseArgs } from "node:util";
import { openDecoder } from "@subtext/speech/media/open-decoder";
import { openVoiceActivityWorker } from "@subtext/speech/processes/model-worker";
import { closeEngines, openEngines } from "@subtext/speech/processes/open-engines";
import { transcribe } from "@subtext/speech/transcribe";
import type { StageSeconds } from "@subtext/speech/transcript";
import { cpuSeconds } from "../process-tree.ts";
import { modelSeconds } from "./model-time.ts";

/** Measurements of one transcription, printed as one line of JSON. Excludes loading models. */
export interface SpeechRun {
  /** Duration of the recording in seconds. */
  duration: number;
  seconds: number;
  /**
   * CPU seconds of this process, of the decoder, and of the model calls within this process. `model` is valid only if
   * each model runs with one thread.
   */
  cpu: { own: number; decoder: number; model: number };
  words: number;
  language: string;
  stages: StageSeconds;
}

const { values, positionals } = parseArgs({
  options: { threads: { type: "string", default: "1" }, model: { type: "string" } },
  allowPositionals: true,
});
const [path] = positionals;
if (path === undefined) throw new Error("The path of a recording is missing.");
const parts = {
  bundled: values.model === undefined,
  multilingual: values.model === undefined ? null : { kind: "whisper" as const, folder: values.model },
  bundledTakesEnglish: false,
  remedy: "",
};

const decoder = await openDecoder();
const voiceActivity = await openVoiceActivityWorker();
const engines = await openEngines(parts, { threads: Number(values.threads) });
const { signal } = new AbortController();
const cpuBefore = cpuSeconds(process.pid);
const modelBefore = modelSeconds();
const startedAt = performance.now();
const result = await transcribe(path, {
  decoder,
  engines,
  voiceActivity,
  maxDurationSeconds: 43_200,
  signal,
});
const seconds = (performance.now() - startedAt) / 1000;
const cpu = cpuSeconds(process.pid);
if (result.outcome !== "transcribed") throw new Error(`The recording was skipped: ${result.reason}`);
const run: SpeechRun = {
  duration: result.duration,
  seconds,
  cpu: {
    own: cpu.own - cpuBefore.own,
    decoder: cpu.children - cpuBefore.children,
    model: modelSeconds() - modelBefore,
  },
  words: result.words.length,
  language: result.language,
  stages: result.stages,
};
console.log(JSON.stringify(run));
await Promise.all([closeEngines(engines), voiceActivity.close()]);
