import { createHash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { sql } from "kysely";
import type { Db, Tx } from "../db/schema.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";

export const RESPONSE_RETENTION_MS = 24 * 3_600_000;

interface RecordedResponse {
  fingerprint: string;
  status: number;
  /** JSON. */
  body: string;
}

interface JsonResponse {
  status: number;
  body: string;
}

/**
 * Runs an operation once for each `Idempotency-Key`, in a transaction that also records the response. For 24 hours, a
 * repeated request gets the recorded response. A failed operation records nothing, so the client may retry with the
 * same key.
 *
 * @throws AppError `invalid_request`, `idempotency_key_reused`, `idempotency_key_in_use`
 */
export async function runIdempotently(
  { db, clock }: { db: Db; clock: Clock },
  { environmentId, request }: { environmentId: string; request: FastifyRequest },
  operation: (tx: Tx) => Promise<JsonResponse>,
): Promise<JsonResponse & { repeated: boolean }> {
  const key = readIdempotencyKey(request);
  return await db.transaction().execute(async (tx) => {
    if (key === null) return { ...(await operation(tx)), repeated: false };
    await lockIdempotencyKey(tx, environmentId, key);
    const fingerprint = fingerprintRequest(request, request.body);
    const now = clock.now();
    const known = await findRecordedResponse(tx, { environmentId, key, fingerprint, now });
    if (known) return { status: known.status, body: known.body, repeated: true };
    const response = await operation(tx);
    await recordResponse(tx, environmentId, key, { fingerprint, ...response, now });
    return { ...response, repeated: false };
  });
}

/**
 * Returns the response that `runIdempotently` would repeat; undefined if the operation must run.
 * @throws AppError `invalid_request`, `idempotency_key_reused`
 */
export async function findRepeated(
  { db, clock }: { db: Db; clock: Clock },
  { environmentId, request }: { environmentId: string; request: FastifyRequest },
): Promise<(JsonResponse & { repeated: boolean }) | undefined> {
  const key = readIdempotencyKey(request);
  if (key === null) return undefined;
  const fingerprint = fingerprintRequest(request, request.body);
  const known = await findRecordedResponse(db, { environmentId, key, fingerprint, now: clock.now() });
  return known && { status: known.status, body: known.body, repeated: true };
}

/**
 * Locks the key until the transaction ends.
 * @throws AppError `idempotency_key_in_use`
 */
export async function lockIdempotencyKey(tx: Tx, environmentId: string, key: string): Promise<void> {
  if (await tryLockIdempotencyKey(tx, environmentId, key)) return;
  throw new AppError("idempotency_key_in_use", "The first request with this key is still running.", {
    headers: { "retry-after": "1" },
  });
}

/**
 * Returns the response to the first request with this key, or undefined if this is the first.
 * @throws AppError `idempotency_key_reused`
 */
export async function findRecordedResponse(
  db: Db | Tx,
  {
    environmentId,
    key,
    fingerprint,
    now,
  }: { environmentId: string; key: string; fingerprint: string; now: Date },
): Promise<RecordedResponse | undefined> {
  const known = await selectResponse(db, environmentId, key, new Date(now.getTime() - RESPONSE_RETENTION_MS));
  if (!known || known.fingerprint === fingerprint) return known;
  throw new AppError(
    "idempotency_key_reused",
    "This key was used with a different request. Use a new key for each operation.",
  );
}

/** @throws AppError `invalid_request` */
export function readIdempotencyKey({ headers }: FastifyRequest): string | null {
  const key = headers["idempotency-key"];
  if (key === undefined) return null;
  if (typeof key === "string" && /^[!-~]{1,255}$/.test(key)) return key;
  throw new AppError(
    "invalid_request",
    "Idempotency-Key must have 1 to 255 printable ASCII characters and no spaces.",
  );
}

/** @param content the parsed body; whitespace does not matter, but the order of fields does */
export function fingerprintRequest({ method, url }: FastifyRequest, content: unknown): string {
  const path = url.replace(/\?.*$/s, "");
  return createHash("sha256")
    .update(JSON.stringify([method, path, content ?? null]))
    .digest("hex");
}

/** Locks the key until the transaction ends. Returns false if another transaction holds it. */
async function tryLockIdempotencyKey(tx: Tx, environmentId: string, key: string): Promise<boolean> {
  const { rows } = await sql<{ held: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${`${environmentId} ${key}`}, 0)) as held`.execute(tx);
  return rows[0]?.held === true;
}

async function selectResponse(
  db: Db | Tx,
  environmentId: string,
  key: string,
  since: Date,
): Promise<RecordedResponse | undefined> {
  return await db
    .selectFrom("idempotency_key")
    .select(["fingerprint", "status", "body"])
    .where("environment_id", "=", environmentId)
    .where("key", "=", key)
    .where("created_at", ">", since)
    .executeTakeFirst();
}

export async function recordResponse(
  tx: Tx,
  environmentId: string,
  key: string,
  response: RecordedResponse & { now: Date },
): Promise<void> {
  const { now, ...recorded } = response;
  await tx
    .insertInto("idempotency_key")
    .values({ environment_id: environmentId, key, ...recorded, created_at: now })
    .onConflict((conflict) =>
      conflict.columns(["environment_id", "key"]).doUpdateSet({ ...recorded, created_at: now }),
    )
    .execute();
}

export async function deleteResponses(db: Db, before: Date): Promise<void> {
  await db.deleteFrom("idempotency_key").where("created_at", "<=", before).execute();
}
