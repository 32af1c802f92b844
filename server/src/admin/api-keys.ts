import { DEFAULT_PERMISSIONS } from "@subtext/client/contract/permission";
import { createApiKey } from "../api-keys/api-keys.ts";
import { findApiKey, listApiKeys, pageOfApiKeys, revokeApiKey } from "../api-keys/queries.ts";
import { recordAuditEvent } from "../audit/audit-events.ts";
import type { Db } from "../db/schema.ts";
import { getEnvironment } from "../environments/environments.ts";
import { cutPage, readPageRequest } from "../http/cursor.ts";
import { parseTimestamp } from "../http/timestamp.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { isPlausibleId } from "../lib/ids.ts";
import { defineHandlers } from "./operation.ts";
import { toApiKeyView } from "./serializers.ts";

export function apiKeyHandlers({ db, clock }: { db: Db; clock: Clock }) {
  return defineHandlers({
    "GET /environments/:environment/api-keys": async ({ params, query }) => {
      const environment = await getEnvironment(db, params.environment);
      const { state } = query;
      if (state === undefined) {
        return { data: (await listApiKeys(db, environment.id)).map(toApiKeyView), nextCursor: null };
      }
      const { before, limit } = readPageRequest("key", query);
      const now = clock.now();
      const found = await pageOfApiKeys(db, environment.id, { state, now, before, limit: limit + 1 });
      const { rows, nextCursor } = cutPage(found, limit);
      return { data: rows.map(toApiKeyView), nextCursor };
    },

    "POST /environments/:environment/api-keys": async ({ params, body, auditActor, request }) => {
      const environment = await getEnvironment(db, params.environment);
      const { name = "API key", permissions = [...DEFAULT_PERMISSIONS] } = body;
      const expiresAt = body.expiresAt === undefined ? null : futureDate(body.expiresAt, clock);
      const { id, key } = await db.transaction().execute(async (tx) => {
        const created = await createApiKey(
          { db: tx, clock },
          { environmentId: environment.id, name, permissions, expiresAt },
        );
        await recordAuditEvent({ tx, clock }, auditActor, {
          action: "api_key.created",
          environment,
          subject: { id: created.id, name },
          detail: { permissions, expiresAt: expiresAt?.toISOString() ?? null },
        });
        return created;
      });
      request.log.info({ keyId: id, environmentId: environment.id, permissions }, "API key created");
      return { ...toApiKeyView((await findApiKey(db, id))!), key };
    },

    "DELETE /api-keys/:id": async ({ params: { id }, auditActor, request }) => {
      await db.transaction().execute(async (tx) => {
        const key = isPlausibleId(id) ? await findApiKey(tx, id) : undefined;
        if (!key || !(await revokeApiKey(tx, id, clock.now()))) {
          throw new AppError("api_key_not_found", "There is no API key with this ID.");
        }
        // The key was already revoked, so nothing changed.
        if (key.revoked_at !== null) return;
        await recordAuditEvent({ tx, clock }, auditActor, {
          action: "api_key.revoked",
          environment: await getEnvironment(tx, key.environment_id),
          subject: { id, name: key.name },
        });
      });
      request.log.info({ keyId: id }, "API key revoked");
    },
  });
}

function futureDate(text: string, clock: Clock): Date {
  const date = parseTimestamp(text, "body/expiresAt");
  if (date > clock.now()) return date;
  throw new AppError("invalid_request", "The expiry date must be in the future.");
}
