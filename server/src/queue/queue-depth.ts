import { sql } from "kysely";
import type { Db } from "../db/schema.ts";

/** The waiting work of all environments. */
export interface QueueDepth {
  /** One entry for each environment with PENDING transcriptions. */
  environments: {
    /** Transcriptions that only need a free worker. */
    waiting: number;
    /** Since when the oldest of them has waited; null if `waiting` is 0. */
    waitingSince: Date | null;
    /** Wait for the time of their next attempt. */
    delayed: number;
    /** Transcriptions that wait because the environment has reached its limit of concurrent attempts. */
    capped: number;
  }[];
  processing: number;
  deliveries: {
    /** Deliveries that are due. */
    due: number;
    /** Wait for the time of their next attempt. */
    scheduled: number;
    /** When the oldest due delivery became due; null if `due` is 0. */
    dueSince: Date | null;
  };
}

/**
 * Reads only the rows that wait.
 * @param cap concurrent attempts of one environment; null for no limit
 */
export async function queueDepth(db: Db, now: Date, cap: number | null): Promise<QueueDepth> {
  const { rows: environments } = await sql<QueueDepth["environments"][number]>`
    select
      count(*) filter (where not capped and since <= ${now}::timestamptz)::int as waiting,
      min(since) filter (where not capped and since <= ${now}::timestamptz) as "waitingSince",
      count(*) filter (where since > ${now}::timestamptz)::int as delayed,
      count(*) filter (where capped and since <= ${now}::timestamptz)::int as capped
    from (
      select environment_id, coalesce(processing >= ${cap}::int, false) as capped,
        greatest(queued_at, due_at) as since
      from transcription
      left join (
        select environment_id, count(*) as processing from transcription
        where status = 'PROCESSING' group by environment_id
      ) as busy using (environment_id)
      where status = 'PENDING'
    ) as pending
    group by environment_id
  `.execute(db);
  const { rows: counted } = await sql<{ processing: number }>`
    select count(*)::int as processing from transcription where status = 'PROCESSING'
  `.execute(db);
  // By endpoint, to use the index: most deliveries ended long ago.
  const { rows: deliveries } = await sql<QueueDepth["deliveries"]>`
    select coalesce(sum(of.due), 0)::int as due, coalesce(sum(of.scheduled), 0)::int as scheduled,
      min(of.since) as "dueSince"
    from webhook_endpoint
    cross join lateral (
      select count(*) filter (where next_attempt_at <= ${now}::timestamptz) as due,
        count(*) filter (where next_attempt_at > ${now}::timestamptz) as scheduled,
        min(next_attempt_at) filter (where next_attempt_at <= ${now}::timestamptz) as since
      from delivery where endpoint_id = webhook_endpoint.id and status = 'pending'
    ) as of
  `.execute(db);
  return { environments, processing: counted[0]!.processing, deliveries: deliveries[0]! };
}
