import { sql } from "kysely";
import type { Db } from "../db/schema.ts";

/** Received bytes do not change the row, so running uploads have their own kind. */
export type FoundChange = { environmentId: string; kind: "changed" | "uploading" | "deleted"; id: string };

export async function databaseTime(db: Db): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db);
  return rows[0]!.now;
}

/**
 * Finds videos that have changed since the given time, or whose transcription has; running uploads, newest first; and
 * deleted videos. Limits the number of each kind per environment.
 */
export async function findVideoChanges(
  db: Db,
  environmentIds: readonly string[],
  { since, maxChanged, maxUploading }: { since: Date; maxChanged: number; maxUploading: number },
): Promise<FoundChange[]> {
  const { rows } = await sql<FoundChange>`
    select environment.id as "environmentId", found.kind, found.id
    from unnest(${[...environmentIds]}::text[]) as environment (id)
    cross join lateral (
      (select 'changed' as kind, id from (
        select id from video where environment_id = environment.id and changed_at >= ${since}
        union
        select video_id from transcription where environment_id = environment.id and changed_at >= ${since}
      ) as written limit ${maxChanged})
      union all
      (select 'uploading', id from video
        where environment_id = environment.id and uploaded_at is null
        order by id desc limit ${maxUploading})
      union all
      (select 'deleted', video_id from video_deletion
        where environment_id = environment.id and deleted_at >= ${since} limit ${maxChanged})
    ) as found
  `.execute(db);
  return rows;
}
