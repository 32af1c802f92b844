import type { Speech } from "@subtext/speech/processes/process-pool";
import type { Logger } from "pino";
import type { Db } from "../db/schema.ts";
import { hasAiTranscription } from "../environments/queries.ts";
import { logLevelOf } from "../lib/outages.ts";

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
  const start = async (environmentId: string) => {
    if (await hasAiTranscription(db, environmentId)) await speech.start();
  };
  return (environmentId) => {
    start(environmentId).catch((error) => {
      // The transcription reports the same problem.
      log[logLevelOf(error, "info")]({ err: error }, "could not start speech recognition early");
    });
  };
}
