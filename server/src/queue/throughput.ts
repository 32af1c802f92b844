import { sql } from "kysely";
import type { Db } from "../db/schema.ts";

export interface EndedGroup {
  /** Full hours before now, 0 to 23. */
  hoursAgo: number;
  status: "COMPLETED" | "FAILED" | "SKIPPED";
  engine: string | null;
  count: number;
  mediaSeconds: number;
  workSeconds: number;
}

/**
 * Counts transcriptions that ended in the 24 hours before `now`. Searches by `changed_at`, which has an index, with a
 * margin of one hour because its values come from the database's clock.
 */
export async function countEndedInLastDay(db: Db, now: Date): Promise<EndedGroup[]> {
  const { rows } = await sql<EndedGroup>`
    select
      floor(extract(epoch from (${now}::timestamptz - ended.finished_at)) / 3600)::int as "hoursAgo",
      ended.status,
      ended.engine,
      count(*)::int as "count",
      coalesce(sum(ended.duration), 0)::float8 as "mediaSeconds",
      coalesce(sum((ended.stages ->> 'total')::float8), 0)::float8 as "workSeconds"
    from environment
    cross join lateral (
      select status, engine, duration, stages, finished_at
      from transcription
      where transcription.environment_id = environment.id
        and changed_at >= now() - interval '25 hours'
        and finished_at > ${now}::timestamptz - interval '24 hours'
        and finished_at <= ${now}::timestamptz
        and status in ('COMPLETED', 'FAILED', 'SKIPPED')
    ) as ended
    group by 1, 2, 3
  `.execute(db);
  return rows;
}
