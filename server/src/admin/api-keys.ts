import { PAGE_QUERY } from "@subtext/client/contract/page";
import { PERMISSIONS } from "@subtext/client/contract/permission";
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import { createApiKey } from "../api-keys/api-keys.ts";
import { findApiKey, listApiKeys, pageOfApiKeys, revokeApiKey } from "../api-keys/queries.ts";
import { writeDown } from "../audit/audit.ts";
import { API_KEY_STATES } from "../db/enums.ts";
import type { Db } from "../db/schema.ts";
import { getEnvironment } from "../environments/environments.ts";
import { cutPage, readPageRequest } from "../http/cursor.ts";
import { readMoment } from "../http/timestamp.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { isPlausibleId } from "../lib/ids.ts";
import { authorOf } from "./author.ts";
import type { ApiKeyPageView, NewApiKeyView } from "./contract/api-key.ts";
import { viewApiKey } from "./views.ts";

const NewApiKey = Type.Object(
  {
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 100, pattern: "^[^\\u0000]*$" })),
    permissions: Type.Optional(Type.Array(Type.Enum(PERMISSIONS), { minItems: 1, uniqueItems: true })),
    expiresAt: Type.Optional(Type.String({ format: "date-time" })),
  },
  { additionalProperties: false },
);

/** Without a state all of them are told, oldest first. */
const ListQuery = Type.Object({ ...PAGE_QUERY, state: Type.Optional(Type.Enum(API_KEY_STATES)) });

export function registerApiKeys(app: FastifyInstance, { db, clock }: { db: Db; clock: Clock }): void {
  app.get<{ Params: { environment: string }; Querystring: Static<typeof ListQuery> }>(
    "/environments/:environment/api-keys",
    { schema: { querystring: ListQuery } },
    async (request): Promise<ApiKeyPageView> => {
      const environment = await getEnvironment(db, request.params.environment);
      const { state } = request.query;
      if (state === undefined) {
        return { data: (await listApiKeys(db, environment.id)).map(viewApiKey), nextCursor: null };
      }
      const { before, limit } = readPageRequest(request.query);
      const now = clock.now();
      const found = await pageOfApiKeys(db, environment.id, { state, now, before, limit: limit + 1 });
      const { rows, nextCursor } = cutPage(found, limit);
      return { data: rows.map(viewApiKey), nextCursor };
    },
  );

  app.post<{ Params: { environment: string }; Body: Static<typeof NewApiKey> }>(
    "/environments/:environment/api-keys",
    { schema: { body: NewApiKey } },
    async (request, reply): Promise<NewApiKeyView> => {
      const environment = await getEnvironment(db, request.params.environment);
      const { name = "API key", permissions = ["get_video", "create_video"], expiresAt } = request.body;
      const ends = expiresAt === undefined ? null : futureDate(expiresAt, clock);
      const { id, key } = await db.transaction().execute(async (tx) => {
        const made = await createApiKey(
          { db: tx, clock },
          { environmentId: environment.id, name, permissions, expiresAt: ends },
        );
        await writeDown({ tx, clock }, authorOf(request), {
          action: "api_key.created",
          environment,
          subject: { id: made.id, name },
          detail: { permissions, expiresAt: ends?.toISOString() ?? null },
        });
        return made;
      });
      request.log.info({ keyId: id, environmentId: environment.id, permissions }, "API key created");
      reply.code(201);
      return { ...viewApiKey((await findApiKey(db, id))!), key };
    },
  );

  app.delete<{ Params: { id: string } }>("/api-keys/:id", async (request, reply) => {
    const { id } = request.params;
    await db.transaction().execute(async (tx) => {
      const key = isPlausibleId(id) ? await findApiKey(tx, id) : undefined;
      if (!key || !(await revokeApiKey(tx, id, clock.now()))) {
        throw new AppError("api_key_not_found", "There is no API key with this id.");
      }
      // Revoking it again changes nothing.
      if (key.revoked_at !== null) return;
      await writeDown({ tx, clock }, authorOf(request), {
        action: "api_key.revoked",
        environment: await getEnvironment(tx, key.environment_id),
        subject: { id, name: key.name },
      });
    });
    request.log.info({ keyId: id }, "API key revoked");
    return await reply.code(204).send();
  });
}

function futureDate(text: string, clock: Clock): Date {
  const date = readMoment(text, "expiresAt");
  if (date > clock.now()) return date;
  throw new AppError("invalid_request", "A key can not end in the past: `expiresAt` must lie in the future.");
}
