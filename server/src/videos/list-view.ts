import { type Expression, type RawBuilder, type SqlBool, sql } from "kysely";
import type { SortDirection, VideoSort, VideoState } from "../db/enums.ts";
import type { Db, Tx } from "../db/schema.ts";
import type { VideoRow } from "../db/tables/videos.ts";
import { isPlausibleId } from "../lib/ids.ts";

export interface VideoFilter {
  state?: VideoState;
  language?: string;
  /** Code of the failure of a FAILED transcription. */
  failure?: string;
  /** Videos created at this time or later. */
  from?: Date;
  /** Videos created before this time. */
  until?: Date;
  /** Part of the name or another metadata value, or the full ID of the video or its transcription. */
  text?: string;
}

export interface VideoOrder {
  by: VideoSort;
  direction: SortDirection;
}

/** The last video of a page. `value` is what the order compares; null for videos without one, which come last. */
export interface Position {
  value: string | number | null;
  id: string;
}

export type ListedVideo = VideoRow & { position: Position };

/**
 * Lists an environment's videos after a position. `uploaded` sorts by ID, which is the order in which uploads began. Videos
 * without a duration or word count come last in both directions, newest first.
 */
export async function listMatchingVideos(
  db: Db,
  environmentId: string,
  {
    filter,
    order,
    after,
    limit,
  }: { filter: VideoFilter; order: VideoOrder; after: Position | null; limit: number },
): Promise<ListedVideo[]> {
  const matching = () =>
    db
      .selectFrom("video")
      .leftJoin("transcription", "transcription.video_id", "video.id")
      .selectAll("video")
      .where("video.environment_id", "=", environmentId)
      .where(({ and }) => and(conditionsOf(filter)))
      .limit(limit);
  // Uses the status index, because scanning all videos would be slow for a rare status.
  const id =
    filterStatus(filter) === null ? sql.ref<string>("video.id") : sql.ref<string>("transcription.video_id");
  const inStatus = () =>
    matching().$if(filterStatus(filter) !== null, (query) =>
      query.where("transcription.environment_id", "=", environmentId),
    );
  const { by, direction } = order;
  const beyond = direction === "asc" ? sql`>` : sql`<`;
  const inDirection = sql.raw<never>(direction);

  if (by === "uploaded") {
    const rows = await inStatus()
      .$if(after !== null, (query) => query.where(sql<boolean>`${id} ${beyond} ${after!.id}`))
      .orderBy(sql`${id} ${inDirection}`)
      .execute();
    return rows.map((row) => ({ ...row, position: { value: null, id: row.id } }));
  }
  if (by === "name") {
    const rows = await matching()
      .select(NAME_KEY.as("order_value"))
      .$if(after !== null, (query) =>
        query.where(
          sql<boolean>`(${NAME_KEY}, video.id) ${beyond} (${after!.value} collate "C", ${after!.id})`,
        ),
      )
      .orderBy(sql`${NAME_KEY} ${inDirection}`)
      .orderBy(sql`video.id ${inDirection}`)
      .execute();
    return rows.map(withPosition);
  }

  const value = sql.ref<number | null>(`transcription.${by === "duration" ? "duration" : "word_count"}`);
  const measured: ListedVideo[] = [];
  if (after === null || after.value !== null) {
    const rows = await matching()
      .select(value.as("order_value"))
      .where("transcription.environment_id", "=", environmentId)
      .where(sql<boolean>`${value} is not null`)
      .$if(after !== null, (query) =>
        query.where(
          sql<boolean>`(${value}, transcription.video_id) ${beyond} (${after!.value}, ${after!.id})`,
        ),
      )
      .orderBy(sql`${value} ${inDirection}`)
      .orderBy(sql`transcription.video_id ${inDirection}`)
      .execute();
    measured.push(...rows.map(withPosition));
    if (measured.length === limit) return measured;
  }
  // Each of the three kinds of video without a value has its own index.
  const before = after?.value === null ? after.id : null;
  const ofKind = async (kind: "uploading" | "untranscribed" | "transcription") =>
    await matching()
      .$if(kind === "uploading", (query) => query.where("video.uploaded_at", "is", null))
      .$if(kind === "untranscribed", (query) => query.where(sql<boolean>`video.ai_transcription is false`))
      .$if(kind === "transcription", (query) =>
        query.where("transcription.environment_id", "=", environmentId).where(sql<boolean>`${value} is null`),
      )
      .$if(before !== null, (query) =>
        query.where(kind === "transcription" ? "transcription.video_id" : "video.id", "<", before!),
      )
      .orderBy(kind === "transcription" ? "transcription.video_id" : "video.id", "desc")
      .execute();
  const unmeasured = [
    ...(await ofKind("uploading")),
    ...(await ofKind("untranscribed")),
    ...(await ofKind("transcription")),
  ].sort((a, b) => (a.id < b.id ? 1 : -1));
  return [...measured, ...unmeasured.map((row) => ({ ...row, position: { value: null, id: row.id } }))].slice(
    0,
    limit,
  );
}

/** Must match the expression of the index `video_environment_name`. */
const NAME_KEY: RawBuilder<string> = sql`left(lower(coalesce(video.metadata->>'filename', video.metadata->>'name', video.id)), 200) collate "C"`;

function withPosition<Row extends VideoRow & { order_value: string | number | null }>({
  order_value: value,
  ...row
}: Row): ListedVideo {
  return { ...(row as VideoRow), position: { value, id: row.id } };
}

const STATUSES = {
  pending: "PENDING",
  processing: "PROCESSING",
  completed: "COMPLETED",
  failed: "FAILED",
  skipped: "SKIPPED",
} as const;

function filterStatus({ state, failure }: VideoFilter): (typeof STATUSES)[keyof typeof STATUSES] | null {
  if (state === undefined) return failure === undefined ? null : "FAILED";
  return state === "uploading" || state === "untranscribed" ? null : STATUSES[state];
}

function conditionsOf(filter: VideoFilter): Expression<SqlBool>[] {
  const { state, language, failure, from, until, text } = filter;
  const status = filterStatus(filter);
  return [
    state === "uploading" && sql<SqlBool>`video.uploaded_at is null`,
    state === "untranscribed" && sql<SqlBool>`video.ai_transcription is false`,
    status !== null && sql<SqlBool>`transcription.status = ${status}`,
    language !== undefined && sql<SqlBool>`transcription.language = ${language}`,
    failure !== undefined &&
      sql<SqlBool>`transcription.status = 'FAILED' and transcription.failure_code = ${failure}`,
    from !== undefined && sql<SqlBool>`video.created_at >= ${from}`,
    until !== undefined && sql<SqlBool>`video.created_at < ${until}`,
    text !== undefined && containsText(text),
  ].filter((condition) => condition !== false);
}

/**
 * The first condition on metadata can use the index `video_metadata_text`. It excludes most videos without reading each
 * value.
 */
function containsText(text: string): Expression<SqlBool> {
  const inJson = likePattern(JSON.stringify(text).slice(1, -1));
  const inMetadata = sql<SqlBool>`(video.metadata::text ilike ${inJson} and exists (
    select from jsonb_each_text(video.metadata) as entry where entry.value ilike ${likePattern(text)}))`;
  if (!isPlausibleId(text)) return inMetadata;
  // A condition on a column of `transcription` would prevent the use of the indexes.
  return sql<SqlBool>`(video.id = ${text}
    or video.id = (select found.video_id from transcription as found where found.id = ${text})
    or ${inMetadata})`;
}

function likePattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, "\\$&")}%`;
}

export function selectMatchingIds(db: Db | Tx, environmentId: string, filter: VideoFilter) {
  return db
    .selectFrom("video")
    .leftJoin("transcription", "transcription.video_id", "video.id")
    .select("video.id")
    .where("video.environment_id", "=", environmentId)
    .where(({ and }) => and(conditionsOf(filter)))
    .$if(filterStatus(filter) !== null, (query) =>
      query.where("transcription.environment_id", "=", environmentId),
    );
}

export async function countMatchingVideos(
  db: Db,
  environmentId: string,
  filter: VideoFilter,
): Promise<number> {
  const { count } = await db
    .selectFrom(selectMatchingIds(db, environmentId, filter).as("matching"))
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Returns the values that the list's filters offer. */
export async function listFilterValues(
  db: Db,
  environmentId: string,
): Promise<{ languages: string[]; failures: string[] }> {
  // Reads one index entry per language instead of every row.
  const { rows: languages } = await sql<{ value: string }>`
    with recursive found as (
      (select language from transcription where environment_id = ${environmentId} and language is not null
        order by language limit 1)
      union all
      select (select language from transcription
        where environment_id = ${environmentId} and language > found.language order by language limit 1)
      from found where found.language is not null
    )
    select language as value from found where language is not null`.execute(db);
  const failures = await db
    .selectFrom("transcription")
    .select("failure_code")
    .distinct()
    .where("environment_id", "=", environmentId)
    .where("status", "=", "FAILED")
    .where("failure_code", "is not", null)
    .orderBy("failure_code")
    .execute();
  return {
    languages: languages.map(({ value }) => value),
    failures: failures.map(({ failure_code }) => failure_code!),
  };
}
