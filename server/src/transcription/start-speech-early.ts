import type { Speech } from "@subtext/speech/processes/process-pool";
import type { Logger } from "pino";
import type { Db } from "../db/schema.ts";
import { hasAiTranscription } from "../environments/queries.ts";
import { logLevelOf } from "../lib/outages.ts";

/** After a failure, uploads do not try again for this time. */
const PAUSE_AFTER_FAILURE_MS = 60_000;

/**
 * Returns a function to call when bytes of an upload arrive. It starts the speech process, which then loads its models
 * while the upload continues.
 */
export function startSpeechEarly({
  db,
  speech,
  log,
}: {
  db: Db;
  speech: Pick<Speech, "start">;
  log: Logger;
}): (environmentId: string) => void {
  let isStarting = false;
  let pausedUntil = 0;
  const start = async (environmentId: string) => {
    if (!(await hasAiTranscription(db, environmentId)) || isStarting) return;
    isStarting = true;
    try {
      await speech.start();
    } finally {
      isStarting = false;
    }
  };
  return (environmentId) => {
    if (performance.now() < pausedUntil) return;
    start(environmentId).catch((error) => {
      pausedUntil = performance.now() + PAUSE_AFTER_FAILURE_MS;
      // The transcription reports the same problem.
      log[logLevelOf(error, "info")]({ err: error }, "could not start speech recognition early");
    });
  };
}
