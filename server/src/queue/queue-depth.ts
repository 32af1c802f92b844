import { sql } from "kysely";
import type { Db } from "../db/schema.ts";

export interface QueueDepth {
  /** Environments with PENDING transcriptions. */
  environments: {
    /** Transcriptions that are waiting for a worker. */
    waiting: number;
    /** When the first of these started to wait; null if there are none. */
    waitingSince: Date | null;
    /** Transcriptions whose next attempt is not due yet. */
    delayed: number;
    /** Transcriptions that are waiting because the environment is at its limit of concurrent attempts. */
    capped: number;
  }[];
  processing: number;
  deliveries: {
    due: number;
    /** Deliveries whose next attempt is not due yet. */
    scheduled: number;
    /** When the first of the due deliveries became due; null if none is due. */
    dueSince: Date | null;
  };
}

/**
 * Reads only waiting rows, so completed work does not slow it down.
 * @param cap maximum number of concurrent attempts of one environment; null for no limit
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
  // Counts by endpoint to use the index, because most deliveries ended long ago.
  const { rows: deliveries } = await sql<QueueDepth["deliveries"]>`
    select coalesce(sum(pending.due), 0)::int as due, coalesce(sum(pending.scheduled), 0)::int as scheduled,
      min(pending.since) as "dueSince"
    from webhook_endpoint
    cross join lateral (
      select count(*) filter (where next_attempt_at <= ${now}::timestamptz) as due,
        count(*) filter (where next_attempt_at > ${now}::timestamptz) as scheduled,
        min(next_attempt_at) filter (where next_attempt_at <= ${now}::timestamptz) as since
      from delivery where endpoint_id = webhook_endpoint.id and status = 'pending'
    ) as pending
  `.execute(db);
  return { environments, processing: counted[0]!.processing, deliveries: deliveries[0]! };
}
