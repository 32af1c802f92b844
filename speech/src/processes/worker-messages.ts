import type { LanguageProbabilities, RecognitionResult } from "../engines/engine.ts";
import type { EngineSpec } from "../engines/registry.ts";
import type { ErrorMessage } from "./process-messages.ts";

export type WorkerSpec =
  | { kind: "voiceActivity" }
  /** Runs only the engine's `prepare` and posts the result. */
  | { kind: "prepare"; spec: EngineSpec }
  /** Measures the machine and posts the result. */
  | { kind: "encoderSpeed"; threads: number }
  /** If the engine has a `prepare`, its result follows as a message. */
  | { kind: "engine"; spec: EngineSpec; threads: number; batchShare?: number };

export interface WorkerEngineDescription {
  name: string;
  languages: readonly string[];
  maxUtteranceSeconds: number;
  detectsLanguages: boolean;
  warnings: readonly string[];
}

export interface SentUtterance {
  id: number;
  start: number;
  /** Null if the worker has cached the utterance. */
  samples: Float32Array | null;
}

export type WorkerCall =
  | {
      method: "recognize";
      utterances: SentUtterance[];
      languages: readonly (string | null)[] | null;
      vocabulary: readonly string[];
    }
  | { method: "detectLanguages"; utterances: SentUtterance[] }
  /** Samples in shared memory are not copied. */
  | { method: "probabilities"; samples: Float32Array; preceding: Float32Array };

export interface WorkerResults {
  recognize: RecognitionResult[];
  detectLanguages: LanguageProbabilities[];
  probabilities: Float32Array;
}

export type ToWorker =
  | { type: "prepared"; prepared: unknown }
  | { type: "call"; id: number; call: WorkerCall }
  | { type: "abort"; id: number }
  /** Removes utterances from the worker's cache. */
  | { type: "forget"; utterances: number[] };

export type FromWorker =
  /** `description` is null if the worker runs no engine. */
  | { type: "opened"; description: WorkerEngineDescription | null }
  | { type: "prepared"; prepared: unknown }
  | { type: "unusable"; error: ErrorMessage }
  | { type: "done"; id: number; result: WorkerResults[keyof WorkerResults] }
  | { type: "failed"; id: number; error: ErrorMessage };
