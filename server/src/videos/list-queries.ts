import { sql } from "kysely";
import type { VideoState } from "../db/enums.ts";
import type { Db, VideoRow } from "../db/schema.ts";
import { listVideos } from "./queries.ts";

/** Places in the queue are counted so far; whoever waits behind is told no number, */
const COUNTED_PLACES = 1_000;
/** and nobody where more environments wait. */
const COUNTED_ENVIRONMENTS = 300;

/** Videos of an environment in one state, or all, newest first; each state is read from an index of its own. */
export async function listVideosInState(
  db: Db,
  environmentId: string,
  { state, before, limit }: { state: VideoState | null; before: string | null; limit: number },
): Promise<VideoRow[]> {
  if (state === "uploading" || state === "untranscribed") {
    return await db
      .selectFrom("video")
      .selectAll()
      .where("environment_id", "=", environmentId)
      .$if(state === "uploading", (query) => query.where("uploaded_at", "is", null))
      .$if(state === "untranscribed", (query) => query.where(sql<boolean>`ai_transcription is false`))
      .$if(before !== null, (query) => query.where("id", "<", before!))
      .orderBy("id", "desc")
      .limit(limit)
      .execute();
  }
  const transcriptionStatus = state === null ? null : STATUSES[state];
  return await listVideos(db, environmentId, { transcriptionStatus, before, limit });
}

const STATUSES = {
  pending: "PENDING",
  processing: "PROCESSING",
  completed: "COMPLETED",
  failed: "FAILED",
  skipped: "SKIPPED",
} as const;

/**
 * The first in the queue, of all environments, in the order in which workers take them: each time one of the
 * environment that has the fewest at work, and of that the one that waits longest. 1 is next. By the videos' ids.
 */
export async function queuePlaces(db: Db): Promise<Map<string, { place: number; environmentId: string }>> {
  const { rows } = await sql<{ videoId: string; environmentId: string }>`
    with recursive waiting (environment_id, number) as (
      (select environment_id, 1 from transcription
        where status = 'PENDING' and parked_at is null order by environment_id limit 1)
      union all
      select (select environment_id from transcription
        where status = 'PENDING' and parked_at is null and environment_id > waiting.environment_id
        order by environment_id limit 1), number + 1
      from waiting where environment_id is not null and number <= ${COUNTED_ENVIRONMENTS}
    ),
    environment as (
      select environment_id, ${COUNTED_PLACES} / count(*) over () + 20 as depth, (
        select count(*) from transcription
        where environment_id = waiting.environment_id and status = 'PROCESSING'
      ) as processing
      from waiting
      where environment_id is not null
        and (select max(number) from waiting) <= ${COUNTED_ENVIRONMENTS}
    )
    select video_id as "videoId", environment_id as "environmentId"
    from environment cross join lateral (
      select video_id, id, since, row_number() over (order by since, id) as turn from (
        select video_id, id, coalesce(due_at, created_at) as since from transcription
        where environment_id = environment.environment_id and status = 'PENDING' and parked_at is null
        order by coalesce(due_at, created_at), id limit environment.depth
      ) as first
    ) as line
    -- Beyond, another environment's line may be cut.
    where processing + turn <= depth + (select min(processing) from environment)
    order by processing + turn, since, id
    limit ${COUNTED_PLACES}
  `.execute(db);
  return new Map(
    rows.map(({ videoId, environmentId }, index) => [videoId, { place: index + 1, environmentId }]),
  );
}

export async function findVideos(db: Db, ids: string[]): Promise<VideoRow[]> {
  if (ids.length === 0) return [];
  return await db.selectFrom("video").selectAll().where("id", "in", ids).execute();
}
