import type { Hearing, LanguageProbabilities } from "../engines/engine.ts";
import type { MoonshineModel } from "../engines/moonshine/model.ts";
import type { ErrorMessage } from "./process-messages.ts";

/** What one lane loads. */
export type LanePart =
  | { kind: "voiceActivity" }
  | { kind: "moonshine"; model: MoonshineModel; threads: number; batchShare?: number }
  | { kind: "whisper"; folder: string; threads: number; batchShare?: number };

/** What a lane says of the engine that it has loaded. */
export interface LaneDescription {
  name: string;
  languages: readonly string[];
  maxUtteranceSeconds: number;
  detectsLanguages: boolean;
  warnings: readonly string[];
}

/** An utterance on its way to a lane. */
export interface SentUtterance {
  /** The same number is the same utterance. */
  id: number;
  start: number;
  /** Null where the lane still has them from the call before. */
  samples: Float32Array | null;
}

export type LaneCall =
  | { method: "hear"; utterances: SentUtterance[]; languages: readonly (string | null)[] | null }
  | { method: "detectLanguages"; utterances: SentUtterance[] }
  /** Both threads see the samples if they are in shared memory; others are copied. */
  | { method: "probabilities"; samples: Float32Array; preceding: Float32Array };

export interface LaneResults {
  hear: Hearing[];
  detectLanguages: LanguageProbabilities[];
  probabilities: Float32Array;
}

export type ToLane =
  | { type: "call"; id: number; call: LaneCall }
  | { type: "abort"; id: number }
  /** Utterances that it need not keep any longer. */
  | { type: "forget"; utterances: number[] };

export type FromLane =
  /** Null where what was loaded is no engine. */
  | { type: "opened"; description: LaneDescription | null }
  | { type: "unusable"; error: ErrorMessage }
  | { type: "done"; id: number; result: LaneResults[keyof LaneResults] }
  | { type: "failed"; id: number; error: ErrorMessage };
