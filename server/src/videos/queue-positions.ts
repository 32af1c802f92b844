import { sql } from "kysely";
import type { Db } from "../db/schema.ts";
import { estimateStarts } from "../queue/start-estimates.ts";

export interface QueueCapacity {
  /** Number of transcriptions that all workers together can run at the same time; 0 if no worker runs. */
  countSlots(): Promise<number>;
  maxConcurrentPerEnvironment: number | null;
}

export interface QueuePosition {
  environmentId: string;
  /** 1 is claimed next. */
  position: number;
  /** Estimated time until a worker starts it, rounded; null if it cannot be estimated. */
  startsInSeconds: number | null;
}

/** Later queue positions are not computed. */
const MAX_POSITION = 1_000;
/** If a job has been due for longer although a slot is free, workers are claiming nothing: there may be an outage. */
const CLAIM_SECONDS = 15;

interface WaitingRow {
  videoId: string;
  environmentId: string;
  tag: number | null;
  /** Null before the first completed transcription. */
  workSeconds: number | null;
  dueSeconds: number;
}

/** Estimated seconds of work for a video: its environment's measured throughput, or else the average of all. */
const WORK_SECONDS = sql`video.size_bytes * coalesce(
  environment_queue.work_seconds_per_byte, (select avg(work_seconds_per_byte) from environment_queue)
)`;

/** Returns the queue positions of waiting videos, keyed by video id. All environments share one queue. */
export async function queuePositions(db: Db, capacity: QueueCapacity): Promise<Map<string, QueuePosition>> {
  // The tag contains the remaining work of an interrupted recording.
  const { rows } = await sql<WaitingRow>`
    select video_id as "videoId", job.environment_id as "environmentId", tag,
      (case when attempt > 0 and work is not null then work / 1000 else ${WORK_SECONDS} end)::float8 as "workSeconds",
      due_seconds as "dueSeconds"
    from (
      select id, priority, created_on, group_id as environment_id, (data->'tag'->>'start')::bigint as tag,
        (data->'tag'->>'work')::float8 as work,
        extract(epoch from now() - greatest(start_after, created_on))::float8 as due_seconds
      from pgboss.job
      where name = 'transcribe' and state < 'active' and not blocked and start_after <= now()
      order by priority desc, created_on limit ${MAX_POSITION}
    ) as job
    join transcription on job_id = job.id and status = 'PENDING'
    join video on video.id = video_id
    left join environment_queue on environment_queue.environment_id = transcription.environment_id
    order by priority desc, created_on`.execute(db);
  const starts = rows.length === 0 ? [] : await startsOf(db, rows, capacity);
  return new Map(
    rows.map(({ videoId, environmentId }, index) => [
      videoId,
      { environmentId, position: index + 1, startsInSeconds: rounded(starts[index] ?? null) },
    ]),
  );
}

/** Returns the estimated seconds until each job starts, or an empty array if nothing can be estimated. */
async function startsOf(
  db: Db,
  waiting: readonly WaitingRow[],
  { countSlots, maxConcurrentPerEnvironment: cap }: QueueCapacity,
): Promise<(number | null)[]> {
  const slots = await countSlots();
  if (slots === 0 || waiting.some(({ workSeconds }) => workSeconds === null)) return [];
  const { rows: running } = await sql<{ environmentId: string; remainingSeconds: number }>`
    select transcription.environment_id as "environmentId", coalesce(
      remaining_seconds, greatest(1, ${WORK_SECONDS} - extract(epoch from now() - started_at)), 1
    )::float8 as "remainingSeconds"
    from transcription
    join video on video.id = video_id
    left join environment_queue on environment_queue.environment_id = transcription.environment_id
    where status = 'PROCESSING'`.execute(db);
  const isCapped = (id: string) =>
    cap !== null && running.filter(({ environmentId }) => environmentId === id).length >= cap;
  const isStuck =
    running.length < slots &&
    waiting.some(({ dueSeconds, environmentId }) => dueSeconds > CLAIM_SECONDS && !isCapped(environmentId));
  if (isStuck) return [];
  const clock = await db.selectFrom("queue_clock").select("virtual_time").executeTakeFirstOrThrow();
  const environments = await db
    .selectFrom("environment_queue")
    .select(["environment_id", "finish_tag", "weight"])
    .where("environment_id", "in", [
      ...new Set([...waiting, ...running].map(({ environmentId }) => environmentId)),
    ])
    .execute();
  return estimateStarts({
    slots,
    cap,
    virtualTime: clock.virtual_time,
    environments: new Map(
      environments.map(({ environment_id, finish_tag, weight }) => [
        environment_id,
        { finishTag: finish_tag, weight },
      ]),
    ),
    running,
    waiting: waiting.map(({ environmentId, workSeconds, tag }) => ({
      environmentId,
      workSeconds: workSeconds!,
      tag: tag ?? 0,
    })),
  });
}

/** Rounds up, so that live updates do not send every second of a countdown. */
function rounded(seconds: number | null): number | null {
  if (seconds === null) return null;
  const unit = seconds < 60 ? 10 : seconds < 3600 ? 60 : 600;
  return Math.ceil(seconds / unit) * unit;
}
