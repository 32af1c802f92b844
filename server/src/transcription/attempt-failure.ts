import { SpeechError } from "@subtext/speech/errors";
import { AppError } from "../lib/errors.ts";
import type { Failure } from "./attempt-queries.ts";

/** What an attempt failed by, as people are told of it, and whether another may do better. */
export function classifyFailure(error: unknown): { failure: Failure; retryable: boolean } {
  if (error instanceof SpeechError || error instanceof AppError || error instanceof WorkerLostError) {
    return { failure: { code: error.code, message: storable(error.message) }, retryable: error.retryable };
  }
  const failure = {
    code: "internal_error",
    message: "The service met an error of its own; its log tells more.",
  };
  return { failure, retryable: true };
}

/** What a decoder or a transcription server said may hold what the database can not. */
function storable(message: string): string {
  return message.toWellFormed().replaceAll("\0", "\uFFFD");
}

export class WorkerLostError extends Error {
  readonly code = "worker_lost";
  readonly retryable = false;

  constructor(allowed: number) {
    super(`Over ${allowed} workers died while they worked on this video.`);
  }
}
