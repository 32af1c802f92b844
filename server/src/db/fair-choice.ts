import { type RawBuilder, sql } from "kysely";
import type { Db, TranscriptionRow, Tx } from "./schema.ts";

/**
 * So many of the oldest are looked at for one of an environment that has nothing in work. Where there is none, a
 * flood of one environment stands before all others, and those are looked for one by one.
 */
const FRONT = 200;
/** Environments that are looked at one by one. */
const LOOKED_AT = 128;
/** Environments to try: the only one that waits in the first may be in the hands of another worker just now. */
const CANDIDATES = 16;
/** What has waited no longer is most likely about to be taken by a worker that is idle. */
const LONGER_THAN_IDLE_WORKERS_NEED = sql`interval '5 seconds'`;

const WAITS = sql`status = 'PENDING' and parked_at is null`;
const PLACE = sql`coalesce(due_at, created_at)`;
const BUSY = sql`busy as materialized (
  select environment_id, count(*)::int as processing
  from transcription where status = 'PROCESSING' group by environment_id
)`;

/**
 * The transcription whose turn it is, locked: of the environment that has the fewest PROCESSING, and of several
 * such of the one that waits longest; within it the one that waits longest. Rows that other transactions hold
 * are passed over, so this never waits. Times are the database's: workers' clocks may be off.
 * @returns undefined where nothing waits whose time has come and whose environment is below the cap
 */
export async function chooseTranscription(tx: Tx, cap: number | null): Promise<TranscriptionRow | undefined> {
  for (const list of [idleAtFront, fewestProcessing]) {
    for (const environmentId of await list(tx, cap)) {
      const row = await lockFirst(tx, environmentId);
      if (row) return row;
    }
  }
  return undefined;
}

/** Environments that have nothing in work, of those at the front of the line; by who waits longest. */
async function idleAtFront(tx: Tx): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with ${BUSY}, front as (
      select environment_id, ${PLACE} as place, id from transcription
      where ${WAITS} and ${PLACE} <= now()
      order by ${PLACE}, id limit ${FRONT}
    )
    select environment_id as id from front
    where not exists (select from busy where busy.environment_id = front.environment_id)
    group by environment_id order by min(place), min(front.id) limit ${CANDIDATES}`.execute(tx);
  return rows.map(({ id }) => id);
}

/**
 * Of environments that wait, by how many they have in work and then by who waits longest. Looks at one row of each,
 * and at no more than some: from the one on that began last, so that all have their turn where more wait.
 */
async function fewestProcessing(tx: Tx, cap: number | null): Promise<string[]> {
  const { rows: last } = await sql<{ id: string }>`
    select environment_id as id from transcription
    where status = 'PROCESSING' order by started_at desc nulls last limit 1`.execute(tx);
  const begunLast = last[0]?.id ?? "";
  const behind = await headsAfter(tx, begunLast, LOOKED_AT);
  const others = behind.length < LOOKED_AT ? await headsAfter(tx, "", LOOKED_AT - behind.length) : [];
  const heads = [...new Map([...behind, ...others].map((head) => [head.environmentId, head])).values()];
  return heads
    .filter(({ isDue, processing }) => isDue && (cap === null || processing < cap))
    .toSorted((a, b) => a.processing - b.processing || a.place.getTime() - b.place.getTime())
    .slice(0, CANDIDATES)
    .map(({ environmentId }) => environmentId);
}

interface Head {
  environmentId: string;
  /** Of the row that waits longest. */
  place: Date;
  isDue: boolean;
  processing: number;
}

/** By environment. The index is entered anew after each: a loose index scan. */
async function headsAfter(tx: Tx, environmentId: string, limit: number): Promise<Head[]> {
  const after = (id: RawBuilder<unknown>) => sql`
    select environment_id, ${PLACE} as place from transcription
    where ${WAITS} and environment_id > ${id} order by environment_id, ${PLACE}, id limit 1`;
  const { rows } = await sql<Head>`
    with recursive ${BUSY}, head as (
      select first.*, 1 as number from (${after(sql`${environmentId}`)}) as first
      union all
      select next.*, number + 1 from head
      cross join lateral (${after(sql`head.environment_id`)}) as next
      where number < ${limit}::int
    )
    select environment_id as "environmentId", place, place <= now() as "isDue",
      coalesce(processing, 0) as processing
    from head left join busy using (environment_id)`.execute(tx);
  return rows;
}

async function lockFirst(tx: Tx, environmentId: string): Promise<TranscriptionRow | undefined> {
  const { rows } = await sql<TranscriptionRow>`
    select * from transcription
    where ${WAITS} and environment_id = ${environmentId} and ${PLACE} <= now()
    order by ${PLACE}, id limit 1 for update skip locked`.execute(tx);
  return rows[0];
}

/**
 * Whether another transcription would go on if this one made room for it, which is PROCESSING: one that waits
 * for a worker, or for this one's environment to be below its cap. By the database's clock.
 */
export async function othersWait(db: Db, transcriptionId: string): Promise<boolean> {
  const { rows } = await sql<{ wait: boolean }>`
    select exists (
      select from transcription where ${WAITS} and ${PLACE} <= now() - ${LONGER_THAN_IDLE_WORKERS_NEED}
    ) or exists (
      select from transcription where status = 'PENDING' and parked_at is not null
        and environment_id = (select environment_id from transcription where id = ${transcriptionId})
    ) as wait`.execute(db);
  return rows[0]!.wait;
}
