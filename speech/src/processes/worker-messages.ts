import type { LanguageProbabilities, RecognitionResult } from "../engines/engine.ts";
import type { EngineSpec } from "../engines/registry.ts";
import type { ErrorMessage } from "./process-messages.ts";

/** What one worker loads. */
export type WorkerSpec =
  | { kind: "voiceActivity" }
  /** Runs `prepare` of the engine, posts the result and does nothing else. */
  | { kind: "prepare"; spec: EngineSpec }
  | { kind: "engine"; spec: EngineSpec; prepared: unknown; threads: number; batchShare?: number };

/** Describes the engine that a worker has loaded. */
export interface WorkerEngineDescription {
  name: string;
  languages: readonly string[];
  maxUtteranceSeconds: number;
  detectsLanguages: boolean;
  warnings: readonly string[];
}

/** An utterance as it is sent to a worker. */
export interface SentUtterance {
  /** Identifies the utterance. */
  id: number;
  start: number;
  /** Null if the worker has cached them. */
  samples: Float32Array | null;
}

export type WorkerCall =
  | { method: "recognize"; utterances: SentUtterance[]; languages: readonly (string | null)[] | null }
  | { method: "detectLanguages"; utterances: SentUtterance[] }
  /** Samples in shared memory are not copied. */
  | { method: "probabilities"; samples: Float32Array; preceding: Float32Array };

export interface WorkerResults {
  recognize: RecognitionResult[];
  detectLanguages: LanguageProbabilities[];
  probabilities: Float32Array;
}

export type ToWorker =
  | { type: "call"; id: number; call: WorkerCall }
  | { type: "abort"; id: number }
  /** Utterances that it may drop from its cache. */
  | { type: "forget"; utterances: number[] };

export type FromWorker =
  /** Null if it runs no engine. */
  | { type: "opened"; description: WorkerEngineDescription | null }
  | { type: "prepared"; prepared: unknown }
  | { type: "unusable"; error: ErrorMessage }
  | { type: "done"; id: number; result: WorkerResults[keyof WorkerResults] }
  | { type: "failed"; id: number; error: ErrorMessage };
