import { SpeechError } from "../errors.ts";

/** Messages of the runtime and of V8. */
const ALLOCATION_FAILED = /bad_alloc|allocate memory|allocation failed/i;

/** Describes an error of the runtime: of the model, unless memory ran out. */
export function runtimeError(message: string, cause: unknown): SpeechError {
  return cause instanceof Error && ALLOCATION_FAILED.test(cause.message)
    ? new SpeechError("engine_out_of_memory", `${message} There is too little memory.`, { cause })
    : new SpeechError("model_unusable", message, { cause });
}
