import { MAX_RETENTION_DAYS, type RetentionPolicy } from "../db/enums.ts";
import type { Db, Tx } from "../db/schema.ts";
import type { EnvironmentRow } from "../db/tables/environments.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import {
  findEnvironment,
  findEnvironmentForUpdate,
  insertEnvironment,
  updateEnvironment,
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
  if (trimmed.length === 0 || [...trimmed].length > 100 || /[\p{Cc}\p{Cs}]/u.test(trimmed)) {
    throw new AppError(
      "invalid_request",
      "The name of an environment must have 1 to 100 printable characters.",
    );
  }
  const row = await insertEnvironment(db, {
    id: newId("env"),
    name: trimmed,
    ai_transcription: aiTranscription,
    created_at: clock.now(),
  });
  if (!row) {
    throw new AppError("environment_name_taken", `An environment named ${trimmed} already exists.`);
  }
  return row;
}

/**
 * Finds an environment by id or name.
 * @throws AppError `environment_not_found`
 */
export async function getEnvironment(db: Db, idOrName: string): Promise<EnvironmentRow> {
  const row = await findEnvironment(db, idOrName);
  if (!row) throw new AppError("environment_not_found", `There is no environment ${idOrName}.`);
  return row;
}

/**
 * Finds an environment by id or name and locks it until the transaction ends, so that the audit log records correct old
 * values.
 * @throws AppError `environment_not_found`
 */
export async function lockEnvironment(tx: Tx, idOrName: string): Promise<EnvironmentRow> {
  const { id } = await getEnvironment(tx, idOrName);
  const row = await findEnvironmentForUpdate(tx, id);
  if (!row) throw new AppError("environment_not_found", `There is no environment ${idOrName}.`);
  return row;
}

export interface EnvironmentChange {
  /**
   * Origins of pages that may upload: `https://app.example`, or `*` for any. An empty list allows no page. Clients other
   * than browsers are not affected, because they send no origin.
   */
  allowedOrigins?: readonly string[];
  /** Applies to videos that finish uploading from now on. */
  aiTranscription?: boolean;
  /** Null keeps all videos. The next sweep permanently deletes everything that is due. */
  retention?: RetentionPolicy | null;
  /** Names and terms that may be spoken, most important first. Applies to transcriptions that start from now on. */
  vocabulary?: readonly string[];
}

/**
 * Changes the given fields.
 * @throws AppError `invalid_request`, `environment_not_found`
 */
export async function changeEnvironment(
  db: Db | Tx,
  id: string,
  { allowedOrigins, aiTranscription, retention, vocabulary }: EnvironmentChange,
): Promise<EnvironmentRow> {
  const columns = {
    ...(allowedOrigins && { allowed_origins: JSON.stringify(checkedOrigins(allowedOrigins)) }),
    ...(aiTranscription !== undefined && { ai_transcription: aiTranscription }),
    ...(retention !== undefined && retentionColumns(retention)),
    ...(vocabulary && { vocabulary: JSON.stringify(checkedVocabulary(vocabulary)) }),
  };
  if (Object.keys(columns).length === 0) return await getEnvironment(db, id);
  const row = await updateEnvironment(db, id, columns);
  if (!row) throw new AppError("environment_not_found", `There is no environment ${id}.`);
  return row;
}

function checkedOrigins(origins: readonly string[]): string[] {
  const wrong = origins.find((origin) => origin !== "*" && !isOrigin(origin));
  if (wrong !== undefined) {
    throw new AppError("invalid_request", `${wrong} is not a valid origin. Example: https://app.example.`);
  }
  return [...new Set(origins)];
}

function retentionColumns(retention: RetentionPolicy | null) {
  const days = retention?.days ?? 1;
  if (!Number.isInteger(days) || days < 1 || days > MAX_RETENTION_DAYS) {
    throw new AppError("invalid_request", `The retention period must be 1 to ${MAX_RETENTION_DAYS} days.`);
  }
  return { retention_days: retention?.days ?? null, retention_deletes: retention?.deletes ?? null };
}

/** Accepts an origin as browsers send it: without a path or default port. */
function isOrigin(text: string): boolean {
  return URL.canParse(text) && /^https?:/.test(text) && new URL(text).origin === text;
}

const MAX_VOCABULARY_TERMS = 100;
const MAX_TERM_CHARACTERS = 50;

/**
 * Validates and normalizes the terms for storage.
 * @throws AppError `invalid_request`
 */
function checkedVocabulary(vocabulary: readonly string[]): string[] {
  const terms = vocabulary.map((term) => term.trim().normalize("NFC"));
  if (terms.length > MAX_VOCABULARY_TERMS) {
    throw new AppError("invalid_request", `A vocabulary has at most ${MAX_VOCABULARY_TERMS} terms.`);
  }
  const wrong = terms.findIndex((term) => !isTerm(term));
  if (wrong >= 0) {
    throw new AppError(
      "invalid_request",
      `Term ${wrong + 1} is invalid. Terms must have 1 to ${MAX_TERM_CHARACTERS} printable characters and no commas.`,
    );
  }
  const seen = new Set<string>();
  for (const term of terms) {
    const key = term.toLowerCase();
    if (seen.has(key)) throw new AppError("invalid_request", `The vocabulary contains ${term} twice.`);
    seen.add(key);
  }
  return terms;
}

/** Terms are separated by commas. Control characters and line breaks would reach the model's prompt unnoticed. */
function isTerm(text: string): boolean {
  const { length } = [...text];
  return length >= 1 && length <= MAX_TERM_CHARACTERS && !/[\p{Cc}\p{Cs}\p{Zl}\p{Zp},]/u.test(text);
}
