import type { Checkpoint } from "../checkpoints/checkpoint.ts";
import type { EngineSelection } from "../engines/registry.ts";
import { SPEECH_ERRORS, SpeechError, type SpeechErrorCode } from "../errors.ts";
import type { TranscribeProgress, TranscribeResult } from "../transcript.ts";
import type { Waveform } from "../waveform.ts";

export interface SpeechProcessConfig {
  engines: EngineSelection;
  threads: number;
  /** Batch size as a share of the maximum, 0 … 1. */
  batchShare: number;
  /** Null to search the PATH. */
  ffmpegPath: string | null;
  /** Whether the engines must recognize a second of silence before the process is ready. */
  triesEngines?: boolean;
}

/** Description for logs and `doctor`. */
export interface SpeechDescription {
  /** The primary engine first. */
  engines: readonly EngineDescription[];
  /** `ffmpeg 5.1.9` */
  decoder: string;
}

export interface EngineDescription {
  /** `moonshine-tiny` */
  name: string;
  /** ISO 639-1 (or 639-3) codes. */
  languages: readonly string[];
  /** Limitations of this model or installation, as sentences for operators. */
  warnings: readonly string[];
}

/** Messages from the service to a speech process: `open` once, then one job at a time. */
export type ToSpeechProcess =
  | { type: "open"; parts: SpeechProcessConfig }
  | {
      type: "transcribe";
      job: number;
      path: string;
      maxDurationSeconds: number;
      vocabulary: readonly string[];
      checkpointing: Checkpointing;
    }
  | { type: "abort"; job: number };

export interface Checkpointing {
  /** Checkpoints of earlier attempts at the recording. */
  checkpoints: readonly Checkpoint[];
  /** Seconds of work between two checkpoints; null to create none. */
  intervalSeconds: number | null;
}

/** Messages from a speech process to the service. */
export type FromSpeechProcess =
  /** Sent before the models are loaded, with the memory of their weights. */
  | { type: "loading"; modelBytes: number }
  | { type: "ready"; description: SpeechDescription }
  /** Heartbeat, sent every second once Node.js has started. */
  | { type: "alive"; residentBytes: number }
  | { type: "unusable"; error: ErrorMessage }
  | { type: "progress"; job: number; progress: TranscribeProgress }
  | { type: "waveform"; job: number; waveform: Waveform }
  | { type: "checkpoint"; job: number; checkpoint: Checkpoint }
  | { type: "transcribed"; job: number; result: TranscribeResult }
  | { type: "failed"; job: number; error: ErrorMessage };

/** An error in a message between processes. */
export interface ErrorMessage {
  /** Null if the error is not a SpeechError, i.e. a bug. */
  code: SpeechErrorCode | null;
  message: string;
  stack: string | null;
}

/** How V8 and ONNX Runtime report a failed allocation, which has no error code. */
const ALLOCATION_FAILED = /bad_alloc|allocate memory|allocation failed/i;

/** An error caused by a failed allocation becomes `engine_out_of_memory`, even if the engine reported another error. */
export function toErrorMessage(error: unknown): ErrorMessage {
  if (!(error instanceof Error)) return { code: null, message: String(error), stack: null };
  const stack = error.stack ?? null;
  if (isOutOfMemory(error)) {
    return { code: "engine_out_of_memory", message: "The engine could not allocate memory.", stack };
  }
  const code = error instanceof SpeechError ? error.code : null;
  return { code, message: error.message, stack };
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && (ALLOCATION_FAILED.test(error.message) || isOutOfMemory(error.cause));
}

export function fromErrorMessage({ code, message, stack }: ErrorMessage): Error {
  const cause = stack === null ? {} : { cause: `in the speech process: ${stack}` };
  return code === null ? new Error(message, cause) : new SpeechError(code, message, cause);
}

/** @throws TypeError if the value is not a message of this protocol */
export function parseToSpeechProcess(value: unknown): ToSpeechProcess {
  return parse(value, {
    open: ["parts"],
    transcribe: ["job", "path", "maxDurationSeconds", "vocabulary", "checkpointing"],
    abort: ["job"],
  });
}

/** @throws TypeError if the value is not a message of this protocol */
export function parseFromSpeechProcess(value: unknown): FromSpeechProcess {
  const message = parse<FromSpeechProcess>(value, {
    loading: ["modelBytes"],
    ready: ["description"],
    alive: ["residentBytes"],
    unusable: ["error"],
    progress: ["job", "progress"],
    waveform: ["job", "waveform"],
    checkpoint: ["job", "checkpoint"],
    transcribed: ["job", "result"],
    failed: ["job", "error"],
  });
  if ("error" in message && message.error.code !== null && !(message.error.code in SPEECH_ERRORS)) {
    throw new TypeError(`unknown error code ${message.error.code}`);
  }
  return message;
}

/** Both processes run the same version, so only the presence of fields is checked. */
function parse<Message extends { type: string }>(
  value: unknown,
  fields: { [Type in Message["type"]]: readonly (keyof Extract<Message, { type: Type }>)[] },
): Message {
  const message = value as Message;
  const expected: readonly PropertyKey[] | undefined =
    typeof value === "object" && value !== null ? fields[message.type as Message["type"]] : undefined;
  if (expected?.every((field) => field in message)) return message;
  throw new TypeError(`invalid message between the service and a speech process: ${JSON.stringify(value)}`);
}
