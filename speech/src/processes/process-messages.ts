import type { KeptStretch } from "../checkpoints/checkpoint.ts";
import type { EngineParts } from "../engines/engine-parts.ts";
import { SPEECH_ERRORS, SpeechError, type SpeechErrorCode } from "../errors.ts";
import type { TranscribeProgress, TranscribeResult } from "../transcript.ts";
import type { Waveform } from "../waveform.ts";

/** What a speech process is made of. */
export interface SpeechParts {
  engines: EngineParts;
  /** Threads that its models may use. */
  threads: number;
  /** Part of a full batch, 0 … 1. */
  batchShare: number;
  /** Null to look for ffmpeg in the usual folders. */
  ffmpegPath: string | null;
}

/** For people, logs and `doctor`. */
export interface SpeechDescription {
  /** The one that hears most first. */
  engines: readonly EngineDescription[];
  /** `ffmpeg 5.1.9` */
  decoder: string;
}

export interface EngineDescription {
  /** `moonshine-tiny` */
  name: string;
  /** ISO 639-1 (or 639-3) codes. */
  languages: readonly string[];
  /** Sentences for operators: what it does less well here than it could. */
  warnings: readonly string[];
}

/** From the service to a speech process: `open` once, then one job at a time. */
export type ToSpeechProcess =
  | { type: "open"; parts: SpeechParts }
  | { type: "transcribe"; job: number; path: string; maxDurationSeconds: number; keeping: Keeping }
  | { type: "abort"; job: number };

export interface Keeping {
  /** What was kept of earlier work on the recording. */
  kept: readonly KeptStretch[];
  /** Seconds of work from one stretch that is told to the next; null where none is to be told. */
  everySeconds: number | null;
}

/** From a speech process to the service. */
export type FromSpeechProcess =
  /** Before it loads its models; bytes of the files that they come from. */
  | { type: "loading"; modelBytes: number }
  | { type: "ready"; description: SpeechDescription }
  /** Sent every second from the first moment on. */
  | { type: "alive"; residentBytes: number }
  | { type: "unusable"; error: ErrorMessage }
  | { type: "progress"; job: number; progress: TranscribeProgress }
  | { type: "waveform"; job: number; waveform: Waveform }
  | { type: "stretch"; job: number; stretch: KeptStretch }
  | { type: "transcribed"; job: number; result: TranscribeResult }
  | { type: "failed"; job: number; error: ErrorMessage };

/** An error as it crosses the border between processes. */
export interface ErrorMessage {
  /** Null for an error that is not part of the contract: a fault of this program. */
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

/** @throws TypeError where the value is no message of this protocol. */
export function parseToSpeechProcess(value: unknown): ToSpeechProcess {
  return parse(value, {
    open: ["parts"],
    transcribe: ["job", "path", "maxDurationSeconds", "keeping"],
    abort: ["job"],
  });
}

/** @throws TypeError where the value is no message of this protocol. */
export function parseFromSpeechProcess(value: unknown): FromSpeechProcess {
  const message = parse<FromSpeechProcess>(value, {
    loading: ["modelBytes"],
    ready: ["description"],
    alive: ["residentBytes"],
    unusable: ["error"],
    progress: ["job", "progress"],
    waveform: ["job", "waveform"],
    stretch: ["job", "stretch"],
    transcribed: ["job", "result"],
    failed: ["job", "error"],
  });
  if ("error" in message && message.error.code !== null && !(message.error.code in SPEECH_ERRORS)) {
    throw new TypeError(`Unknown error code ${message.error.code}`);
  }
  return message;
}

/** Both ends are one version of this program: the tag and its fields are checked, not what is in them. */
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
