import { createHash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { Clock } from "../../clock.ts";
import { ANSWERS_KEPT_MS, findAnswer, saveAnswer, tryHoldIdempotencyKey } from "../../db/idempotency-keys.ts";
import type { Db, Tx } from "../../db/schema.ts";
import { AppError } from "../../errors.ts";

interface JsonAnswer {
  status: number;
  body: string;
}

/**
 * Does a deed in a transaction, once for each `Idempotency-Key`: its answer is recorded with it, so a crash
 * leaves both or neither, and for 24 hours the same request is answered with that record. A deed that fails
 * leaves none, and may be tried again with the same key.
 *
 * @throws AppError `invalid_request`, `idempotency_key_reused`, `idempotency_key_in_use`
 */
export async function answerOnce(
  { db, clock }: { db: Db; clock: Clock },
  { environmentId, request }: { environmentId: string; request: FastifyRequest },
  deed: (tx: Tx) => Promise<JsonAnswer>,
): Promise<JsonAnswer & { repeated: boolean }> {
  const key = readKey(request);
  return await db.transaction().execute(async (tx) => {
    if (key === null) return { ...(await deed(tx)), repeated: false };
    if (!(await tryHoldIdempotencyKey(tx, environmentId, key))) {
      throw new AppError("idempotency_key_in_use", "The first request with this key is still running.", {
        headers: { "retry-after": "1" },
      });
    }
    const fingerprint = fingerprintOf(request);
    const now = clock.now();
    const known = await findAnswer(tx, environmentId, key, new Date(now.getTime() - ANSWERS_KEPT_MS));
    if (known && known.fingerprint !== fingerprint) {
      throw new AppError(
        "idempotency_key_reused",
        "This key came before with another method, address or body. Make a new one for a new deed.",
      );
    }
    if (known) return { status: known.status, body: known.body, repeated: true };
    const answer = await deed(tx);
    await saveAnswer(tx, environmentId, key, { fingerprint, ...answer, now });
    return { ...answer, repeated: false };
  });
}

/** @throws AppError `invalid_request` */
function readKey({ headers }: FastifyRequest): string | null {
  const key = headers["idempotency-key"];
  if (key === undefined) return null;
  if (typeof key === "string" && /^[!-~]{1,255}$/.test(key)) return key;
  throw new AppError(
    "invalid_request",
    "Idempotency-Key has 1 to 255 printable ASCII characters, no spaces.",
  );
}

/** Of the body as it was parsed: its white space makes no difference, the order of its fields does. */
function fingerprintOf({ method, url, body }: FastifyRequest): string {
  const path = url.replace(/\?.*$/s, "");
  return createHash("sha256")
    .update(JSON.stringify([method, path, body ?? null]))
    .digest("hex");
}
