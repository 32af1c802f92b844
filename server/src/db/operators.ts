import type { Db, Tx } from "./schema.ts";

export interface NewOperator {
  id: string;
  email: string;
  passwordHash: string;
  now: Date;
}

export async function hasOperator(db: Db | Tx): Promise<boolean> {
  return (await db.selectFrom("operator").select("id").limit(1).executeTakeFirst()) !== undefined;
}

/** False where another process was first. */
export async function insertOperator(
  tx: Tx,
  { id, email, passwordHash, now }: NewOperator,
): Promise<boolean> {
  const times = { created_at: now, updated_at: now };
  const inserted = await tx
    .insertInto("operator")
    .values({ id, name: "Operator", email, email_verified: true, ...times })
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
      ...times,
    })
    .execute();
  return true;
}

/** Gives the operator another password and ends every session that the old one began; false where there is none. */
export async function replacePassword(
  tx: Tx,
  { email, passwordHash, now }: { email: string; passwordHash: string; now: Date },
): Promise<boolean> {
  const operator = await tx.selectFrom("operator").select("id").where("email", "=", email).executeTakeFirst();
  if (!operator) return false;
  await tx
    .updateTable("operator_account")
    .set({ password_hash: passwordHash, updated_at: now })
    .where("operator_id", "=", operator.id)
    .where("provider_id", "=", "credential")
    .execute();
  await tx.deleteFrom("operator_session").where("operator_id", "=", operator.id).execute();
  return true;
}
