import { expect, onTestFinished, test } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import { emitTestEvent } from "../../src/webhooks/emit.ts";
import { createWebhookEndpoint } from "../../src/webhooks/endpoints.ts";
import { createTenant, shareService, until } from "../support/service.ts";
import { startReceiver } from "../support/webhook-receivers.ts";

/** The concurrency limit of an endpoint in `start-work.ts`. */
const MAX_PER_ENDPOINT = 32;
const service = shareService();

async function subscribe(url: URL) {
  const { database, queue, clock, endpointPolicy: policy } = service.service.parts;
  const db = database.kysely;
  const { environmentId } = await createTenant(service);
  const endpoint = await createWebhookEndpoint({ db, clock, policy }, { environmentId, url: url.href });
  return {
    emit: (count: number) =>
      db.transaction().execute(async (tx) => {
        for (let made = 0; made < count; made++) {
          await emitTestEvent({ tx, queue, now: clock.now() }, endpoint, newId("delivery"));
        }
      }),
    deliveries: () =>
      db
        .selectFrom("delivery")
        .select(["status", "attempts"])
        .where("endpoint_id", "=", endpoint.id)
        .execute(),
  };
}

async function receive(listener: Parameters<typeof startReceiver>[0]) {
  const receiver = await startReceiver(listener);
  onTestFinished(() => receiver.close());
  return receiver;
}

test("many simultaneous events each arrive once and are recorded with one attempt", async () => {
  const receiver = await receive((_request, response) => response.writeHead(204).end());
  const { emit, deliveries } = await subscribe(receiver.url);
  await emit(120);
  await until(async () => (await deliveries()).every(({ status }) => status === "succeeded"));
  expect(await deliveries()).toEqual(Array(120).fill({ status: "succeeded", attempts: 1 }));
  const ids = receiver.requests.map(({ headers }) => headers["webhook-id"]);
  expect([ids.length, new Set(ids).size]).toEqual([120, 120]);
});

test("a receiver that hangs does not delay events to other receivers", async () => {
  let mostOpen = 0;
  const hanging = await receive(() => {
    mostOpen = Math.max(mostOpen, hanging.open.size);
  });
  const well = await receive((_request, response) => response.writeHead(204).end());
  const [slow, quick] = [await subscribe(hanging.url), await subscribe(well.url)];
  await slow.emit(3 * MAX_PER_ENDPOINT);
  await until(async () => hanging.open.size >= MAX_PER_ENDPOINT);
  await quick.emit(60);
  await until(async () => well.requests.length === 60);
  expect(hanging.requests.length).toBeLessThan(2 * MAX_PER_ENDPOINT);
  expect(mostOpen).toBeLessThanOrEqual(MAX_PER_ENDPOINT + 1);
});
