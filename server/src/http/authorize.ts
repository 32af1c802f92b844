import type { Permission } from "@subtext/client/contract/permission";
import type { FastifyReply, FastifyRequest } from "fastify";
import { verifyApiKey } from "../api-keys.ts";
import type { Clock } from "../clock.ts";
import { touchApiKey } from "../db/api-keys.ts";
import type { Db } from "../db/schema.ts";
import { AppError } from "../errors.ts";
import type { RateLimiter } from "./rate-limit.ts";

export interface Principal {
  environmentId: string;
  keyId: string;
}

export type Authorize = (request: FastifyRequest, reply: FastifyReply) => Promise<Principal>;

/**
 * Checks of a request, in the order key, rate, permission; the resource comes after.
 * @throws AppError `missing_api_key`, `invalid_api_key`, `rate_limited`, `insufficient_permission`
 */
export function authorizeWith(
  deps: { db: Db; clock: Clock; limiter: RateLimiter | null },
  permission: Permission,
): Authorize {
  return async (request, reply) => {
    const key = await verifyApiKey(deps, bearerToken(request));
    if (!key) {
      throw new AppError("invalid_api_key", "The API key is unknown, revoked or expired.", {
        headers: { "www-authenticate": 'Bearer error="invalid_token"' },
      });
    }
    if (deps.limiter) {
      const { allowed, headers } = deps.limiter.take(key.id);
      if (!allowed) {
        throw new AppError("rate_limited", "This API key has sent too many requests; wait and try again.", {
          headers,
        });
      }
      reply.headers(headers);
    }
    if (!key.permissions.includes(permission)) {
      throw new AppError("insufficient_permission", `This needs the permission ${permission}.`, {
        headers: { "www-authenticate": 'Bearer error="insufficient_scope"' },
      });
    }
    touchApiKey(deps.db, key.id, deps.clock.now()).catch((error) =>
      request.log.warn({ err: error }, "the key's last use could not be written"),
    );
    return { environmentId: key.environment_id, keyId: key.id };
  };
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
