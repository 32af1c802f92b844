import type { Db, Tx } from "./schema.ts";

/** Each counts what an environment has of something that is limited, no further than asked. */

export async function countOpenUploads(db: Db | Tx, environmentId: string, upTo: number): Promise<number> {
  const rows = await db
    .selectFrom("video")
    .select("id")
    .where("environment_id", "=", environmentId)
    .where("uploaded_at", "is", null)
    .limit(upTo)
    .execute();
  return rows.length;
}

export async function countWebhookEndpoints(
  db: Db | Tx,
  environmentId: string,
  upTo: number,
): Promise<number> {
  const rows = await db
    .selectFrom("webhook_endpoint")
    .select("id")
    .where("environment_id", "=", environmentId)
    .limit(upTo)
    .execute();
  return rows.length;
}

/** Of those that open anything: neither revoked nor expired. */
export async function countValidApiKeys(
  db: Db | Tx,
  environmentId: string,
  { now, upTo }: { now: Date; upTo: number },
): Promise<number> {
  const rows = await db
    .selectFrom("api_key")
    .select("id")
    .where("environment_id", "=", environmentId)
    .where("revoked_at", "is", null)
    .where((where) => where.or([where("expires_at", "is", null), where("expires_at", ">", now)]))
    .limit(upTo)
    .execute();
  return rows.length;
}
