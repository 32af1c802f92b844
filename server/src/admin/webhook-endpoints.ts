import {
  NewWebhookEndpoint,
  WebhookEndpointChange,
  type WebhookEndpointWithSecret,
} from "@subtext/client/contract/webhook-endpoint";
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import { writeDownEndpoint, writeDownEndpointChange } from "../audit/endpoint-deeds.ts";
import type { Db, Tx, WebhookEndpointRow } from "../db/schema.ts";
import { getEnvironment } from "../environments/environments.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { isPlausibleId } from "../lib/ids.ts";
import { representWebhookEndpointWithSecret } from "../resources/resources.ts";
import { countDeliveries, latestDeliveries } from "../webhooks/endpoint-health-queries.ts";
import {
  deleteWebhookEndpoint,
  findWebhookEndpoint,
  listWebhookEndpoints,
} from "../webhooks/endpoint-queries.ts";
import { changeWebhookEndpoint, createWebhookEndpoint, rotateSecret } from "../webhooks/endpoints.ts";
import { type EndpointPolicy, parseEndpointUrl } from "../webhooks/guard-url.ts";
import { authorOf } from "./author.ts";
import { RECENT_HOURS, type UrlVerdictView, type WebhookEndpointView } from "./contract/webhook.ts";
import { viewWebhookEndpoint } from "./views.ts";

interface WebhookEndpointDeps {
  db: Db;
  clock: Clock;
  policy: EndpointPolicy;
}

interface OfEnvironment {
  Params: { environment: string };
}
interface OfEndpoint {
  Params: { id: string };
}

const UrlToJudge = Type.Object({ url: Type.String() }, { additionalProperties: false });

/** What their deliveries are asked for stands in `deliveries.ts`. */
export function registerWebhookEndpoints(
  app: FastifyInstance,
  { db, clock, policy }: WebhookEndpointDeps,
): void {
  app.get<OfEnvironment>(
    "/environments/:environment/webhook-endpoints",
    async (request): Promise<{ data: WebhookEndpointView[] }> => {
      const environment = await getEnvironment(db, request.params.environment);
      const rows = await listWebhookEndpoints(db, environment.id);
      return { data: await viewWithHealth({ db, clock }, rows) };
    },
  );

  app.post<OfEnvironment & { Body: NewWebhookEndpoint }>(
    "/environments/:environment/webhook-endpoints",
    { schema: { body: NewWebhookEndpoint } },
    async (request, reply): Promise<WebhookEndpointWithSecret> => {
      const environment = await getEnvironment(db, request.params.environment);
      const created = await db.transaction().execute(async (tx) => {
        const row = await createWebhookEndpoint(
          { db: tx, clock, policy },
          { environmentId: environment.id, ...request.body },
        );
        await writeDownEndpoint({ tx, clock }, authorOf(request), "webhook_endpoint.created", row);
        return row;
      });
      request.log.info({ endpointId: created.id, environmentId: environment.id }, "webhook endpoint created");
      reply.code(201);
      return representWebhookEndpointWithSecret(created, clock.now());
    },
  );

  app.post<{ Body: Static<typeof UrlToJudge> }>(
    "/webhook-url-verdicts",
    { schema: { body: UrlToJudge } },
    async (request): Promise<UrlVerdictView> => {
      try {
        parseEndpointUrl(request.body.url, policy);
        return { reason: null };
      } catch (error) {
        if (error instanceof AppError && error.code === "webhook_url_rejected")
          return { reason: error.message };
        throw error;
      }
    },
  );

  app.get<OfEndpoint>("/webhook-endpoints/:id", async (request): Promise<WebhookEndpointView> => {
    const row = await getEndpoint(db, request.params.id);
    return (await viewWithHealth({ db, clock }, [row]))[0]!;
  });

  app.patch<OfEndpoint & { Body: WebhookEndpointChange }>(
    "/webhook-endpoints/:id",
    { schema: { body: WebhookEndpointChange } },
    async (request): Promise<WebhookEndpointView> => {
      const changed = await db.transaction().execute(async (tx) => {
        const { id } = await getEndpoint(tx, request.params.id);
        const row = await changeWebhookEndpoint({ tx, clock, policy }, id, request.body);
        await writeDownEndpointChange({ tx, clock }, authorOf(request), row, request.body);
        return row;
      });
      request.log.info({ endpointId: changed.id }, "webhook endpoint changed");
      return (await viewWithHealth({ db, clock }, [changed]))[0]!;
    },
  );

  app.delete<OfEndpoint>("/webhook-endpoints/:id", async (request, reply) => {
    const id = await db.transaction().execute(async (tx) => {
      const row = await getEndpoint(tx, request.params.id);
      if (await deleteWebhookEndpoint(tx, row.id)) {
        await writeDownEndpoint({ tx, clock }, authorOf(request), "webhook_endpoint.deleted", row);
      }
      return row.id;
    });
    request.log.info({ endpointId: id }, "webhook endpoint deleted");
    return await reply.code(204).send();
  });

  // No GET: a secret is an owner's to see, and that somebody saw it is logged.
  app.post<OfEndpoint>("/webhook-endpoints/:id/reveal-secret", async (request) => {
    const row = await getEndpoint(db, request.params.id);
    await writeDownEndpoint({ tx: db, clock }, authorOf(request), "webhook_endpoint.secret_revealed", row);
    request.log.info({ endpointId: row.id }, "signing secret shown");
    return representWebhookEndpointWithSecret(row, clock.now());
  });

  app.post<OfEndpoint>("/webhook-endpoints/:id/rotate-secret", async (request) => {
    const row = await db.transaction().execute(async (tx) => {
      const { id } = await getEndpoint(tx, request.params.id);
      const rotated = await rotateSecret({ tx, clock }, id);
      await writeDownEndpoint({ tx, clock }, authorOf(request), "webhook_endpoint.secret_rotated", rotated);
      return rotated;
    });
    request.log.info({ endpointId: row.id }, "signing secret rotated");
    return representWebhookEndpointWithSecret(row, clock.now());
  });
}

async function viewWithHealth(
  { db, clock }: { db: Db; clock: Clock },
  rows: readonly WebhookEndpointRow[],
): Promise<WebhookEndpointView[]> {
  const now = clock.now();
  const ids = rows.map(({ id }) => id);
  const latest = await latestDeliveries(db, ids);
  const counts = await countDeliveries(db, ids, new Date(now.getTime() - RECENT_HOURS * 3_600_000));
  return rows.map((row) =>
    viewWebhookEndpoint(row, {
      latest: latest.get(row.id),
      counts: counts.filter((each) => each.endpoint_id === row.id),
      now,
    }),
  );
}

/** @throws AppError `webhook_endpoint_not_found` */
export async function getEndpoint(db: Db | Tx, id: string): Promise<WebhookEndpointRow> {
  const row = isPlausibleId(id) ? await findWebhookEndpoint(db, id) : undefined;
  if (!row) throw new AppError("webhook_endpoint_not_found", "There is no webhook endpoint with this id.");
  return row;
}
