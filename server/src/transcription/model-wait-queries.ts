import type { TranscriptionStatus } from "@subtext/client/contract/transcription";
import { sql } from "kysely";
import type { Db, Tx } from "../db/schema.ts";
import type { NamedJob } from "../queue/lost-job-queries.ts";
import type { Failure } from "./attempt-queries.ts";

/** Failures that another speech model may fix. Retries without one would fail again. */
const FIXED_BY_MODEL = ["language_unsupported", "language_undetermined", "model_not_found"];

export function isFixedByModel(failure: Failure): boolean {
  return FIXED_BY_MODEL.includes(failure.code);
}

/** Checks whether a transcription waits for the speech model rather than for a worker. */
export function waitsForModel(row: { status: TranscriptionStatus; failure_code: string | null }): boolean {
  return row.status === "PENDING" && row.failure_code !== null && FIXED_BY_MODEL.includes(row.failure_code);
}

export interface WaitForModel extends NamedJob {
  environmentId: string;
  createdAt: Date;
}

/** Lists a page of the transcriptions that wait for the model, oldest first. */
export async function findWaitsForModel(
  db: Db,
  { after, limit }: { after: WaitForModel | null; limit: number },
): Promise<WaitForModel[]> {
  return await db
    .selectFrom("transcription")
    .select(["id", "job_id as jobId", "environment_id as environmentId", "created_at as createdAt"])
    .where("status", "=", "PENDING")
    .where("failure_code", "in", FIXED_BY_MODEL)
    .$if(after !== null, (query) =>
      query.where(sql<boolean>`(created_at, id) > (${after!.createdAt}, ${after!.id})`),
    )
    .orderBy("created_at")
    .orderBy("id")
    .limit(limit)
    .execute();
}

/** Makes the transcription due and removes the failure. Returns false if it has changed in the meantime. */
export async function endWaitForModel(tx: Tx, { id, jobId }: NamedJob): Promise<boolean> {
  const row = await tx
    .updateTable("transcription")
    .set({ due_at: null, failure_code: null, failure_message: null })
    .where("id", "=", id)
    .where("job_id", "=", jobId)
    .where("status", "=", "PENDING")
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}
