import type { ActorKind, AuditAction } from "../db/enums.ts";
import type { Db, Tx } from "../db/schema.ts";
import type { AuditEventRow, NewAuditEvent } from "../db/tables/operators.ts";

/** Small, because a deletion blocks all other queries on the embedded database. */
const DELETE_BATCH = 5_000;

export async function insertAuditEvent(tx: Db | Tx, row: NewAuditEvent): Promise<void> {
  await tx.insertInto("audit_event").values(row).execute();
}

export interface AuditFilter {
  action: AuditAction | null;
  actorKind: ActorKind | null;
  actorId: string | null;
}

/** Returns at most `limit` events, newest first; `before` is an id. */
export async function pageOfAuditEvents(
  db: Db,
  { action, actorKind, actorId }: AuditFilter,
  { before, limit }: { before: string | null; limit: number },
): Promise<AuditEventRow[]> {
  return await db
    .selectFrom("audit_event")
    .selectAll()
    .$if(action !== null, (query) => query.where("action", "=", action!))
    .$if(actorKind !== null, (query) => query.where("actor_kind", "=", actorKind!))
    .$if(actorId !== null, (query) => query.where("actor_id", "=", actorId!))
    .$if(before !== null, (query) => query.where("id", "<", before!))
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
}

/** Lists all operators in the log, including removed ones, with their latest names. */
export async function listAuditOperators(db: Db): Promise<{ id: string; name: string | null }[]> {
  const rows = await db
    .selectFrom("audit_event")
    .select(["actor_id", "actor_name"])
    .distinctOn("actor_id")
    .where("actor_kind", "=", "operator")
    .where("actor_id", "is not", null)
    .orderBy("actor_id")
    .orderBy("id", "desc")
    .execute();
  return rows.map(({ actor_id, actor_name }) => ({ id: actor_id!, name: actor_name }));
}

/** @returns the number of deleted events, at most one batch */
export async function deleteAuditEvents(db: Db, before: Date): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom("audit_event")
    .where("id", "in", (query) =>
      query.selectFrom("audit_event").select("id").where("at", "<", before).orderBy("at").limit(DELETE_BATCH),
    )
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
