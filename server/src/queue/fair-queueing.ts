import { sql } from "kysely";
import type { Db, Tx } from "../db/schema.ts";

/**
 * Start-time fair queueing between environments (Goyal, Vin and Cheng, 1996). Each job has a start tag, and workers
 * claim the job with the smallest one. A job's priority is its negative start tag, so pg-boss finds the job by reading
 * one index entry.
 *
 * Tags measure work: 1000 units are one second of work in an environment with weight 1. Priorities have only 32 bits,
 * so their unit is a second, counted from `queue_clock.base`.
 *
 * Lock order: video, transcription, `environment_queue`, waiting jobs, `queue_clock`. Code that needs the base takes a key
 * share lock on the clock, which conflicts with `rebase` but not with `advanceVirtualTime`.
 */
export interface JobTag {
  start: number;
  /** Total work of the job, before division by the weight. */
  work: number;
  /** The part of `work` that the environment's finish tag includes, at most one slice. */
  charge: number;
}

export interface TaggedPriority {
  tag: JobTag;
  priority: number;
}

export const UNITS_PER_SECOND = 1000;
/** Minimum work of a long recording before it yields to other jobs. */
export const MIN_SLICE_SECONDS = 60;
const MIN_WORK_SECONDS = 1;
const MAX_WORK_SECONDS = 7 * 86_400;
/** Estimate for an environment without a completed transcription. */
const DEFAULT_WORK_SECONDS_PER_BYTE = 1e-6;
/** Weight of the latest transcription in the moving average. */
const AVERAGE_SHARE = 0.1;
/** A recording does not yield to jobs that became due within this time, because an idle worker may claim them. */
const IDLE_WORKER_SECONDS = 5;
const MIN_PRIORITY = -(2 ** 31 - 1);
const REBASE_AFTER_UNITS = 2 ** 29 * UNITS_PER_SECOND;
const RETAG_BATCH = 1000;

const QUEUED = sql`name = 'transcribe' and state < 'active' and not blocked`;
const START = sql`(data->'tag'->>'start')::bigint`;

/**
 * Tags a job that is about to be enqueued. Its start tag is the finish tag of the environment's last job, or the
 * virtual time if that is later.
 */
export async function assignTag(
  tx: Tx,
  environmentId: string,
  {
    workSeconds,
    sliceSeconds = MIN_SLICE_SECONDS,
    debtSeconds = 0,
  }: {
    workSeconds: number;
    sliceSeconds?: number;
    /** Completed work that no tag includes yet. */
    debtSeconds?: number;
  },
): Promise<TaggedPriority> {
  const work = Math.round(
    Math.min(MAX_WORK_SECONDS, Math.max(MIN_WORK_SECONDS, workSeconds)) * UNITS_PER_SECOND,
  );
  const charge = Math.min(work, Math.round(sliceSeconds * UNITS_PER_SECOND));
  const debt = Math.round(debtSeconds * UNITS_PER_SECOND);
  const perWeight = (units: number, weight: string) =>
    sql`((${units}::bigint + ${sql.ref(weight)} - 1) / ${sql.ref(weight)})`;
  const { rows } = await sql<{ start: number; base: number }>`
    with clock as materialized (select virtual_time, base from queue_clock for key share), tagged as (
      insert into environment_queue as queue (environment_id, finish_tag)
      select ${environmentId}, virtual_time + ${debt}::bigint + ${charge}::bigint from clock
      on conflict (environment_id) do update set finish_tag =
        greatest(queue.finish_tag, (select virtual_time from clock))
        + ${perWeight(debt, "queue.weight")} + ${perWeight(charge, "queue.weight")}
      returning finish_tag - ${perWeight(charge, "weight")} as start
    )
    select start, base from tagged, clock`.execute(tx);
  const { start, base } = rows[0]!;
  return { tag: { start, work, charge }, priority: priorityOf(start, base) };
}

/** Computes the priority of a job that keeps its tag. */
export async function priorityOfTag(tx: Tx, { start }: JobTag): Promise<number> {
  const { rows } = await sql<{ base: number }>`select base from queue_clock for key share`.execute(tx);
  return priorityOf(start, rows[0]!.base);
}

function priorityOf(start: number, base: number): number {
  return Math.max(MIN_PRIORITY, -Math.ceil((start - base) / UNITS_PER_SECOND));
}

/** Call this last in the transaction that claims a job, because every claim updates the same row. */
export async function advanceVirtualTime(tx: Tx, { start }: JobTag): Promise<void> {
  await sql`update queue_clock set virtual_time = ${start}::bigint where virtual_time < ${start}::bigint`.execute(
    tx,
  );
}

/** Estimates the seconds of work for a recording from its size. */
export async function estimateWork(tx: Tx, transcriptionId: string): Promise<number> {
  const { rows } = await sql<{ seconds: number }>`
    select size_bytes * coalesce(work_seconds_per_byte, ${DEFAULT_WORK_SECONDS_PER_BYTE}::float8) as seconds
    from transcription
    join video on video.id = video_id
    left join environment_queue on environment_queue.environment_id = transcription.environment_id
    where transcription.id = ${transcriptionId}`.execute(tx);
  return rows[0]?.seconds ?? MIN_WORK_SECONDS;
}

/** Updates the environment's average with the seconds of work that a recording took. */
export async function recordWork(tx: Tx, videoId: string, seconds: number): Promise<void> {
  await sql`
    update environment_queue as queue set work_seconds_per_byte =
      ${AVERAGE_SHARE}::float8 * ${seconds}::float8 / size_bytes
      + (1 - ${AVERAGE_SHARE}::float8) * coalesce(work_seconds_per_byte, ${seconds}::float8 / size_bytes)
    from video
    where video.id = ${videoId} and size_bytes > 0 and queue.environment_id = video.environment_id`.execute(
    tx,
  );
}

export interface UsedSlice {
  environmentId: string;
  /** Seconds of work since the last charge. */
  usedSeconds: number;
  /** Seconds of work that the last charge included. */
  chargedSeconds: number;
  remainingSeconds: number;
  sliceSeconds: number;
  /** Maximum number of concurrent attempts of one environment; null for no limit. */
  cap: number | null;
}

/**
 * Charges a long recording for its next slice. It yields if a waiting job has a smaller tag and is shorter than a slice
 * or belongs to another environment. Two long recordings of one environment do not alternate, because resuming costs
 * work.
 */
export async function startSlice(tx: Tx, slice: UsedSlice): Promise<{ tag: JobTag; yields: boolean }> {
  const { environmentId, sliceSeconds, cap } = slice;
  const { tag, priority } = await assignTag(tx, environmentId, {
    workSeconds: slice.remainingSeconds,
    sliceSeconds,
    debtSeconds: Math.max(0, slice.usedSeconds - slice.chargedSeconds),
  });
  const { rows } = await sql<{ yields: boolean }>`
    select exists (
      select from pgboss.job where ${QUEUED} and priority > ${priority}::int
        and start_after <= now() - ${IDLE_WORKER_SECONDS} * interval '1 second'
        and (group_id is distinct from ${environmentId}
          or coalesce((data->'tag'->>'work')::bigint, 0) < ${sliceSeconds * UNITS_PER_SECOND}::float8)
        and (${cap}::int is null or group_id = ${environmentId} or (
          select count(*) from transcription where environment_id = group_id and status = 'PROCESSING'
        ) < ${cap}::int)
    ) as yields`.execute(tx);
  const { yields } = rows[0]!;
  if (!yields) await advanceVirtualTime(tx, tag);
  return { tag, yields };
}

/**
 * Counts the environment's running attempts. Locks the environment's queue until the transaction ends, so that
 * concurrent callers see each other's claims.
 */
export async function lockProcessingCount(tx: Tx, environmentId: string): Promise<number> {
  await sql`
    insert into environment_queue (environment_id) values (${environmentId})
    on conflict (environment_id) do update set weight = environment_queue.weight`.execute(tx);
  // A separate statement, because it must see what other transactions committed while the first one waited for the
  // lock.
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from transcription
    where environment_id = ${environmentId} and status = 'PROCESSING'`.execute(tx);
  return rows[0]!.count;
}

/** Marks the position of a job that left the queue. `retagMarked` then moves the jobs behind it forward. */
export async function markForRetag(
  tx: Tx,
  environmentId: string,
  { start }: { start: number },
): Promise<void> {
  await sql`
    update environment_queue set retag_from = ${start}::bigint
    where environment_id = ${environmentId} and (retag_from is null or retag_from > ${start}::bigint)`.execute(
    tx,
  );
}

/** Removes a waiting job. Does nothing if the job was claimed. */
export async function removeQueuedJob(tx: Tx, environmentId: string, jobId: string): Promise<void> {
  await lockEnvironmentQueue(tx, environmentId);
  const { rows } = await sql<{ start: number | null }>`
    delete from pgboss.job where ${QUEUED} and id = ${jobId} returning ${START} as start`.execute(tx);
  const start = rows[0]?.start;
  if (start != null) await markForRetag(tx, environmentId, { start });
}

export async function retagMarked(db: Db, signal: AbortSignal): Promise<void> {
  const marked = await db
    .selectFrom("environment_queue")
    .select("environment_id")
    .where("retag_from", "is not", null)
    .execute();
  for (const { environment_id: environmentId } of marked) {
    let isDone = false;
    while (!isDone && !signal.aborted) {
      isDone = await db.transaction().execute((tx) => retagMarkedBatch(tx, environmentId));
    }
  }
}

/**
 * Retags one batch. Each batch is a transaction, so a crash loses no progress and the next batch sees deletions.
 * @returns whether the environment is done
 */
async function retagMarkedBatch(tx: Tx, environmentId: string): Promise<boolean> {
  const queue = await lockEnvironmentQueue(tx, environmentId);
  if (!queue || queue.retag_from === null) return true;
  const { finish, last } = await retagBatch(tx, queue, {
    after: queue.retag_from - 1,
    finish: queue.retag_from,
  });
  const change = last === null ? { finish_tag: finish, retag_from: null } : { retag_from: finish };
  await tx.updateTable("environment_queue").set(change).where("environment_id", "=", environmentId).execute();
  return last === null;
}

/** Returns the weights, keyed by environment. An environment without an entry has weight 1. */
export async function listWeights(db: Db): Promise<Map<string, number>> {
  const rows = await db.selectFrom("environment_queue").select(["environment_id", "weight"]).execute();
  return new Map(rows.map(({ environment_id, weight }) => [environment_id, weight]));
}

export async function getWeight(db: Db, environmentId: string): Promise<number> {
  const row = await db
    .selectFrom("environment_queue")
    .select("weight")
    .where("environment_id", "=", environmentId)
    .executeTakeFirst();
  return row?.weight ?? 1;
}

export async function setWeight(tx: Tx, environmentId: string, weight: number): Promise<void> {
  await sql`
    insert into environment_queue (environment_id, weight) values (${environmentId}, ${weight}::int)
    on conflict (environment_id) do update set weight = excluded.weight`.execute(tx);
  const queue = (await lockEnvironmentQueue(tx, environmentId))!;
  // All batches share a transaction, because new and old tags overlap if the weight decreases.
  let position: { after: number; finish: number | null } = { after: -1, finish: null };
  for (;;) {
    const { finish, last } = await retagBatch(tx, queue, position);
    if (last !== null) position = { after: last, finish };
    else {
      if (finish !== null) {
        await tx
          .updateTable("environment_queue")
          .set({ finish_tag: finish, retag_from: null })
          .where("environment_id", "=", environmentId)
          .execute();
      }
      return;
    }
  }
}

interface EnvironmentQueue {
  environmentId: string;
  weight: number;
  retag_from: number | null;
}

/** Call this before locking a waiting job of the environment, because retagging locks in this order. */
export async function lockEnvironmentQueue(
  tx: Tx,
  environmentId: string,
): Promise<EnvironmentQueue | undefined> {
  return await tx
    .selectFrom("environment_queue")
    .select(["environment_id as environmentId", "weight", "retag_from"])
    .where("environment_id", "=", environmentId)
    .forUpdate()
    .executeTakeFirst();
}

/**
 * Retags a batch of the environment's queued jobs so that each starts where the previous one finishes. No start tag
 * moves to before the virtual time at which its job was enqueued, because that would give the environment service for a
 * time when it had no work.
 * @param finish finish tag of the previous job; null to keep the first job's tag
 * @returns `last`: old start tag of the last job in a full batch; null after the last batch
 */
async function retagBatch<Finish extends number | null>(
  tx: Tx,
  { environmentId, weight }: EnvironmentQueue,
  { after, finish }: { after: number; finish: Finish },
): Promise<{ finish: Finish | number; last: number | null }> {
  const clock = await sql<{ virtual_time: number; base: number }>`
    select virtual_time, base from queue_clock for key share`.execute(tx);
  const { virtual_time: virtualTime, base } = clock.rows[0]!;
  const { rows: jobs } = await sql<{ id: string; start: number; charge: number }>`
    select id, ${START} as start, (data->'tag'->>'charge')::bigint as charge from pgboss.job
    where ${QUEUED} and group_id = ${environmentId}
      and priority <= ${priorityOf(after, base)}::int and ${START} > ${after}::bigint
    order by priority desc, ${START} limit ${RETAG_BATCH}`.execute(tx);
  let next: Finish | number = finish;
  const changes: { id: string; start: number; priority: number }[] = [];
  for (const { id, start: old, charge } of jobs) {
    const start: number = Math.max(next ?? old, Math.min(old, virtualTime));
    if (start !== old) changes.push({ id, start, priority: priorityOf(start, base) });
    next = start + Math.ceil(charge / weight);
  }
  if (changes.length > 0) {
    await sql`
      update pgboss.job set priority = change.priority, data = jsonb_set(data, '{tag,start}', to_jsonb(change.start))
      from jsonb_to_recordset(${JSON.stringify(changes)}::jsonb) as change (id uuid, start bigint, priority int)
      where ${QUEUED} and job.id = change.id`.execute(tx);
  }
  return { finish: next, last: jobs.length < RETAG_BATCH ? null : jobs.at(-1)!.start };
}

/** Moves the base to the virtual time, long before priorities would overflow. */
export async function rebase(db: Db, afterUnits: number = REBASE_AFTER_UNITS): Promise<void> {
  const isDue = sql<{ base: number }>`
    select virtual_time / ${UNITS_PER_SECOND}::int * ${UNITS_PER_SECOND}::int as base from queue_clock
    where virtual_time - base >= ${afterUnits}::bigint`;
  if ((await isDue.execute(db)).rows.length === 0) return;
  await db.transaction().execute(async (tx) => {
    await sql`select from queue_clock for update`.execute(tx);
    const { rows } = await isDue.execute(tx);
    if (rows.length === 0) return;
    const { base } = rows[0]!;
    await sql`update queue_clock set base = ${base}::bigint`.execute(tx);
    // Running jobs are included, because a crash requeues them with the same priority.
    await sql`
      update pgboss.job set priority =
        greatest(${MIN_PRIORITY}::int, -ceil((${START} - ${base}::bigint) / ${UNITS_PER_SECOND}::numeric))::int
      where name = 'transcribe' and state <= 'active' and data ? 'tag'`.execute(tx);
  });
}
