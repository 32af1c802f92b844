import { sql } from "kysely";
import type { Db } from "./schema.ts";

/** What has waited no longer is most likely about to be taken by a worker that is idle. */
const LONGER_THAN_IDLE_WORKERS_NEED = sql`interval '5 seconds'`;

/**
 * Whether another transcription would go on if this one made room for it, which is PROCESSING: one that waits
 * for a worker, or for this one's environment to be below its cap. By the database's clock.
 */
export async function othersWait(db: Db, transcriptionId: string): Promise<boolean> {
  const { rows } = await sql<{ wait: boolean }>`
    select exists (
      select from transcription where status = 'PENDING' and parked_at is null
        and coalesce(due_at, created_at) <= now() - ${LONGER_THAN_IDLE_WORKERS_NEED}
    ) or exists (
      select from transcription where status = 'PENDING' and parked_at is not null
        and environment_id = (select environment_id from transcription where id = ${transcriptionId})
    ) as wait`.execute(db);
  return rows[0]!.wait;
}
