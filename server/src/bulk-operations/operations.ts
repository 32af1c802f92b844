import { setImmediate as nextTurn } from "node:timers/promises";
import { type AuditActor, recordAuditEvent, SERVICE } from "../audit/audit-events.ts";
import type { AuditAction, BulkOperationKind } from "../db/enums.ts";
import type { Db, Tx } from "../db/schema.ts";
import type { BulkOperationRow } from "../db/tables/videos.ts";
import { findEnvironment } from "../environments/queries.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { newJobId, type Queue } from "../queue/queue.ts";
import {
  countProcessed,
  endOperation,
  findOperation,
  insertOperation,
  type Selection,
  selectBatch,
} from "./queries.ts";

interface OperationDeps {
  db: Db;
  queue: Queue;
  clock: Clock;
}

/**
 * Inserts an operation for the videos that are in the selection now, and enqueues the job of a retry or deletion; a
 * download starts when the client requests its file. Large selections take several transactions. If they are
 * interrupted, the job continues them, and a download does not exist for the client, who has not received its id.
 */
export async function requestOperation(
  { db, queue, clock }: OperationDeps,
  {
    environmentId,
    kind,
    selection,
  }: { environmentId: string; kind: BulkOperationKind; selection: Selection },
  actor: AuditActor,
): Promise<BulkOperationRow> {
  const inserted = await db.transaction().execute(async (tx) => {
    const row = await insertOperation(
      tx,
      {
        id: newId("operation"),
        environment_id: environmentId,
        kind,
        job_id: kind === "download" ? null : newJobId(),
        requested_by: actor.name,
        created_at: clock.now(),
      },
      selection,
    );
    await record({ tx, clock }, actor, "bulk_operation.requested", row);
    if (row.job_id !== null) await queue.send(tx, "bulk", { id: row.job_id, subjectId: row.id });
    return row;
  });
  if (inserted.selection === null) return inserted;
  try {
    await completeSelection(db, inserted.id);
    return (await findOperation(db, environmentId, inserted.id)) ?? inserted;
  } catch (error) {
    if (inserted.job_id === null) throw error;
    return inserted;
  }
}

/** Selects the remaining videos of an operation in several transactions, unless it ends in the meantime. */
export async function completeSelection(db: Db, id: string, signal?: AbortSignal): Promise<void> {
  while (await db.transaction().execute((tx) => selectBatch(tx, id))) {
    signal?.throwIfAborted();
    // Queries of the embedded database never wait, so other requests would get no turn.
    await nextTurn();
  }
}

/**
 * Cancels an operation. Does not affect videos that were already processed, or an operation that has ended.
 * @throws AppError `bulk_operation_not_found`
 */
export async function cancelOperation(
  { db, clock }: Pick<OperationDeps, "db" | "clock">,
  { environmentId, id }: { environmentId: string; id: string },
  actor: AuditActor,
): Promise<BulkOperationRow> {
  const found = await findOperation(db, environmentId, id);
  if (!found) throw noSuchOperation();
  const ended = await finishOperation({ db, clock }, id, { state: "canceled", actor });
  return ended ?? (await findOperation(db, environmentId, id)) ?? found;
}

/**
 * Ends an operation. The caller, the job or the sweep deletes the remaining items.
 * @returns undefined if the operation had already ended
 */
export async function finishOperation(
  { db, clock }: { db: Db; clock: Clock },
  id: string,
  { state, actor = SERVICE }: { state: "completed" | "canceled" | "failed"; actor?: AuditActor },
): Promise<BulkOperationRow | undefined> {
  return await db.transaction().execute(async (tx) => {
    if (!(await countProcessed(tx, id))) return undefined;
    const row = await endOperation(tx, id, { state, now: clock.now() });
    const action = state === "canceled" ? "bulk_operation.canceled" : "bulk_operation.finished";
    await record({ tx, clock }, actor, action, row);
    return row;
  });
}

export function noSuchOperation(): AppError {
  return new AppError(
    "bulk_operation_not_found",
    "This environment has no bulk operation with this ID, or the download link was already used.",
  );
}

async function record(
  { tx, clock }: { tx: Tx; clock: Clock },
  actor: AuditActor,
  action: AuditAction,
  { id, environment_id, kind, state, matched, done, failed, skipped, selection }: BulkOperationRow,
): Promise<void> {
  const environment = await findEnvironment(tx, environment_id);
  const counts = action === "bulk_operation.requested" ? {} : { state, done, failed, skipped };
  await recordAuditEvent({ tx, clock }, actor, {
    action,
    subject: { id, name: null },
    detail: { kind, ...(selection === null && { matched }), ...counts },
    ...(environment && { environment }),
  });
}
