import type { EventType } from "@subtext/client/contract/webhook";
import type {
  Delivery,
  Redelivering,
  WebhookEndpointWithSecret,
} from "@subtext/client/contract/webhook-endpoint";
import { Webhook } from "standardwebhooks";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import type {
  DeliveryDetailView,
  DeliveryPageView,
  WebhookEndpointView,
} from "../../src/admin/contract/webhook.ts";
import type { Tx } from "../../src/db/schema.ts";
import { findDelivery, settleAttempt } from "../../src/webhooks/queries.ts";
import { emitCompleted } from "../support/emit-completed.ts";
import { createTenant, shareService, until } from "../support/service.ts";
import { type HttpReceiver, startReceiver } from "../support/webhook-receivers.ts";
import {
  addViewer,
  codeOf,
  cookieOf,
  type OperatorRequest,
  send,
  sendAsCommandLine,
  setUp,
  signIn,
} from "./operator-requests.ts";

const subtext = shareService();
let viewer: string;

beforeAll(async () => {
  await setUp(subtext);
  viewer = cookieOf(await signIn(subtext, await addViewer(subtext)));
});

const ask = (path: string, request?: OperatorRequest) => sendAsCommandLine(subtext, path, request);
const post = (path: string, body?: object) => ask(path, { method: "POST", ...(body && { body }) });

/** An endpoint in its own environment, and its receiver, which answers as configured and makes retries wait an hour. */
async function subscribe(eventTypes?: EventType[]) {
  const answer = { status: 204, text: "" };
  const receiver = await startReceiver((_, response) =>
    response.writeHead(answer.status, { "retry-after": "3600" }).end(answer.text),
  );
  onTestFinished(() => receiver.close());
  const { environmentId } = await createTenant(subtext);
  const body = { url: receiver.url.href, ...(eventTypes && { eventTypes }), metadata: { team: "video" } };
  const made = await post(`/environments/${environmentId}/webhook-endpoints`, body);
  expect(made.statusCode).toBe(201);
  const endpoint = made.json<WebhookEndpointWithSecret>();
  return { environmentId, endpoint, receiver, answer, path: `/webhook-endpoints/${endpoint.id}` };
}

async function detail(path: string, deliveryId: string): Promise<DeliveryDetailView> {
  const response = await ask(`${path}/deliveries/${deliveryId}`);
  expect(response.statusCode).toBe(200);
  return response.json<DeliveryDetailView>();
}

const attempted = (path: string, deliveryId: string, attempts = 1) =>
  until(async () => {
    const found = await detail(path, deliveryId);
    return found.attempts.length >= attempts && found;
  });

async function page(path: string, query = ""): Promise<DeliveryPageView> {
  const response = await ask(`${path}/deliveries${query}`);
  expect(response.statusCode).toBe(200);
  return response.json<DeliveryPageView>();
}

const read = async (path: string) => (await ask(path)).json<WebhookEndpointView>();

/** A received request and a displayed request, in the same form. */
const got = ({ headers, body }: HttpReceiver["requests"][number]) => ({
  body,
  headers: Object.fromEntries(
    ["webhook-id", "webhook-timestamp", "webhook-signature", "content-type", "user-agent"].map((name) => [
      name,
      headers[name],
    ]),
  ),
});

test("an attempt is shown with the exact request, including file URLs and signature", async () => {
  const { environmentId, receiver, answer, path, endpoint } = await subscribe();
  Object.assign(answer, { status: 500, text: "the database is away" });
  await emitCompleted(subtext.service, environmentId);
  const [delivery] = await until(async () => {
    const { data } = await page(path);
    return (data[0]?.attempts.length ?? 0) > 0 && data;
  });
  const { requests, attempts, status, nextAttemptAt } = await detail(path, delivery!.id);
  expect({ status, attempts }).toMatchObject({
    status: "pending",
    attempts: [{ number: 1, statusCode: 500, responseStart: "the database is away", failure: null }],
  });
  expect(Date.parse(nextAttemptAt ?? "")).toBeGreaterThan(Date.now());
  const [{ number, url, ...shown }] = requests as [(typeof requests)[number]];
  expect({ number, url }).toEqual({ number: 1, url: endpoint.url });
  expect(shown.body).toContain("/files/");
  expect(shown).toEqual(got(receiver.requests[0]!));
  new Webhook(endpoint.secret).verify(shown.body, shown.headers);
});

test("after a rotation both secrets sign, and earlier requests are shown with the secret that signed them", async () => {
  const { path, endpoint, receiver } = await subscribe();
  const before = (await post(`${path}/test`)).json<Delivery>();
  await attempted(path, before.id);
  const rotated = (await post(`${path}/rotate-secret`)).json<WebhookEndpointWithSecret>();
  expect(rotated.secret).not.toBe(endpoint.secret);
  expect(Date.parse(rotated.previousSecretExpiresAt ?? "") - Date.now()).toBeGreaterThan(23.9 * 3_600_000);
  const after = (await post(`${path}/test`)).json<Delivery>();
  const { requests } = await attempted(path, after.id);
  expect(requests[0]!.headers["webhook-signature"]).toMatch(/^v1,\S+ v1,\S+$/);
  for (const secret of [endpoint.secret, rotated.secret]) {
    new Webhook(secret).verify(requests[0]!.body, requests[0]!.headers);
  }
  const shown = [(await detail(path, before.id)).requests[0]!, requests[0]!];
  expect(shown.map(({ body, headers }) => ({ body, headers }))).toEqual(receiver.requests.map(got));

  const revealed = (await post(`${path}/reveal-secret`)).json<WebhookEndpointWithSecret>();
  expect(revealed.secret).toBe(rotated.secret);
  expect(subtext.logged()).not.toContain(rotated.secret);
});

test("failed deliveries are resent, individually or all since a given time", async () => {
  const { environmentId, path, answer, receiver } = await subscribe();
  answer.status = 410;
  for (let made = 0; made < 2; made++) {
    await emitCompleted(subtext.service, environmentId);
    await until(async () => (await page(path)).data[0]?.attempts.length);
    await ask(path, { method: "PATCH", body: { enabled: true } });
  }
  const { data: failed } = await page(path, "?status=failed");
  expect(failed).toHaveLength(2);
  answer.status = 204;

  const one = await post(`${path}/deliveries/${failed[0]!.id}/redeliver`);
  expect([one.statusCode, one.json<Delivery>().status]).toEqual([202, "pending"]);
  expect((await attempted(path, failed[0]!.id, 2)).status).toBe("succeeded");
  const all = await post(`${path}/redeliver-failed`, { since: failed[1]!.createdAt });
  expect(all.json<Redelivering>()).toEqual({ count: 1, hasMore: false });
  expect((await attempted(path, failed[1]!.id, 2)).status).toBe("succeeded");
  expect(receiver.requests).toHaveLength(4);
  expect((await page(path, "?status=failed")).data).toEqual([]);
});

test("deliveries waiting for a retry are resent with failed ones, and only once", async () => {
  const { environmentId, path, answer, receiver } = await subscribe();
  answer.status = 500;
  const videoId = await emitCompleted(subtext.service, environmentId);
  await until(async () => (await page(path)).data[0]?.attempts.length);
  const { data } = await page(path, "?status=pending");
  expect(data).toMatchObject([{ video: { id: videoId, filename: "all-hands.mp4" } }]);
  const { id, createdAt: since } = data[0]!;
  answer.status = 204;

  expect((await post(`${path}/redeliver-failed`, { since })).json()).toEqual({ count: 1, hasMore: false });
  expect((await attempted(path, id, 2)).status).toBe("succeeded");
  expect((await post(`${path}/redeliver-failed`, { since })).json()).toEqual({ count: 0, hasMore: false });
  expect(receiver.requests).toHaveLength(2);
});

test("an attempt that is recorded while a delivery is read does not appear beside its earlier status", async () => {
  const { environmentId, path, answer } = await subscribe();
  answer.status = 500;
  await emitCompleted(subtext.service, environmentId);
  const { id } = await until(async () =>
    (await page(path)).data.find(({ attempts }) => attempts.length === 1),
  );
  const db = subtext.service.parts.database.kysely;
  const row = await db.selectFrom("delivery").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  const attempt = {
    number: 2,
    attemptedAt: new Date(),
    latencyMs: 1,
    statusCode: 204,
    failure: null,
    responseStart: null,
  };
  let isRecorded = false;
  const racing = db.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      if (isRecorded) return result;
      isRecorded = true;
      const outcome = { status: "succeeded", finishedAt: new Date() } as const;
      const settle = (tx: Tx) => settleAttempt(tx, { id, jobId: row.job_id }, attempt, outcome);
      expect(await db.transaction().execute(settle)).toBe(true);
      return result;
    },
  });
  expect(await findDelivery(racing, row.endpoint_id, id)).toMatchObject({
    status: "pending",
    attemptRows: [{ number: 1 }],
  });
  expect(await findDelivery(db, row.endpoint_id, id)).toMatchObject({
    status: "succeeded",
    attemptRows: [{ number: 1 }, { number: 2 }],
  });
});

test("deliveries are paged and filtered by state and event, without gaps or repetitions", async () => {
  const { environmentId, path } = await subscribe();
  const tests: string[] = [];
  for (let made = 0; made < 5; made++) {
    tests.unshift((await post(`${path}/test`)).json<Delivery>().id);
    await emitCompleted(subtext.service, environmentId);
  }
  const seen: string[] = [];
  let query = "?limit=2&event=webhooks.endpoint.test";
  for (;;) {
    const { data, nextCursor } = await page(path, query);
    seen.push(...data.map(({ id }) => id));
    if (nextCursor === null) break;
    query = `?limit=2&event=webhooks.endpoint.test&cursor=${nextCursor}`;
  }
  expect(seen).toEqual(tests);
  expect((await page(path, "?event=transcriptions.transcription.completed")).data).toHaveLength(5);
  expect((await page(path, "?event=transcriptions.transcription.failed")).data).toEqual([]);
  await until(async () => (await page(path, "?status=succeeded")).data.length === 10);
  const foreign = Buffer.from("video_1").toString("base64url");
  for (const wrong of ["?status=lost", "?event=all", "?limit=0", "?cursor=%00", `?cursor=${foreign}`]) {
    expect(codeOf(await ask(`${path}/deliveries${wrong}`))).toEqual([400, "invalid_request"]);
  }
});

test("an endpoint shows its latest delivery and today's success rate", async () => {
  const { environmentId, path, answer } = await subscribe();
  expect((await read(path)).health).toEqual({
    latest: null,
    recent: { pending: 0, succeeded: 0, failed: 0, canceled: 0 },
  });
  const { id } = (await post(`${path}/test`)).json<Delivery>();
  await attempted(path, id);
  answer.status = 410;
  const gone = (await post(`${path}/test`)).json<Delivery>();
  await attempted(path, gone.id);
  const listed = await ask(`/environments/${environmentId}/webhook-endpoints`);
  const [endpoint] = listed.json<{ data: WebhookEndpointView[] }>().data;
  expect(endpoint).toEqual(await read(path));
  expect(endpoint).toMatchObject({
    enabled: false,
    disabledReason: "It responded with 410 Gone.",
    health: {
      latest: { deliveryId: gone.id, eventType: "webhooks.endpoint.test", status: "failed", statusCode: 410 },
      recent: { pending: 0, succeeded: 1, failed: 1, canceled: 0 },
    },
  });
  expect(codeOf(await post(`${path}/test`))).toEqual([409, "webhook_endpoint_disabled"]);
});

test("an endpoint is changed in part, atomically", async () => {
  const { path, endpoint } = await subscribe();
  const change = (body: object) => ask(path, { method: "PATCH", body });
  const eventTypes = ["transcriptions.transcription.failed", "transcriptions.transcription.skipped"];
  expect((await change({ eventTypes })).json()).toMatchObject({ eventTypes, url: endpoint.url });
  const refused = await change({ metadata: {}, url: "https://10.0.0.1/" });
  expect(codeOf(refused)).toEqual([400, "webhook_url_rejected"]);
  expect(await read(path)).toMatchObject({ metadata: { team: "video" }, url: endpoint.url });
  expect((await change({ enabled: false })).json()).toMatchObject({ enabled: false });
  expect((await change({ enabled: true })).json()).toMatchObject({ enabled: true, disabledReason: null });
  for (const wrong of [{ enabled: "no" }, { secret: "whsec_" }, { eventTypes: [] }]) {
    expect(codeOf(await change(wrong))).toEqual([400, "invalid_request"]);
  }
});

test("a URL is validated before it is used, and the reason for a rejection is shown", async () => {
  const checkUrl = async (url: string) =>
    (await post("/webhook-url-checks", { url })).json<{ reason: string | null }>().reason;
  expect(await checkUrl("https://receiver.example/hook")).toBeNull();
  expect(await checkUrl("receiver.example")).toBe("The text is not a URL.");
  expect(await checkUrl("https://169.254.169.254/")).toContain("Webhooks cannot be sent to the address");
});

test("deliveries are only found through their own endpoint", async () => {
  const [one, other] = [await subscribe(), await subscribe()];
  const { id } = (await post(`${one.path}/test`)).json<Delivery>();
  await attempted(one.path, id);
  for (const deliveryId of [id, "delivery_unknown", "a%20b"]) {
    const place = `${other.path}/deliveries/${deliveryId}`;
    expect(codeOf(await ask(place))).toEqual([404, "delivery_not_found"]);
    expect(codeOf(await post(`${place}/redeliver`))).toEqual([404, "delivery_not_found"]);
  }
  const since = { since: new Date(0).toISOString() };
  expect((await post(`${other.path}/redeliver-failed`, since)).json()).toEqual({ count: 0, hasMore: false });
  for (const unknown of ["endpoint_unknown", "a%20b", one.environmentId, id]) {
    const path = `/webhook-endpoints/${unknown}`;
    const answers = await Promise.all([
      ask(path),
      ask(path, { method: "PATCH", body: { enabled: false } }),
      ask(path, { method: "DELETE" }),
      ask(`${path}/deliveries`),
      ask(`${path}/deliveries/${id}`),
      post(`${path}/test`),
      post(`${path}/reveal-secret`),
      post(`${path}/rotate-secret`),
      post(`${path}/redeliver-failed`, since),
      post(`${path}/deliveries/${id}/redeliver`),
    ]);
    for (const answer of answers) expect(codeOf(answer)).toEqual([404, "webhook_endpoint_not_found"]);
  }
});

test("a viewer can read everything but the secret, and change nothing", async () => {
  const { environmentId, path, endpoint } = await subscribe();
  const { id } = (await post(`${path}/test`)).json<Delivery>();
  await attempted(path, id);
  const asViewer = (place: string, request: OperatorRequest = {}) =>
    send(subtext, place, { ...request, headers: { cookie: viewer, origin: subtext.url } });
  const readings = [
    `/environments/${environmentId}/webhook-endpoints`,
    path,
    `${path}/deliveries`,
    `${path}/deliveries/${id}`,
    `/environments/${environmentId}/api-keys`,
  ];
  for (const place of readings) {
    const response = await asViewer(place);
    expect(response.statusCode).toBe(200);
    expect(response.payload).not.toContain(endpoint.secret);
  }
  const changes: [NonNullable<OperatorRequest["method"]>, string, object?][] = [
    ["POST", `/environments/${environmentId}/webhook-endpoints`, { url: "https://receiver.example/" }],
    ["PATCH", path, { enabled: false }],
    ["DELETE", path],
    ["POST", `${path}/reveal-secret`],
    ["POST", `${path}/rotate-secret`],
    ["POST", `${path}/test`],
    ["POST", `${path}/redeliver-failed`, { since: new Date(0).toISOString() }],
    ["POST", `${path}/deliveries/${id}/redeliver`],
    ["POST", "/webhook-url-checks", { url: "https://receiver.example/" }],
    ["POST", `/environments/${environmentId}/api-keys`, {}],
  ];
  for (const [method, place, body] of changes) {
    const response = await asViewer(place, { method, ...(body && { body }) });
    expect([place, ...codeOf(response)]).toEqual([place, 403, "owner_required"]);
  }
});
