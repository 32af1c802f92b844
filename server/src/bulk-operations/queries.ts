import { setImmediate as nextTurn } from "node:timers/promises";
import { sql } from "kysely";
import type { BulkOperationState } from "../db/enums.ts";
import type { Db, Tx } from "../db/schema.ts";
import type { BulkOperationRow, PendingSelection } from "../db/tables/videos.ts";
import { isPlausibleId } from "../lib/ids.ts";
import type { NamedJob } from "../queue/lost-job-queries.ts";
import { selectMatchingIds, type VideoFilter } from "../videos/list-view.ts";

export type Outcome = "done" | "failed" | "skipped";
/** The videos of a request: the listed ones, or all that match a filter. */
export type Selection = { ids: readonly string[] } | { matching: VideoFilter };
const UNFINISHED: readonly BulkOperationState[] = ["queued", "running"];

/** Videos that one transaction examines or deletes the items of. The embedded database runs one transaction at a time. */
const BATCH = 5_000;

/**
 * Inserts an operation with the listed videos, or with the first batch of those that match a filter. Ignores ids of
 * other environments.
 */
export async function insertOperation(
  tx: Tx,
  row: Pick<BulkOperationRow, "id" | "environment_id" | "kind" | "job_id" | "requested_by" | "created_at">,
  selection: Selection,
): Promise<BulkOperationRow> {
  const pending =
    "ids" in selection ? null : await beginSelection(tx, row.environment_id, selection.matching);
  const inserted = await tx
    .insertInto("bulk_operation")
    .values({ ...row, state: "queued", matched: 0, selection: pending && JSON.stringify(pending) })
    .returningAll()
    .executeTakeFirstOrThrow();
  if (!("ids" in selection)) return (await selectBatch(tx, row.id)) ?? inserted;
  const listed = tx
    .selectFrom("video")
    .select("video.id")
    .where("environment_id", "=", row.environment_id)
    .where(sql<boolean>`id = any(${[...selection.ids]}::text[])`);
  return await addVideos(tx, row.id, listed, null);
}

/** Ids of later videos are greater. */
async function beginSelection(
  tx: Tx,
  environmentId: string,
  filter: VideoFilter,
): Promise<PendingSelection | null> {
  const last = await tx
    .selectFrom("video")
    .select("id")
    .where("environment_id", "=", environmentId)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return last ? { filter: JSON.parse(JSON.stringify(filter)), after: "", last: last.id } : null;
}

function parseFilter({ from, until, ...filter }: Record<string, string>): VideoFilter {
  return { ...filter, ...(from && { from: new Date(from) }), ...(until && { until: new Date(until) }) };
}

/**
 * Selects the matching ones of the next videos of the environment, in the order of their ids. Locks the operation, so
 * that it cannot end in the meantime and no other process selects the same videos.
 * @returns undefined if the selection is complete or the operation has ended
 */
export async function selectBatch(tx: Tx, operationId: string): Promise<BulkOperationRow | undefined> {
  const operation = await tx
    .selectFrom("bulk_operation")
    .select(["environment_id", "selection"])
    .where("id", "=", operationId)
    .where("selection", "is not", null)
    .forUpdate()
    .executeTakeFirst();
  if (!operation?.selection) return undefined;
  const { environment_id: environmentId, selection } = operation;
  const { filter, after, last } = selection;
  const end = await tx
    .selectFrom("video")
    .select("id")
    .where("environment_id", "=", environmentId)
    .where("id", ">", after)
    .where("id", "<=", last)
    .orderBy("id")
    .offset(BATCH - 1)
    .limit(1)
    .executeTakeFirst();
  const through = end?.id ?? last;
  const matching = selectMatchingIds(tx, environmentId, parseFilter(filter))
    .where("video.id", ">", after)
    .where("video.id", "<=", through);
  const rest = through === last ? null : { ...selection, after: through };
  return await addVideos(tx, operationId, matching, rest);
}

async function addVideos(
  tx: Tx,
  operationId: string,
  videos: ReturnType<typeof selectMatchingIds>,
  rest: PendingSelection | null,
): Promise<BulkOperationRow> {
  const { numInsertedOrUpdatedRows: added = 0n } = await tx
    .insertInto("bulk_operation_item")
    .columns(["operation_id", "video_id"])
    .expression(
      videos.clearSelect().select([sql.val(operationId).as("operation_id"), "video.id as video_id"]),
    )
    .executeTakeFirstOrThrow();
  return await tx
    .updateTable("bulk_operation")
    .set((set) => ({
      matched: set("matched", "+", Number(added)),
      selection: rest && JSON.stringify(rest),
    }))
    .where("id", "=", operationId)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function findOperation(
  db: Db,
  environmentId: string,
  id: string,
): Promise<BulkOperationRow | undefined> {
  if (!isPlausibleId(id)) return undefined;
  return await db
    .selectFrom("bulk_operation")
    .selectAll()
    .where("id", "=", id)
    .where("environment_id", "=", environmentId)
    .executeTakeFirst();
}

/** Lists the operations that run as a job, newest first. */
export async function listOperations(
  db: Db,
  environmentId: string,
  limit: number,
): Promise<BulkOperationRow[]> {
  return await db
    .selectFrom("bulk_operation")
    .selectAll()
    .where("environment_id", "=", environmentId)
    .where("kind", "!=", "download")
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
}

/**
 * Marks an operation as running. A job may start it several times, because its worker may crash or stop.
 * @returns undefined if the operation has ended or has another job
 */
export async function startOperation(db: Db, { id, jobId }: NamedJob): Promise<BulkOperationRow | undefined> {
  return await db
    .updateTable("bulk_operation")
    .set({ state: "running" })
    .where("id", "=", id)
    .where("job_id", "=", jobId)
    .where("state", "in", UNFINISHED)
    .returningAll()
    .executeTakeFirst();
}

/**
 * Marks a download as running. Returns undefined if it was started or canceled before, does not exist, or its selection
 * was interrupted.
 */
export async function startDownload(
  db: Db,
  environmentId: string,
  id: string,
): Promise<BulkOperationRow | undefined> {
  if (!isPlausibleId(id)) return undefined;
  return await db
    .updateTable("bulk_operation")
    .set({ state: "running" })
    .where("id", "=", id)
    .where("environment_id", "=", environmentId)
    .where("kind", "=", "download")
    .where("state", "=", "queued")
    .where("selection", "is", null)
    .returningAll()
    .executeTakeFirst();
}

/** Lists videos that are not processed yet, oldest first; none if the operation has ended. */
export async function listPendingItems(
  db: Db,
  operationId: string,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  const rows = await db
    .selectFrom("bulk_operation_item")
    .select("video_id")
    .where("operation_id", "=", operationId)
    .where("video_id", ">", after)
    .where("outcome", "is", null)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom("bulk_operation")
          .select("id")
          .where("id", "=", operationId)
          .where("state", "in", UNFINISHED),
      ),
    )
    .orderBy("video_id")
    .limit(limit)
    .execute();
  return rows.map(({ video_id }) => video_id);
}

/**
 * Records the outcome of a video, in the transaction that processes it. Locks the operation, so that it cannot end
 * before this transaction.
 * @returns false if the operation has ended or another worker has processed the video
 */
export async function recordOutcome(
  tx: Tx,
  { operationId, videoId }: { operationId: string; videoId: string },
  outcome: Outcome,
): Promise<boolean> {
  const running = await tx
    .selectFrom("bulk_operation")
    .select("id")
    .where("id", "=", operationId)
    .where("state", "=", "running")
    .forShare()
    .executeTakeFirst();
  if (!running) return false;
  const recorded = await tx
    .updateTable("bulk_operation_item")
    .set({ outcome })
    .where("operation_id", "=", operationId)
    .where("video_id", "=", videoId)
    .where("outcome", "is", null)
    .returning("video_id")
    .executeTakeFirst();
  return recorded !== undefined;
}

/**
 * Locks an operation, adds its processed videos to its counts and deletes their rows.
 * @param batch ids of the first and the last video to count, because a search among all videos of a large operation takes
 *   longer than the batch; all by default
 * @returns undefined if the operation has ended
 */
export async function countProcessed(
  tx: Tx,
  operationId: string,
  batch?: { first: string; last: string },
): Promise<BulkOperationRow | undefined> {
  const unfinished = await tx
    .selectFrom("bulk_operation")
    .select("id")
    .where("id", "=", operationId)
    .where("state", "in", UNFINISHED)
    .forUpdate()
    .executeTakeFirst();
  if (!unfinished) return undefined;
  const { rows } = await sql<BulkOperationRow>`
    with processed as (
      delete from bulk_operation_item where operation_id = ${operationId} and outcome is not null
        ${batch ? sql`and video_id between ${batch.first} and ${batch.last}` : sql``} returning outcome
    ), counted as (
      select count(*) filter (where outcome = 'done') as done, count(*) filter (where outcome = 'failed') as failed,
        count(*) filter (where outcome = 'skipped') as skipped
      from processed
    )
    update bulk_operation as operation set done = operation.done + counted.done,
      failed = operation.failed + counted.failed, skipped = operation.skipped + counted.skipped
    from counted where id = ${operationId}
    returning operation.*`.execute(tx);
  return rows[0]!;
}

/**
 * Ends an operation. Call this only in the same transaction as `countProcessed`, and `deleteRemainingItems` after it.
 */
export async function endOperation(
  tx: Tx,
  id: string,
  { state, now }: { state: Exclude<BulkOperationState, "queued" | "running">; now: Date },
): Promise<BulkOperationRow> {
  return await tx
    .updateTable("bulk_operation")
    .set({ state, finished_at: now, selection: null })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Deletes the videos that an operation has not processed, if it has ended. An operation can have millions of them. */
export async function deleteRemainingItems(db: Db, operationId: string): Promise<void> {
  const ended = await db
    .selectFrom("bulk_operation")
    .select("id")
    .where("id", "=", operationId)
    .where("state", "not in", UNFINISHED)
    .executeTakeFirst();
  if (ended) await deleteItems(db, operationId);
}

/** Deletes items in batches, which other transactions can follow. */
async function deleteItems(db: Db, operationId: string): Promise<void> {
  let deleted = BigInt(BATCH);
  while (deleted === BigInt(BATCH)) {
    ({ numDeletedRows: deleted } = await db
      .deleteFrom("bulk_operation_item")
      .where("operation_id", "=", operationId)
      .where("video_id", "in", (item) =>
        item
          .selectFrom("bulk_operation_item")
          .select("video_id")
          .where("operation_id", "=", operationId)
          .orderBy("video_id")
          .limit(BATCH),
      )
      .executeTakeFirstOrThrow());
    await nextTurn();
  }
}

/**
 * Deletes operations that finished before `finishedBefore`, and downloads that were requested before `requestedBefore`.
 * Also deletes the items that a crash has left to an operation that ended.
 */
export async function deleteOldOperations(
  db: Db,
  { finishedBefore, requestedBefore }: { finishedBefore: Date; requestedBefore: Date },
): Promise<void> {
  const old = await db
    .selectFrom("bulk_operation")
    .select("id")
    .where(({ or, and, eb }) =>
      or([
        eb("finished_at", "<", finishedBefore),
        and([eb("kind", "=", "download"), eb("created_at", "<", requestedBefore)]),
      ]),
    )
    .execute();
  for (const { id } of old) {
    await deleteItems(db, id);
    await db.deleteFrom("bulk_operation").where("id", "=", id).execute();
  }
  const left = await db
    .selectFrom("bulk_operation")
    .select("id")
    .where("finished_at", "is not", null)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom("bulk_operation_item")
          .select("video_id")
          .whereRef("operation_id", "=", "bulk_operation.id"),
      ),
    )
    .execute();
  for (const { id } of left) await deleteItems(db, id);
}

/** Sets the counts of a download, which records no outcomes of single videos. */
export async function setCounts(
  db: Db,
  id: string,
  counts: { done: number; skipped: number },
): Promise<void> {
  await db.updateTable("bulk_operation").set(counts).where("id", "=", id).execute();
}
