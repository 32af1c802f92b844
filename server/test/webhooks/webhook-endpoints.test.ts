import { randomUUID } from "node:crypto";
import { WEBHOOK_EVENTS } from "@subtext/client/contract/webhook";
import type {
  Delivery,
  DeliveryPage,
  WebhookEndpoint,
  WebhookEndpointPage,
  WebhookEndpointWithSecret,
} from "@subtext/client/contract/webhook-endpoint";
import { Webhook } from "standardwebhooks";
import { Value } from "typebox/value";
import { beforeEach, describe, expect, test } from "vitest";
import { deleteDeliveries } from "../../src/webhooks/endpoint-queries.ts";
import { createTenant, shareService, type Tenant, until } from "../support/service.ts";
import { startVerifyingReceiver } from "../support/verifying-receiver.ts";

const service = shareService({ env: { RATE_LIMIT_BURST: "10000" } });
let tenant: Tenant;

beforeEach(async () => {
  tenant = await createTenant(service, { permissions: ["manage_webhooks"] });
});

async function ask<T>(
  path: string,
  method = "GET",
  body?: object,
  by = tenant,
): Promise<{ status: number; body: T }> {
  const response = await fetch(`${service.url}/api/v1/webhook-endpoints${path}`, {
    method,
    headers: {
      authorization: `Bearer ${by.key}`,
      ...(body && { "content-type": "application/json" }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: (text === "" ? null : JSON.parse(text)) as T };
}

async function subscribe(url = "https://example.com/hook", body: object = {}) {
  const created = await ask<WebhookEndpointWithSecret>("", "POST", { url, ...body });
  expect(created.status).toBe(201);
  return created.body;
}

async function settled(endpointId: string, deliveryId: string): Promise<Delivery> {
  return await until(async () => {
    const { body } = await ask<DeliveryPage>(`/${endpointId}/deliveries`);
    return body.data.find(({ id, status }) => id === deliveryId && status !== "pending");
  });
}

describe("a webhook endpoint", () => {
  test("shows its secret only in the response that creates it", async () => {
    const { secret, ...endpoint } = await subscribe("https://example.com/hook", { metadata: { team: "a" } });
    expect(secret).toMatch(/^whsec_/);
    expect(endpoint).toMatchObject({
      environmentId: tenant.environmentId,
      eventTypes: ["transcriptions.transcription.completed"],
      metadata: { team: "a" },
      enabled: true,
      disabledAt: null,
    });
    expect((await ask(`/${endpoint.id}`)).body).toEqual(endpoint);
    expect((await ask<WebhookEndpointPage>("")).body).toEqual({ data: [endpoint], nextCursor: null });
  });

  test("is listed newest first, in pages", async () => {
    const made = [await subscribe(), await subscribe(), await subscribe()].map(({ id }) => id).reverse();
    const first = (await ask<WebhookEndpointPage>("?limit=2")).body;
    const second = (await ask<WebhookEndpointPage>(`?limit=2&cursor=${first.nextCursor}`)).body;
    expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(made);
    expect(second.nextCursor).toBeNull();
    const foreign = await ask(`?cursor=${Buffer.from("video_1").toString("base64url")}`);
    expect(foreign).toMatchObject({ status: 400, body: { code: "invalid_request" } });
  });

  test("applies all changes, or none if one is invalid", async () => {
    const { id } = await subscribe();
    const changed = await ask<WebhookEndpoint>(`/${id}`, "PATCH", {
      url: "https://example.org/",
      eventTypes: ["transcriptions.transcription.failed"],
    });
    expect(changed.body).toMatchObject({
      url: "https://example.org/",
      eventTypes: ["transcriptions.transcription.failed"],
      metadata: {},
    });
    const refused = await ask(`/${id}`, "PATCH", { metadata: { a: 1 }, url: "https://10.0.0.1/" });
    expect(refused).toMatchObject({ status: 400, body: { code: "webhook_url_rejected" } });
    expect((await ask(`/${id}`)).body).toEqual(changed.body);
    expect(await ask(`/${id}`, "PATCH", { secret: "mine" })).toMatchObject({
      body: { code: "invalid_request" },
    });
  });

  test("can be disabled and enabled by its owner", async () => {
    const { id } = await subscribe();
    const stopped = (await ask<WebhookEndpoint>(`/${id}`, "PATCH", { enabled: false })).body;
    expect(stopped).toMatchObject({ enabled: false, disabledReason: "Disabled by its owner." });
    expect(stopped.disabledAt).not.toBeNull();
    expect((await ask(`/${id}/test`, "POST")).body).toMatchObject({ code: "webhook_endpoint_disabled" });
    expect((await ask<WebhookEndpoint>(`/${id}`, "PATCH", { enabled: true })).body).toMatchObject({
      enabled: true,
      disabledAt: null,
      disabledReason: null,
    });
  });

  test("no longer exists after deletion", async () => {
    const { id } = await subscribe();
    expect((await ask(`/${id}`, "DELETE")).status).toBe(204);
    expect(await ask(`/${id}`)).toMatchObject({ status: 404, body: { code: "webhook_endpoint_not_found" } });
  });

  test("has no deliveries after any number of batches were deleted", async () => {
    const { id } = await subscribe();
    const other = await subscribe();
    for (const endpoint of [id, id, id, other.id]) await ask(`/${endpoint}/test`, "POST");
    const db = service.service.parts.database.kysely;
    let batches = 0;
    for (let last: string | null = ""; last !== null; batches += 1) {
      last = await deleteDeliveries(db, id, { after: last, limit: 2 });
    }
    expect(batches).toBe(3);
    expect((await ask<DeliveryPage>(`/${id}/deliveries`)).body.data).toEqual([]);
    expect((await ask<DeliveryPage>(`/${other.id}/deliveries`)).body.data).toHaveLength(1);
  });

  test("of another environment is indistinguishable from an unknown one in every operation", async () => {
    const { id } = await subscribe();
    const stranger = await createTenant(service);
    for (const [path, method, body] of [
      ["", "GET"],
      ["", "PATCH", { enabled: false }],
      ["", "DELETE"],
      ["/rotate-secret", "POST"],
      ["/test", "POST"],
      ["/deliveries", "GET"],
      ["/redeliver-failed", "POST", { since: "2026-01-01T00:00:00Z" }],
    ] as const) {
      const { status, body: problem } = await ask(`/${id}${path}`, method, body, stranger);
      expect([path, status, problem]).toMatchObject([path, 404, { code: "webhook_endpoint_not_found" }]);
    }
    expect((await ask<WebhookEndpoint>(`/${id}`)).body.enabled).toBe(true);
  });
});

describe("a test event", () => {
  test("is signed and delivered, and is listed with its attempt", async () => {
    const receiver = await startVerifyingReceiver();
    const { id, secret } = await subscribe(receiver.url, { metadata: { team: "a" } });
    receiver.trust(secret);
    const begun = await ask<Delivery>(`/${id}/test`, "POST");
    expect(begun).toMatchObject({
      status: 202,
      body: { status: "pending", eventType: "webhooks.endpoint.test", transcriptionId: null, attempts: [] },
    });
    const done = await settled(id, begun.body.id);
    expect(done).toMatchObject({
      status: "succeeded",
      nextAttemptAt: null,
      attempts: [{ number: 1, statusCode: 204, failure: null }],
    });
    expect(receiver.received).toHaveLength(1);
    const payload: unknown = receiver.received[0]?.payload;
    expect(Value.Check(WEBHOOK_EVENTS["webhooks.endpoint.test"], payload)).toBe(true);
    expect(payload).toMatchObject({ data: { webhookEndpointId: id }, metadata: { team: "a" } });
  });
});

describe("a rotated secret", () => {
  test("signs along with the previous one, which receivers may still use", async () => {
    const receiver = await startVerifyingReceiver();
    const { id, secret } = await subscribe(receiver.url);
    const rotated = (await ask<WebhookEndpointWithSecret>(`/${id}/rotate-secret`, "POST")).body;
    expect(rotated.secret).not.toBe(secret);
    const lasts = Date.parse(rotated.previousSecretExpiresAt ?? "") - Date.now();
    expect(Math.abs(lasts - 24 * 3_600_000)).toBeLessThan(60_000);
    for (const known of [secret, rotated.secret]) {
      receiver.trust(known);
      const { body } = await ask<Delivery>(`/${id}/test`, "POST");
      expect(await settled(id, body.id)).toMatchObject({ status: "succeeded" });
    }
    receiver.trust(`whsec_${Buffer.alloc(32, 1).toString("base64")}`);
    const { body } = await ask<Delivery>(`/${id}/test`, "POST");
    await until(async () => {
      const page = (await ask<DeliveryPage>(`/${id}/deliveries?status=pending`)).body;
      return page.data.find((delivery) => delivery.id === body.id)?.attempts[0]?.statusCode === 401;
    });
    expect(() => new Webhook(rotated.secret)).not.toThrow();
  });
});

describe("a redelivery", () => {
  test("sends one event again with the same id and the full schedule", async () => {
    const receiver = await startVerifyingReceiver();
    const { id, secret } = await subscribe(receiver.url);
    receiver.trust(secret);
    const { body: first } = await ask<Delivery>(`/${id}/test`, "POST");
    await settled(id, first.id);
    const again = await ask<Delivery>(`/${id}/deliveries/${first.id}/redeliver`, "POST");
    expect(again).toMatchObject({ status: 202, body: { id: first.id, status: "pending", finishedAt: null } });
    const done = await settled(id, first.id);
    expect(done.attempts.map(({ number }) => number)).toEqual([1, 2]);
    expect(new Set(receiver.received.map((received) => received.id))).toEqual(new Set([first.eventId]));
    expect(receiver.received).toHaveLength(2);
  });

  test("adds attempts to the existing ones, and the latest are listed", async () => {
    const { id } = await subscribe();
    const { body: delivery } = await ask<Delivery>(`/${id}/test`, "POST");
    const db = service.service.parts.database.kysely;
    // Prevents further attempts.
    const done = { status: "failed", job_id: randomUUID(), attempts: 60 } as const;
    await db.updateTable("delivery").set(done).where("id", "=", delivery.id).execute();
    await db.deleteFrom("delivery_attempt").where("delivery_id", "=", delivery.id).execute();
    const made = Array.from({ length: 60 }, (_, index) => ({
      delivery_id: delivery.id,
      number: index + 1,
      attempted_at: new Date(),
      latency_ms: 1,
      status_code: 503,
      failure: null,
      response_start: "",
    }));
    await db.insertInto("delivery_attempt").values(made).execute();
    const { body } = await ask<DeliveryPage>(`/${id}/deliveries`);
    const listed = body.data[0]?.attempts.map(({ number }) => number);
    expect(listed).toEqual(made.slice(10).map(({ number }) => number));
  });

  test("is rejected if the database cannot store its start time", async () => {
    const { id } = await subscribe();
    const none = ["2016-12-31T23:59:60Z", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59"];
    for (const since of none) {
      const refused = await ask(`/${id}/redeliver-failed`, "POST", { since });
      expect(refused).toMatchObject({ status: 400, body: { code: "invalid_request" } });
      const { commandLineToken } = service.service.parts;
      const asked = await fetch(`${service.url}/internal/webhook-endpoints/${id}/redeliver-failed`, {
        method: "POST",
        headers: { authorization: `Bearer ${commandLineToken}`, "content-type": "application/json" },
        body: JSON.stringify({ since }),
      });
      expect(asked.status).toBe(400);
    }
  });

  test("of failed deliveries excludes successful and older ones", async () => {
    const receiver = await startVerifyingReceiver();
    const { id, secret } = await subscribe(receiver.url);
    receiver.trust(secret);
    const made: string[] = [];
    for (let i = 0; i < 3; i++) {
      const { body } = await ask<Delivery>(`/${id}/test`, "POST");
      await settled(id, body.id);
      made.push(body.id);
    }
    const [old, failed, succeeded] = made as [string, string, string];
    const db = service.service.parts.database.kysely;
    await db
      .updateTable("delivery")
      .set({ status: "failed", created_at: new Date("2026-01-01T00:00:00Z") })
      .where("id", "=", old)
      .execute();
    await db.updateTable("delivery").set({ status: "canceled" }).where("id", "=", failed).execute();
    const since = { since: "2026-02-01T00:00:00.000Z" };
    const answer = await ask(`/${id}/redeliver-failed`, "POST", since);
    expect(answer).toMatchObject({ status: 202, body: { count: 1, hasMore: false } });
    expect((await settled(id, failed)).attempts).toHaveLength(2);
    expect((await settled(id, succeeded)).attempts).toHaveLength(1);
    expect((await settled(id, old)).attempts).toHaveLength(1);
  });
});
