import type { Clock } from "./clock.ts";
import { findEnvironment, insertEnvironment, setAiTranscription } from "./db/environments.ts";
import type { Db, EnvironmentRow } from "./db/schema.ts";
import { AppError } from "./errors.ts";
import { newId } from "./ids.ts";

/**
 * @param name 1 to 100 characters, unique
 * @throws AppError `invalid_request`, `environment_name_taken`
 */
export async function createEnvironment(
  { db, clock }: { db: Db; clock: Clock },
  { name, aiTranscription }: { name: string; aiTranscription: boolean },
): Promise<EnvironmentRow> {
  const trimmed = name.trim();
  if (trimmed.length === 0 || trimmed.length > 100 || /[\p{Cc}\p{Cs}]/u.test(trimmed)) {
    throw new AppError("invalid_request", "An environment's name has 1 to 100 printable characters.");
  }
  const row = {
    id: newId("env"),
    name: trimmed,
    ai_transcription: aiTranscription,
    created_at: clock.now(),
  };
  if (!(await insertEnvironment(db, row))) {
    throw new AppError("environment_name_taken", `There is an environment ${trimmed} already.`);
  }
  return row;
}

/**
 * By id or name.
 * @throws AppError `environment_not_found`
 */
export async function getEnvironment(db: Db, idOrName: string): Promise<EnvironmentRow> {
  const row = await findEnvironment(db, idOrName);
  if (!row) throw new AppError("environment_not_found", `There is no environment ${idOrName}.`);
  return row;
}

/**
 * The AI Transcription toggle; holds for videos that finish uploading from now on.
 * @throws AppError `environment_not_found`
 */
export async function switchAiTranscription(db: Db, id: string, on: boolean): Promise<EnvironmentRow> {
  const row = await setAiTranscription(db, id, on);
  if (!row) throw new AppError("environment_not_found", `There is no environment ${id}.`);
  return row;
}
