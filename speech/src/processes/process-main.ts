import { SpeechError } from "../errors.ts";
import { type FromSpeechProcess, toErrorMessage } from "./process-messages.ts";

/*
 * Entry point of a speech process. Imports nothing with native code before it can report that this code cannot be loaded,
 * for example on a system that is too old.
 */

try {
  const { serveJobs } = await import("./serve-jobs.ts");
  serveJobs();
} catch (cause) {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const error = new SpeechError("engine_crashed", `The engine cannot be loaded: ${reason}`, { cause });
  process.send?.({ type: "unusable", error: toErrorMessage(error) } satisfies FromSpeechProcess);
}
