import { recordEndpointChange, recordEndpointEvent } from "../audit/audit-events.ts";
import type { Db, Tx } from "../db/schema.ts";
import type { WebhookEndpointRow } from "../db/tables/webhooks.ts";
import { getEnvironment } from "../environments/environments.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { isPlausibleId } from "../lib/ids.ts";
import { serializeWebhookEndpointWithSecret } from "../resources/serializers.ts";
import { countDeliveries, latestDeliveries } from "../webhooks/endpoint-health-queries.ts";
import { findWebhookEndpoint, listWebhookEndpoints } from "../webhooks/endpoint-queries.ts";
import {
  changeWebhookEndpoint,
  createWebhookEndpoint,
  removeWebhookEndpoint,
  rotateSecret,
} from "../webhooks/endpoints.ts";
import { type EndpointPolicy, parseEndpointUrl } from "../webhooks/guard-url.ts";
import { RECENT_HOURS, type WebhookEndpointView } from "./contract/webhook.ts";
import { defineHandlers } from "./operation.ts";
import { toWebhookEndpointView } from "./serializers.ts";

export interface WebhookEndpointDeps {
  db: Db;
  clock: Clock;
  policy: EndpointPolicy;
}

export function webhookEndpointHandlers({ db, clock, policy }: WebhookEndpointDeps) {
  return defineHandlers({
    "GET /environments/:environment/webhook-endpoints": async ({ params }) => {
      const environment = await getEnvironment(db, params.environment);
      const rows = await listWebhookEndpoints(db, environment.id);
      return { data: await readEndpointViews({ db, clock }, rows) };
    },

    "POST /environments/:environment/webhook-endpoints": async ({ params, body, auditActor, request }) => {
      const environment = await getEnvironment(db, params.environment);
      const created = await db.transaction().execute(async (tx) => {
        const row = await createWebhookEndpoint(
          { db: tx, clock, policy },
          { environmentId: environment.id, ...body },
        );
        await recordEndpointEvent({ tx, clock }, auditActor, "webhook_endpoint.created", row);
        return row;
      });
      request.log.info({ endpointId: created.id, environmentId: environment.id }, "webhook endpoint created");
      return serializeWebhookEndpointWithSecret(created, clock.now());
    },

    "POST /webhook-url-checks": async ({ body }) => {
      try {
        parseEndpointUrl(body.url, policy);
        return { reason: null };
      } catch (error) {
        if (error instanceof AppError && error.code === "webhook_url_rejected") {
          return { reason: error.message };
        }
        throw error;
      }
    },

    "GET /webhook-endpoints/:id": async ({ params: { id } }) =>
      await readEndpointView({ db, clock }, await getEndpoint(db, id)),

    "PATCH /webhook-endpoints/:id": async ({ params, body, auditActor, request }) => {
      const changed = await db.transaction().execute(async (tx) => {
        const { id } = await getEndpoint(tx, params.id);
        const row = await changeWebhookEndpoint({ tx, clock, policy }, id, body);
        await recordEndpointChange({ tx, clock }, auditActor, row, body);
        return row;
      });
      request.log.info({ endpointId: changed.id }, "webhook endpoint changed");
      return await readEndpointView({ db, clock }, changed);
    },

    "DELETE /webhook-endpoints/:id": async ({ params, auditActor, request }) => {
      const row = await getEndpoint(db, params.id);
      await removeWebhookEndpoint({ db, clock }, auditActor, row);
      request.log.info({ endpointId: row.id }, "webhook endpoint deleted");
    },

    "POST /webhook-endpoints/:id/reveal-secret": async ({ params: { id }, auditActor, request }) => {
      const row = await getEndpoint(db, id);
      await recordEndpointEvent({ tx: db, clock }, auditActor, "webhook_endpoint.secret_revealed", row);
      request.log.info({ endpointId: row.id }, "signing secret revealed");
      return serializeWebhookEndpointWithSecret(row, clock.now());
    },

    "POST /webhook-endpoints/:id/rotate-secret": async ({ params, auditActor, request }) => {
      const row = await db.transaction().execute(async (tx) => {
        const { id } = await getEndpoint(tx, params.id);
        const rotated = await rotateSecret({ tx, clock }, id);
        await recordEndpointEvent({ tx, clock }, auditActor, "webhook_endpoint.secret_rotated", rotated);
        return rotated;
      });
      request.log.info({ endpointId: row.id }, "signing secret rotated");
      return serializeWebhookEndpointWithSecret(row, clock.now());
    },
  });
}

type HealthDeps = Pick<WebhookEndpointDeps, "db" | "clock">;

async function readEndpointView(deps: HealthDeps, row: WebhookEndpointRow): Promise<WebhookEndpointView> {
  const [view] = await readEndpointViews(deps, [row]);
  return view!;
}

async function readEndpointViews(
  { db, clock }: HealthDeps,
  rows: readonly WebhookEndpointRow[],
): Promise<WebhookEndpointView[]> {
  const now = clock.now();
  const ids = rows.map(({ id }) => id);
  const latest = await latestDeliveries(db, ids);
  const counts = await countDeliveries(db, ids, new Date(now.getTime() - RECENT_HOURS * 3_600_000));
  return rows.map((row) =>
    toWebhookEndpointView(row, {
      latest: latest.get(row.id),
      counts: counts.filter((each) => each.endpoint_id === row.id),
      now,
    }),
  );
}

/** @throws AppError `webhook_endpoint_not_found` */
export async function getEndpoint(db: Db | Tx, id: string): Promise<WebhookEndpointRow> {
  const row = isPlausibleId(id) ? await findWebhookEndpoint(db, id) : undefined;
  if (!row) throw new AppError("webhook_endpoint_not_found", "There is no webhook endpoint with this ID.");
  return row;
}
