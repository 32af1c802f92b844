import { MAX_RETENTION_DAYS, type RetentionPolicy } from "../db/enums.ts";
import type { Db, EnvironmentRow, Tx } from "../db/schema.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import {
  findEnvironment,
  findEnvironmentForUpdate,
  insertEnvironment,
  setAiTranscription,
  setAllowedOrigins,
  setRetention,
} from "./queries.ts";

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
  const row = await insertEnvironment(db, {
    id: newId("env"),
    name: trimmed,
    ai_transcription: aiTranscription,
    created_at: clock.now(),
  });
  if (!row) {
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
 * By id or name, held still until the transaction ends, so that what a change is from is what it was.
 * @throws AppError `environment_not_found`
 */
export async function lockEnvironment(tx: Tx, idOrName: string): Promise<EnvironmentRow> {
  const { id } = await getEnvironment(tx, idOrName);
  const row = await findEnvironmentForUpdate(tx, id);
  if (!row) throw new AppError("environment_not_found", `There is no environment ${idOrName}.`);
  return row;
}

/**
 * Changes what is given; all of it or nothing.
 * @throws AppError `invalid_request`, `environment_not_found`
 */
export async function changeEnvironment(
  tx: Tx,
  id: string,
  {
    allowedOrigins,
    aiTranscription,
    retention,
  }: { allowedOrigins?: string[]; aiTranscription?: boolean; retention?: RetentionPolicy | null },
): Promise<EnvironmentRow> {
  if (allowedOrigins !== undefined) await setUploadOrigins(tx, id, allowedOrigins);
  if (aiTranscription !== undefined) await switchAiTranscription(tx, id, aiTranscription);
  if (retention !== undefined) await changeRetention(tx, id, retention);
  return await getEnvironment(tx, id);
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

/**
 * Origins of pages that may upload to the environment: `https://app.example`, or `*` alone for any. None at
 * all lets no page upload; programs that are no browser tell no origin and are not asked.
 * @throws AppError `invalid_request`, `environment_not_found`
 */
export async function setUploadOrigins(db: Db, id: string, origins: string[]): Promise<EnvironmentRow> {
  const wrong = origins.find((origin) => origin !== "*" && !isOrigin(origin));
  if (wrong !== undefined) {
    throw new AppError("invalid_request", `${wrong} is no origin; one looks like https://app.example.`);
  }
  const row = await setAllowedOrigins(db, id, [...new Set(origins)]);
  if (!row) throw new AppError("environment_not_found", `There is no environment ${id}.`);
  return row;
}

/**
 * How long videos are kept; null keeps them all. What is due by then goes with the next sweep, for good.
 * @throws AppError `invalid_request`, `environment_not_found`
 */
export async function changeRetention(
  db: Db,
  id: string,
  retention: RetentionPolicy | null,
): Promise<EnvironmentRow> {
  const days = retention?.days ?? 1;
  if (!Number.isInteger(days) || days < 1 || days > MAX_RETENTION_DAYS) {
    throw new AppError("invalid_request", `Videos are kept for 1 to ${MAX_RETENTION_DAYS} days.`);
  }
  const row = await setRetention(db, id, retention);
  if (!row) throw new AppError("environment_not_found", `There is no environment ${id}.`);
  return row;
}

/** As browsers spell it: without a path, and without the port that goes without saying. */
function isOrigin(text: string): boolean {
  return URL.canParse(text) && /^https?:/.test(text) && new URL(text).origin === text;
}
