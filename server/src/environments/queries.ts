import type { Updateable } from "kysely";
import type { RetentionPolicy } from "../db/enums.ts";
import type { Db, Tx } from "../db/schema.ts";
import type { EnvironmentRow, EnvironmentTable } from "../db/tables/environments.ts";

export interface NewEnvironment {
  id: string;
  name: string;
  ai_transcription: boolean;
  created_at: Date;
}

/** @returns undefined if the name is taken */
export async function insertEnvironment(
  db: Db | Tx,
  row: NewEnvironment,
): Promise<EnvironmentRow | undefined> {
  return await db
    .insertInto("environment")
    .values(row)
    .onConflict((conflict) => conflict.column("name").doNothing())
    .returningAll()
    .executeTakeFirst();
}

export async function listEnvironments(db: Db): Promise<EnvironmentRow[]> {
  return await db.selectFrom("environment").selectAll().orderBy("created_at").orderBy("id").execute();
}

export async function findEnvironment(db: Db, idOrName: string): Promise<EnvironmentRow | undefined> {
  return await db
    .selectFrom("environment")
    .selectAll()
    .where((where) => where.or([where("id", "=", idOrName), where("name", "=", idOrName)]))
    // Prefers the id, because an environment's name may equal the id of another environment.
    .orderBy((order) => order("id", "=", idOrName), "desc")
    .executeTakeFirst();
}

export async function findEnvironmentForUpdate(tx: Tx, id: string): Promise<EnvironmentRow | undefined> {
  return await tx.selectFrom("environment").selectAll().where("id", "=", id).forUpdate().executeTakeFirst();
}

/** @returns undefined if the environment does not exist */
export async function updateEnvironment(
  db: Db | Tx,
  id: string,
  columns: Updateable<EnvironmentTable>,
): Promise<EnvironmentRow | undefined> {
  return await db
    .updateTable("environment")
    .set(columns)
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirst();
}

export async function findAllowedOrigins(db: Db, id: string): Promise<string[]> {
  const row = await db
    .selectFrom("environment")
    .select("allowed_origins")
    .where("id", "=", id)
    .executeTakeFirst();
  return row?.allowed_origins ?? [];
}

export async function findVocabulary(db: Db, id: string): Promise<string[]> {
  const row = await db.selectFrom("environment").select("vocabulary").where("id", "=", id).executeTakeFirst();
  return row?.vocabulary ?? [];
}

export async function hasAiTranscription(db: Db, environmentId: string): Promise<boolean> {
  const row = await db
    .selectFrom("environment")
    .select("ai_transcription")
    .where("id", "=", environmentId)
    .executeTakeFirst();
  return row?.ai_transcription ?? false;
}

/** Returns whether AI Transcription is on, and prevents changes until the transaction ends. */
export async function lockAiTranscription(tx: Tx, environmentId: string): Promise<boolean> {
  const { ai_transcription } = await tx
    .selectFrom("environment")
    .select("ai_transcription")
    .where("id", "=", environmentId)
    .forShare()
    .executeTakeFirstOrThrow();
  return ai_transcription;
}

export function retentionOf(environment: EnvironmentRow): RetentionPolicy | null {
  const { retention_days: days, retention_deletes: deletes } = environment;
  return days === null || deletes === null ? null : { days, deletes };
}
