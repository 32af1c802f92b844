import { sql } from "kysely";
import type { Db } from "./schema.ts";

/** What waits, of all environments. */
export interface QueueDepth {
  /** One for each environment that has transcriptions waiting. */
  pendingByEnvironment: { pending: number; oldestAt: Date }[];
  processing: number;
  deliveries: {
    /** Could be attempted now. */
    due: number;
    /** Wait for the time of their next attempt. */
    scheduled: number;
    /** When the one became due that is due longest; null where none is. */
    dueSince: Date | null;
  };
}

/** Reads the rows that wait and no others. */
export async function queueDepth(db: Db, now: Date): Promise<QueueDepth> {
  const { rows: pendingByEnvironment } = await sql<{ pending: number; oldestAt: Date }>`
    select count(*)::int as pending, min(coalesce(queued_at, created_at)) as "oldestAt"
    from transcription where status = 'PENDING' group by environment_id
  `.execute(db);
  const { rows: counted } = await sql<{ processing: number }>`
    select count(*)::int as processing from transcription where status = 'PROCESSING'
  `.execute(db);
  // By endpoint, as the index goes: most deliveries ended long ago.
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
  return { pendingByEnvironment, processing: counted[0]!.processing, deliveries: deliveries[0]! };
}
