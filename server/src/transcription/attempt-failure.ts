import { SpeechError } from "@subtext/speech/errors";
import { AppError } from "../lib/errors.ts";
import type { Failure } from "./attempt-queries.ts";

/** Returns the failure that clients see, and whether a retry may succeed. */
export function classifyFailure(error: unknown): { failure: Failure; retryable: boolean } {
  if (error instanceof SpeechError || error instanceof AppError || error instanceof WorkerLostError) {
    return { failure: { code: error.code, message: storable(error.message) }, retryable: error.retryable };
  }
  const failure = {
    code: "internal_error",
    message: "An internal error occurred. See the service's log.",
  };
  return { failure, retryable: true };
}

/** Messages from decoders and transcription servers can contain characters that the database cannot store. */
function storable(message: string): string {
  return message.toWellFormed().replaceAll("\0", "\uFFFD");
}

export class WorkerLostError extends Error {
  readonly code = "worker_lost";
  readonly retryable = false;

  constructor(allowed: number) {
    super(`More than ${allowed} workers crashed during the transcription of this video.`);
  }
}
