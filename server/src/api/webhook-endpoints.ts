import { OPERATIONS } from "@subtext/client/contract/operations";
import type { FastifyInstance } from "fastify";
import { recordEndpointChange, recordEndpointEvent } from "../audit/audit-events.ts";
import { cutPage, readPageRequest } from "../http/cursor.ts";
import { parseTimestamp } from "../http/timestamp.ts";
import type { Queue } from "../queue/queue.ts";
import {
  serializeDelivery,
  serializeWebhookEndpoint,
  serializeWebhookEndpointWithSecret,
} from "../resources/serializers.ts";
import { pageOfWebhookEndpoints } from "../webhooks/endpoint-queries.ts";
import {
  changeWebhookEndpoint,
  createWebhookEndpoint,
  getWebhookEndpoint,
  removeWebhookEndpoint,
  rotateSecret,
} from "../webhooks/endpoints.ts";
import type { EndpointPolicy } from "../webhooks/guard-url.ts";
import { listDeliveries } from "../webhooks/queries.ts";
import { redeliver, redeliverFailed, sendTestEvent } from "../webhooks/redeliver.ts";
import { type OperationDeps, serve, serveOnce } from "./operation.ts";

export function registerWebhookEndpoints(
  app: FastifyInstance,
  deps: OperationDeps & { queue: Queue; policy: EndpointPolicy },
): void {
  const { db, queue, clock, policy } = deps;

  serve(app, deps, OPERATIONS.listWebhookEndpoints, async ({ environmentId, query }) => {
    const { before, limit } = readPageRequest("endpoint", query);
    const found = await pageOfWebhookEndpoints(db, environmentId, { before, limit: limit + 1 });
    const { rows, nextCursor } = cutPage(found, limit);
    return { data: rows.map((row) => serializeWebhookEndpoint(row, clock.now())), nextCursor };
  });

  serveOnce(
    app,
    deps,
    OPERATIONS.createWebhookEndpoint,
    async ({ environmentId, body, tx, request, auditActor }) => {
      const row = await createWebhookEndpoint({ db: tx, clock, policy }, { environmentId, ...body });
      await recordEndpointEvent({ tx, clock }, auditActor, "webhook_endpoint.created", row);
      request.log.info({ endpointId: row.id, environmentId }, "webhook endpoint created");
      return serializeWebhookEndpointWithSecret(row, clock.now());
    },
  );

  serve(app, deps, OPERATIONS.getWebhookEndpoint, async ({ environmentId, params }) => {
    const row = await getWebhookEndpoint(db, { environmentId, id: params.endpointId });
    return serializeWebhookEndpoint(row, clock.now());
  });

  serve(
    app,
    deps,
    OPERATIONS.updateWebhookEndpoint,
    async ({ environmentId, params, body, request, auditActor }) => {
      const changed = await db.transaction().execute(async (tx) => {
        const { id } = await getWebhookEndpoint(tx, { environmentId, id: params.endpointId });
        const row = await changeWebhookEndpoint({ tx, clock, policy }, id, body);
        await recordEndpointChange({ tx, clock }, auditActor, row, body);
        return row;
      });
      request.log.info({ endpointId: changed.id }, "webhook endpoint changed");
      return serializeWebhookEndpoint(changed, clock.now());
    },
  );

  serve(
    app,
    deps,
    OPERATIONS.deleteWebhookEndpoint,
    async ({ environmentId, params, request, auditActor }) => {
      const row = await getWebhookEndpoint(db, { environmentId, id: params.endpointId });
      await removeWebhookEndpoint({ db, clock }, auditActor, row);
      request.log.info({ endpointId: row.id }, "webhook endpoint deleted");
      return undefined;
    },
  );

  serveOnce(
    app,
    deps,
    OPERATIONS.rotateWebhookSecret,
    async ({ environmentId, params, tx, request, auditActor }) => {
      const { id } = await getWebhookEndpoint(tx, { environmentId, id: params.endpointId });
      const row = await rotateSecret({ tx, clock }, id);
      await recordEndpointEvent({ tx, clock }, auditActor, "webhook_endpoint.secret_rotated", row);
      request.log.info({ endpointId: id }, "signing secret rotated");
      return serializeWebhookEndpointWithSecret(row, clock.now());
    },
  );

  serveOnce(app, deps, OPERATIONS.sendTestEvent, async ({ environmentId, params, tx }) => {
    const endpoint = await getWebhookEndpoint(tx, { environmentId, id: params.endpointId });
    return serializeDelivery(await sendTestEvent({ tx, queue, clock }, endpoint));
  });

  serve(app, deps, OPERATIONS.listDeliveries, async ({ environmentId, params, query }) => {
    const { id } = await getWebhookEndpoint(db, { environmentId, id: params.endpointId });
    const { before, limit } = readPageRequest("delivery", query);
    const { status = null } = query;
    const { rows, nextCursor } = cutPage(
      await listDeliveries(db, id, { status, before, limit: limit + 1 }),
      limit,
    );
    return { data: rows.map(serializeDelivery), nextCursor };
  });

  serveOnce(app, deps, OPERATIONS.redeliver, async ({ environmentId, params, tx, request }) => {
    const endpoint = await getWebhookEndpoint(tx, { environmentId, id: params.endpointId });
    const delivery = await redeliver({ tx, queue, clock }, endpoint, params.deliveryId);
    request.log.info({ deliveryId: delivery.id }, "delivery restarted");
    return serializeDelivery(delivery);
  });

  serveOnce(app, deps, OPERATIONS.redeliverFailed, async ({ environmentId, params, body, tx, request }) => {
    const since = parseTimestamp(body.since, "body/since");
    const endpoint = await getWebhookEndpoint(tx, { environmentId, id: params.endpointId });
    const result = await redeliverFailed({ tx, queue, clock }, endpoint, since);
    request.log.info({ endpointId: endpoint.id, ...result }, "failed deliveries restarted");
    return result;
  });
}
