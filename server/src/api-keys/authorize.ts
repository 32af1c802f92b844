import type { Permission } from "@subtext/client/contract/permission";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Db } from "../db/schema.ts";
import { addressGroup } from "../http/client-address.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { logLevelOf } from "../lib/outages.ts";
import { verifyApiKey } from "./api-keys.ts";
import type { KeyRow } from "./key-and-video-queries.ts";
import { touchApiKey } from "./queries.ts";
import type { TokenLimits } from "./token-limits.ts";

/** Minimum interval between updates of a key's last use, so that most requests cause no write. */
const LAST_USE_INTERVAL_MS = 60_000;

export interface Principal<Key extends KeyRow = KeyRow> {
  environmentId: string;
  key: Key;
}

export type Authorize<Key extends KeyRow = KeyRow> = (
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<Principal<Key>>;

export interface AuthorizeDeps<Key extends KeyRow> {
  db: Db;
  clock: Clock;
  limits: TokenLimits;
  /** Reads a key. The same query may also read the requested resource. */
  findKey(id: string, request: FastifyRequest): Promise<Key | undefined>;
}

/**
 * Checks a request in this order: rate limit, key, permission. The caller checks the resource afterwards. Keys are not
 * cached, so that all processes reject a key as soon as one of them revokes it.
 *
 * @param counted whether the request counts toward the key's rate limit
 * @throws AppError `missing_api_key`, `rate_limited`, `invalid_api_key`, `insufficient_permission`
 */
export function requirePermission<Key extends KeyRow>(
  deps: AuthorizeDeps<Key>,
  permission: Permission,
  { counted }: { counted: boolean } = { counted: true },
): Authorize<Key> {
  const { clock } = deps;
  return async (request, reply) => {
    const token = bearerToken(request);
    if (token === null) {
      throw new AppError("missing_api_key", "Send the header `Authorization: Bearer <API_KEY>`.", {
        headers: { "www-authenticate": "Bearer" },
      });
    }
    const findKey = (id: string) => deps.findKey(id, request);
    const presented = { token, address: addressGroup(request.ip), counted };
    const { key, headers } = await deps.limits.verify(presented, () =>
      verifyApiKey({ findKey, clock }, token),
    );
    if (!key) {
      throw new AppError("invalid_api_key", "The API key is unknown, revoked or expired.", {
        headers: { "www-authenticate": 'Bearer error="invalid_token"' },
      });
    }
    reply.headers(headers);
    if (!key.permissions.includes(permission)) {
      throw new AppError("insufficient_permission", `This requires the permission ${permission}.`, {
        headers: { "www-authenticate": 'Bearer error="insufficient_scope"' },
      });
    }
    recordUse(deps, key, request);
    return { environmentId: key.environment_id, key };
  };
}

/** Runs in the background, so that it neither delays the request nor makes it fail. */
function recordUse(
  { db, clock }: { db: Db; clock: Clock },
  { id, last_used_at: lastUsedAt }: KeyRow,
  request: FastifyRequest,
): void {
  const now = clock.now();
  const recordedSince = new Date(now.getTime() - LAST_USE_INTERVAL_MS);
  if (lastUsedAt !== null && lastUsedAt > recordedSince) return;
  touchApiKey(db, id, { now, recordedSince }).catch((error) =>
    request.log[logLevelOf(error, "warn")]({ err: error }, "could not record the key's last use"),
  );
}

export function bearerToken({ headers }: FastifyRequest): string | null {
  return /^Bearer +([^\s]+) *$/i.exec(headers.authorization ?? "")?.[1] ?? null;
}
