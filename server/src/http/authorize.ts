import type { Permission } from "@subtext/client/contract/permission";
import type { FastifyReply, FastifyRequest } from "fastify";
import { verifyApiKey } from "../api-keys.ts";
import type { Clock } from "../clock.ts";
import { touchApiKey } from "../db/api-keys.ts";
import type { KeyRow } from "../db/keyed-videos.ts";
import type { Db } from "../db/schema.ts";
import { AppError } from "../errors.ts";
import type { RateLimiter } from "./rate-limit.ts";

/** How exact the time of a key's last use is: reads must not become writes. */
const LAST_USE_EVERY_MS = 60_000;

/** Whom a request comes from. */
export interface Principal<Key extends KeyRow = KeyRow> {
  environmentId: string;
  /** With whatever was read along with it. */
  key: Key;
}

export type Authorize<Key extends KeyRow = KeyRow> = (
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<Principal<Key>>;

export interface AuthorizeDeps<Key extends KeyRow> {
  db: Db;
  clock: Clock;
  limiter: RateLimiter;
  /** Reads a key, and what the request asks for where that is read along with it. */
  findKey(id: string, request: FastifyRequest): Promise<Key | undefined>;
}

/**
 * Checks of a request, in the order key, rate, permission; the resource comes after. The key is read anew by
 * every request, so what was revoked by any process is refused by all from then on.
 *
 * @param counted whether the request is one of those that the rate of a key limits
 * @throws AppError `missing_api_key`, `invalid_api_key`, `rate_limited`, `insufficient_permission`
 */
export function authorizeWith<Key extends KeyRow>(
  deps: AuthorizeDeps<Key>,
  permission: Permission,
  { counted }: { counted: boolean } = { counted: true },
): Authorize<Key> {
  const { clock } = deps;
  return async (request, reply) => {
    const findKey = (id: string) => deps.findKey(id, request);
    const key = await verifyApiKey({ findKey, clock }, bearerToken(request));
    if (!key) {
      throw new AppError("invalid_api_key", "The API key is unknown, revoked or expired.", {
        headers: { "www-authenticate": 'Bearer error="invalid_token"' },
      });
    }
    const { allowed, headers } = counted ? deps.limiter.take(key.id) : deps.limiter.look(key.id);
    reply.headers(headers);
    if (!allowed) {
      throw new AppError("rate_limited", "This API key has sent too many requests; wait and try again.");
    }
    if (!key.permissions.includes(permission)) {
      throw new AppError("insufficient_permission", `This needs the permission ${permission}.`, {
        headers: { "www-authenticate": 'Bearer error="insufficient_scope"' },
      });
    }
    noteUse(deps, key, request);
    return { environmentId: key.environment_id, key };
  };
}

/** Beside the request, which neither waits for it nor fails with it. */
function noteUse(
  { db, clock }: { db: Db; clock: Clock },
  { id, last_used_at: lastUsedAt }: KeyRow,
  request: FastifyRequest,
): void {
  const now = clock.now();
  const notedSince = new Date(now.getTime() - LAST_USE_EVERY_MS);
  if (lastUsedAt !== null && lastUsedAt > notedSince) return;
  touchApiKey(db, id, { now, notedSince }).catch((error) =>
    request.log.warn({ err: error }, "the key's last use could not be written"),
  );
}

function bearerToken(request: FastifyRequest): string {
  const match = /^Bearer +([^\s]+) *$/i.exec(request.headers.authorization ?? "");
  if (!match?.[1]) {
    throw new AppError("missing_api_key", "Send the header `Authorization: Bearer <API_KEY>`.", {
      headers: { "www-authenticate": "Bearer" },
    });
  }
  return match[1];
}
