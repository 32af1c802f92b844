import type { Checkpoint } from "../checkpoints/checkpoint.ts";
import type { EngineSelection } from "../engines/registry.ts";
import { SPEECH_ERRORS, SpeechError, type SpeechErrorCode } from "../errors.ts";
import type { TranscribeProgress, TranscribeResult } from "../transcript.ts";
import type { Waveform } from "../waveform.ts";

/** What a speech process loads. */
export interface SpeechProcessConfig {
  engines: EngineSelection;
  /** Threads of its models. */
  threads: number;
  /** Share of a full batch, 0 … 1. */
  batchShare: number;
  /** Null to search the usual folders. */
  ffmpegPath: string | null;
}

/** Description for users, logs and `doctor`. */
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
  /** Sentences for operators: known limitations of this model or installation. */
  warnings: readonly string[];
}

/** From the service to a speech process: `open` once, then one job at a time. */
export type ToSpeechProcess =
  | { type: "open"; parts: SpeechProcessConfig }
  | {
      type: "transcribe";
      job: number;
      path: string;
      maxDurationSeconds: number;
      checkpointing: Checkpointing;
    }
  | { type: "abort"; job: number };

export interface Checkpointing {
  /** Checkpoints of earlier work on the recording. */
  checkpoints: readonly Checkpoint[];
  /** Seconds of work between two checkpoints; null if none are wanted. */
  intervalSeconds: number | null;
}

/** From a speech process to the service. */
export type FromSpeechProcess =
  /** Sent before it loads its models; bytes of their files. */
  | { type: "loading"; modelBytes: number }
  | { type: "ready"; description: SpeechDescription }
  /** Heartbeat: sent every second from the start. */
  | { type: "alive"; residentBytes: number }
  | { type: "unusable"; error: ErrorMessage }
  | { type: "progress"; job: number; progress: TranscribeProgress }
  | { type: "waveform"; job: number; waveform: Waveform }
  | { type: "checkpoint"; job: number; checkpoint: Checkpoint }
  | { type: "transcribed"; job: number; result: TranscribeResult }
  | { type: "failed"; job: number; error: ErrorMessage };

/** An error as it is sent between processes. */
export interface ErrorMessage {
  /** Null for an error that is not part of the contract: a bug. */
  code: SpeechErrorCode | null;
  message: string;
  stack: string | null;
}

export function toErrorMessage(error: unknown): ErrorMessage {
  if (!(error instanceof Error)) return { code: null, message: String(error), stack: null };
  const code = error instanceof SpeechError ? error.code : null;
  return { code, message: error.message, stack: error.stack ?? null };
}

export function fromErrorMessage({ code, message, stack }: ErrorMessage): Error {
  const cause = stack === null ? {} : { cause: `in the speech process: ${stack}` };
  return code === null ? new Error(message, cause) : new SpeechError(code, message, cause);
}

/** @throws TypeError if the value is not a message of this protocol */
export function parseToSpeechProcess(value: unknown): ToSpeechProcess {
  return parse(value, {
    open: ["parts"],
    transcribe: ["job", "path", "maxDurationSeconds", "checkpointing"],
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
    throw new TypeError(`Unknown error code ${message.error.code}`);
  }
  return message;
}

/** Both ends run the same version: the type and its fields are checked, not their contents. */
function parse<Message extends { type: string }>(
  value: unknown,
  fields: { [Type in Message["type"]]: readonly (keyof Extract<Message, { type: Type }>)[] },
): Message {
  const message = value as Message;
  const expected: readonly PropertyKey[] | undefined =
    typeof value === "object" && value !== null ? fields[message.type as Message["type"]] : undefined;
  if (expected?.every((field) => field in message)) return message;
  throw new TypeError(`Not a message between the service and a speech process: ${JSON.stringify(value)}`);
}
