import type { EnvironmentRole, OperatorAccess } from "../db/enums.ts";
import type { Db, Tx } from "../db/schema.ts";
import type {
  NewOperatorInvitation,
  OperatorInvitationRow,
  OperatorRow,
  OperatorSessionRow,
} from "../db/tables/operators.ts";

export type Operator = OperatorRow & OperatorAccess;

export interface NewOperator extends OperatorAccess {
  id: string;
  name: string;
  /** Lowercase. */
  email: string;
  passwordHash: string;
  now: Date;
}

export async function hasOperator(db: Db | Tx): Promise<boolean> {
  return (await db.selectFrom("operator").select("id").limit(1).executeTakeFirst()) !== undefined;
}

export async function listOperators(db: Db): Promise<Operator[]> {
  const rows = await db.selectFrom("operator").selectAll().orderBy("created_at").orderBy("id").execute();
  const memberships = Map.groupBy(await selectMemberships(db).execute(), (row) => row.operator_id);
  return rows.map((row) => ({ ...row, environments: memberships.get(row.id)?.map(toEnvironmentRole) ?? [] }));
}

/** Oldest environments first. */
export async function listMemberships(db: Db, operatorId: string): Promise<EnvironmentRole[]> {
  const rows = await selectMemberships(db).where("operator_id", "=", operatorId).execute();
  return rows.map(toEnvironmentRole);
}

function selectMemberships(db: Db) {
  return db
    .selectFrom("operator_membership as membership")
    .innerJoin("environment", "environment.id", "membership.environment_id")
    .select(["operator_id", "environment.id", "environment.name", "membership.role"])
    .orderBy("environment.created_at")
    .orderBy("environment.id");
}

function toEnvironmentRole({ id, name, role }: EnvironmentRole): EnvironmentRole {
  return { id, name, role };
}

/** Returns false if the email is taken. */
export async function insertOperator(
  tx: Tx,
  { id, name, email, role, environments, passwordHash, now }: NewOperator,
): Promise<boolean> {
  const timestamps = { created_at: now, updated_at: now };
  const inserted = await tx
    .insertInto("operator")
    .values({ id, name, email, role, email_verified: true, ...timestamps })
    .onConflict((conflict) => conflict.column("email").doNothing())
    .returning("id")
    .executeTakeFirst();
  if (!inserted) return false;
  await tx
    .insertInto("operator_account")
    .values({
      id,
      operator_id: id,
      provider_id: "credential",
      account_id: id,
      password_hash: passwordHash,
      ...timestamps,
    })
    .execute();
  await insertMemberships(tx, id, environments);
  return true;
}

async function insertMemberships(
  tx: Tx,
  operatorId: string,
  environments: readonly EnvironmentRole[],
): Promise<void> {
  if (environments.length === 0) return;
  await tx
    .insertInto("operator_membership")
    .values(environments.map(({ id, role }) => ({ operator_id: operatorId, environment_id: id, role })))
    .execute();
}

/** @returns the operator before the change */
export async function replaceAccess(
  tx: Tx,
  id: string,
  { role, environments, now }: OperatorAccess & { now: Date },
): Promise<Operator | "not_found" | "last_owner"> {
  const found = await lockOperator(tx, id);
  if (!found) return "not_found";
  if (found.isLastOwner && role !== "owner") return "last_owner";
  await tx.updateTable("operator").set({ role, updated_at: now }).where("id", "=", id).execute();
  await tx.deleteFrom("operator_membership").where("operator_id", "=", id).execute();
  await insertMemberships(tx, id, environments);
  return found.operator;
}

/** Replaces the operator's password and ends all their sessions. */
export async function replacePassword(
  tx: Tx,
  { operatorId, passwordHash, now }: { operatorId: string; passwordHash: string; now: Date },
): Promise<void> {
  await tx
    .updateTable("operator_account")
    .set({ password_hash: passwordHash, updated_at: now })
    .where("operator_id", "=", operatorId)
    .where("provider_id", "=", "credential")
    .execute();
  await tx.deleteFrom("operator_session").where("operator_id", "=", operatorId).execute();
}

/**
 * Deletes the operator and all their sessions. If two owners delete each other at the same time, the second deletion
 * fails.
 * @returns the deleted operator
 */
export async function deleteOperator(tx: Tx, id: string): Promise<Operator | "not_found" | "last_owner"> {
  const found = await lockOperator(tx, id);
  if (!found) return "not_found";
  if (found.isLastOwner) return "last_owner";
  await tx.deleteFrom("operator").where("id", "=", id).execute();
  return found.operator;
}

/** Locks an operator and all owners until the transaction ends, so that neither can change after they are read. */
async function lockOperator(
  tx: Tx,
  id: string,
): Promise<{ operator: Operator; isLastOwner: boolean } | undefined> {
  const locked = await tx
    .selectFrom("operator")
    .selectAll()
    .where((where) => where.or([where("role", "=", "owner"), where("id", "=", id)]))
    .orderBy("id")
    .forUpdate()
    .execute();
  const row = locked.find((each) => each.id === id);
  if (!row) return undefined;
  const isLastOwner = row.role === "owner" && locked.length === 1;
  return { operator: { ...row, environments: await listMemberships(tx, id) }, isLastOwner };
}

/** Stores the hash of the setup link's token, replacing any previous one. */
export async function replaceSetupToken(db: Db, tokenHash: string): Promise<void> {
  await db
    .insertInto("service_secret")
    .values({ name: "set_up", value: tokenHash })
    .onConflict((conflict) => conflict.column("name").doUpdateSet({ value: tokenHash }))
    .execute();
}

/** Lists unexpired sessions, most recently used first. */
export async function listSessions(db: Db, operatorId: string, now: Date): Promise<OperatorSessionRow[]> {
  return await db
    .selectFrom("operator_session")
    .selectAll()
    .where("operator_id", "=", operatorId)
    .where("expires_at", ">", now)
    .orderBy("updated_at", "desc")
    .execute();
}

export async function endSessions(
  db: Db,
  operatorId: string,
  which: { id: string } | { except: string },
): Promise<void> {
  await db
    .deleteFrom("operator_session")
    .where("operator_id", "=", operatorId)
    .where("id", "id" in which ? "=" : "<>", "id" in which ? which.id : which.except)
    .execute();
}

/** Consumes the setup token. Returns false if it is wrong or was already used. */
export async function consumeSetupToken(tx: Tx, tokenHash: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom("service_secret")
    .where("name", "=", "set_up")
    .where("value", "=", tokenHash)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}

/** Replaces any earlier invitation to the same email address. */
export async function insertInvitation(db: Db, row: NewOperatorInvitation): Promise<OperatorInvitationRow> {
  return await db
    .insertInto("operator_invitation")
    .values(row)
    .onConflict((conflict) => conflict.column("email").doUpdateSet(row))
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function listInvitations(db: Db, now: Date): Promise<OperatorInvitationRow[]> {
  return await db
    .selectFrom("operator_invitation")
    .selectAll()
    .where("expires_at", ">", now)
    .orderBy("created_at")
    .execute();
}

/** Returns the email address that was invited, or undefined if there is no such invitation. */
export async function deleteInvitation(db: Db, id: string): Promise<string | undefined> {
  const row = await db
    .deleteFrom("operator_invitation")
    .where("id", "=", id)
    .returning("email")
    .executeTakeFirst();
  return row?.email;
}

export async function findInvitation(
  db: Db,
  tokenHash: string,
  now: Date,
): Promise<OperatorInvitationRow | undefined> {
  return await db
    .selectFrom("operator_invitation")
    .selectAll()
    .where("token_hash", "=", tokenHash)
    .where("expires_at", ">", now)
    .executeTakeFirst();
}

/** Consumes an invitation. Returns undefined if it has been used or revoked, or has expired. */
export async function consumeInvitation(
  tx: Tx,
  tokenHash: string,
  now: Date,
): Promise<OperatorInvitationRow | undefined> {
  return await tx
    .deleteFrom("operator_invitation")
    .where("token_hash", "=", tokenHash)
    .where("expires_at", ">", now)
    .returningAll()
    .executeTakeFirst();
}
