import type { ServerResponse } from "node:http";
import type { WebhookEndpointChange } from "@subtext/client/contract/webhook-endpoint";
import { describe, expect, test } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import { newJobId } from "../../src/queue/queue.ts";
import { createDeliver, type DeliverDeps } from "../../src/webhooks/deliver.ts";
import { emitEvent } from "../../src/webhooks/emit.ts";
import { changeWebhookEndpoint, createWebhookEndpoint } from "../../src/webhooks/endpoints.ts";
import { createEndpointPolicy } from "../../src/webhooks/guard-url.ts";
import { cancelDelivery, restartDelivery } from "../../src/webhooks/queries.ts";
import { createHostResolver } from "../../src/webhooks/resolve-host.ts";
import { ATTEMPT_DELAYS_MS } from "../../src/webhooks/schedule.ts";
import { newSigningSecret } from "../../src/webhooks/sign.ts";
import { createTenant, MovableClock, shareService } from "../support/service.ts";
import { testS3 } from "../support/test-bucket.ts";
import { startVerifyingReceiver } from "../support/verifying-receiver.ts";
import { startReceiver } from "../support/webhook-receivers.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const clock = new MovableClock();
const service = shareService({ start: false, clock });

/** Creates a completed transcription whose event waits for one endpoint. Tests make the attempts themselves. */
async function emitted(options: { eventTypes?: ["transcriptions.transcription.failed"] } = {}) {
  const { database, queue, endpointPolicy, log, transcripts } = service.service.parts;
  const db = database.kysely;
  const receiver = await startVerifyingReceiver(clock);
  const tenant = await createTenant(service, { clock });
  const endpoint = await createWebhookEndpoint(
    { db, clock, policy: endpointPolicy },
    { environmentId: tenant.environmentId, url: receiver.url, ...options },
  );
  receiver.trust(endpoint.secret);
  const videoId = newId("video");
  const transcriptionId = newId("transcription");
  const now = clock.now();
  await db
    .insertInto("video")
    .values({
      id: videoId,
      environment_id: tenant.environmentId,
      metadata: "{}",
      size_bytes: 1,
      created_at: now,
    })
    .execute();
  await db
    .insertInto("transcription")
    .values({
      id: transcriptionId,
      video_id: videoId,
      environment_id: tenant.environmentId,
      status: "COMPLETED",
      job_id: newJobId(),
      file_prefix: `transcripts/${transcriptionId}/1`,
      language: "en",
      stages: "null",
      created_at: now,
      queued_at: now,
      finished_at: now,
    })
    .execute();
  await db
    .transaction()
    .execute((tx) =>
      emitEvent(
        { tx, queue, now },
        { id: transcriptionId, environment_id: tenant.environmentId },
        "transcriptions.transcription.completed",
        {},
      ),
    );
  const read = () =>
    db.selectFrom("delivery").selectAll().where("endpoint_id", "=", endpoint.id).executeTakeFirstOrThrow();
  const readEndpoint = () =>
    db.selectFrom("webhook_endpoint").selectAll().where("id", "=", endpoint.id).executeTakeFirstOrThrow();
  await transcripts.put(`transcripts/${transcriptionId}/1/transcript.txt`, Buffer.from("words"));
  const deps: DeliverDeps = {
    db,
    queue,
    clock,
    log,
    transcripts,
    policy: endpointPolicy,
    resolve: createHostResolver(),
    version: "0.0.0",
    timeoutMs: 1_000,
  };
  const attempt = async (changed: Partial<DeliverDeps> = {}, jobId?: string) => {
    const { id, job_id: current } = await read();
    const job = { id: jobId ?? current, subjectId: id, signal: new AbortController().signal };
    await createDeliver({ ...deps, ...changed })(job, new AbortController().signal);
    return await read();
  };
  return { db, receiver, endpoint, read, readEndpoint, attempt };
}

type Change = (changes: WebhookEndpointChange) => Promise<unknown>;

/** Sends the response headers one byte at a time and never completes them. */
function drip(response: ServerResponse): void {
  const { socket } = response;
  socket?.write("HTTP/1.1 200 OK\r\nx-slow: ");
  const timer = setInterval(() => socket?.write("x"), 100);
  socket?.on("close", () => clearInterval(timer));
}

describe("a delivery", () => {
  test("that succeeds is not repeated", async () => {
    const { receiver, attempt, db } = await emitted();
    const done = await attempt();
    expect(done).toMatchObject({ status: "succeeded", attempts: 1, next_attempt_at: null });
    await attempt();
    expect(receiver.received).toHaveLength(1);
    const attempts = await db
      .selectFrom("delivery_attempt")
      .selectAll()
      .where("delivery_id", "=", done.id)
      .execute();
    expect(attempts).toMatchObject([{ number: 1, status_code: 204, failure: null }]);
  });

  test("that fails is retried on schedule with the same id, new URLs and a new signature", async () => {
    const { receiver, attempt } = await emitted();
    receiver.answers.push(500, 503);
    const first = await attempt();
    expect(first).toMatchObject({ status: "pending", attempts: 1 });
    const wait = (first.next_attempt_at?.getTime() ?? 0) - clock.now().getTime();
    expect(wait).toBeGreaterThan(4_000);
    expect(wait).toBeLessThan(5_600);
    clock.advance(5_000);
    const second = await attempt();
    expect((second.next_attempt_at?.getTime() ?? 0) - clock.now().getTime()).toBeGreaterThan(44_000);
    expect(second.job_id).not.toBe(first.job_id);

    clock.advance(24 * HOUR);
    const third = await attempt();
    expect(third).toMatchObject({ status: "succeeded", attempts: 3 });
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1);
    const urls = receiver.received.map(({ payload }) => payload.data.files?.vtt.url);
    expect(urls[2]).not.toBe(urls[0]);
  });

  test("that gets 410 disables its endpoint, which receives nothing more", async () => {
    const { receiver, attempt, readEndpoint, db, endpoint } = await emitted();
    receiver.answers.push(410);
    expect(await attempt()).toMatchObject({ status: "failed" });
    expect(await readEndpoint()).toMatchObject({ disabled_reason: "It responded with 410 Gone." });
    const audited = await db
      .selectFrom("audit_event")
      .selectAll()
      .where("subject_id", "=", endpoint.id)
      .execute();
    expect(audited).toMatchObject([
      {
        action: "webhook_endpoint.disabled",
        actor_kind: "service",
        detail: { reason: "It responded with 410 Gone." },
      },
    ]);
  });

  test.for([
    ["whose URL was changed", async (change, { url }) => await change({ url })],
    [
      "that was disabled and enabled again",
      async (change) => {
        await change({ enabled: false });
        await change({ enabled: true });
      },
    ],
  ] satisfies [string, (change: Change, endpoint: { url: string }) => Promise<unknown>][])(
    "that gets 410 leaves an endpoint %s during the attempt enabled",
    async ([, changeDuringAttempt]) => {
      const { attempt, readEndpoint, db, endpoint } = await emitted();
      const { endpointPolicy: policy } = service.service.parts;
      const change: Change = (changes) =>
        db.transaction().execute((tx) => changeWebhookEndpoint({ tx, clock, policy }, endpoint.id, changes));
      const old = await startReceiver((_request, response) => {
        void changeDuringAttempt(change, endpoint).then(() => response.writeHead(410).end());
      });
      await change({ url: old.url.href });
      expect(await attempt()).toMatchObject({ status: "failed" });
      expect(await readEndpoint()).toMatchObject({ disabled_at: null, failing_since: null });
    },
  );

  test("that failed at another URL does not count against a new one", async () => {
    const { receiver, attempt, readEndpoint, db, endpoint } = await emitted();
    const { endpointPolicy: policy } = service.service.parts;
    receiver.answers.push(500);
    await attempt();
    const failing = await readEndpoint();
    expect(failing?.failing_since).not.toBeNull();
    for (const [url, failingSince] of [
      [endpoint.url, failing?.failing_since],
      [`${endpoint.url}new`, null],
    ] as const) {
      await db
        .transaction()
        .execute((tx) => changeWebhookEndpoint({ tx, clock, policy }, endpoint.id, { url }));
      expect(await readEndpoint()).toMatchObject({ url, failing_since: failingSince });
    }
  });

  test("that fails permanently disables its endpoint only after five days without a success", async () => {
    const { receiver, attempt, readEndpoint, db, endpoint } = await emitted();
    const fiveDaysAgo = new Date(clock.now().getTime() - 120 * HOUR);
    await db
      .updateTable("webhook_endpoint")
      .set({ failing_since: fiveDaysAgo })
      .where("id", "=", endpoint.id)
      .execute();
    for (let number = 1; number < ATTEMPT_DELAYS_MS.length; number++) {
      receiver.answers.push(500);
      expect(await attempt()).toMatchObject({ status: "pending", attempts: number });
      expect(await readEndpoint()).toMatchObject({ failing_since: fiveDaysAgo, disabled_at: null });
    }
    receiver.answers.push(500);
    expect(await attempt()).toMatchObject({ status: "failed", attempts: ATTEMPT_DELAYS_MS.length });
    expect(await readEndpoint()).toMatchObject({
      disabled_reason: "No delivery has succeeded for 5 days.",
    });
  });

  test("that fails late does not overwrite a success recorded in the meantime", async () => {
    const { receiver, attempt, readEndpoint, db, endpoint } = await emitted();
    const fiveDaysAgo = new Date(clock.now().getTime() - 120 * HOUR);
    await db
      .updateTable("webhook_endpoint")
      .set({ failing_since: fiveDaysAgo })
      .where("id", "=", endpoint.id)
      .execute();
    receiver.beforeAnswer = async () => {
      // Another delivery is attempted while this one hangs.
      await db
        .updateTable("webhook_endpoint")
        .set({ failing_since: null })
        .where("id", "=", endpoint.id)
        .execute();
    };
    receiver.answers.push(500);
    await attempt();
    const { failing_since: since } = await readEndpoint();
    expect(since?.getTime()).toBeGreaterThan(fiveDaysAgo.getTime());
  });

  test("that succeeds resets the failing state of its endpoint", async () => {
    const { receiver, attempt, readEndpoint } = await emitted();
    receiver.answers.push(500);
    await attempt();
    await attempt();
    expect(await readEndpoint()).toMatchObject({ failing_since: null, disabled_at: null });
  });

  test("to a forbidden address fails as refused_address", async () => {
    const { receiver, attempt, db } = await emitted();
    const strict = createEndpointPolicy({ allowHttp: true, allowPrivateNetworks: [] });
    const refused = await attempt({ policy: strict });
    expect(refused).toMatchObject({ status: "pending", attempts: 1 });
    const { failure } = await db
      .selectFrom("delivery_attempt")
      .selectAll()
      .where("delivery_id", "=", refused.id)
      .executeTakeFirstOrThrow();
    expect(failure).toMatch(/^refused_address: /);
    expect(receiver.received).toEqual([]);
  });

  test("to plain http fails after the operator has disabled it", async () => {
    const { receiver, attempt, db } = await emitted();
    const secure = createEndpointPolicy({ allowHttp: false, allowPrivateNetworks: ["127.0.0.1/32"] });
    const refused = await attempt({ policy: secure });
    expect(refused).toMatchObject({ status: "pending", attempts: 1 });
    const { failure } = await db
      .selectFrom("delivery_attempt")
      .selectAll()
      .where("delivery_id", "=", refused.id)
      .executeTakeFirstOrThrow();
    expect(failure).toBe("refused_address: the URL must begin with https://");
    expect(receiver.received).toEqual([]);
  });

  test("ends if its video is deleted, even during an attempt", async () => {
    const { receiver, attempt, db, read } = await emitted();
    const { event_id: eventId } = await read();
    const { transcription_id: transcriptionId } = await db
      .selectFrom("event")
      .select("transcription_id")
      .where("id", "=", eventId)
      .executeTakeFirstOrThrow();
    receiver.answers.push(500);
    receiver.beforeAnswer = async () => {
      const { video_id: videoId } = await db
        .selectFrom("transcription")
        .select("video_id")
        .where("id", "=", transcriptionId)
        .executeTakeFirstOrThrow();
      await db.deleteFrom("video").where("id", "=", videoId).execute();
    };
    await expect(attempt()).rejects.toThrow("no result");
    await expect(read()).rejects.toThrow("no result");
    expect(receiver.received).toHaveLength(1);
  });

  test("that is redelivered after its last attempt gets the full schedule", async () => {
    const { receiver, attempt, read, db } = await emitted();
    receiver.answers.push(...Array.from({ length: 11 }, () => 500));
    for (let number = 1; number <= 10; number++) await attempt();
    const { id } = await read();
    await db.transaction().execute((tx) => restartDelivery(tx, id, newJobId(), clock.now()));
    expect(await read()).toMatchObject({ status: "pending", attempts: 10 });
    expect(await attempt()).toMatchObject({ status: "pending", attempts: 11 });
    expect(await attempt()).toMatchObject({ status: "succeeded", attempts: 12 });
  });

  test.each([204, 500])(
    "that is redelivered manually while an attempt runs is not settled by the attempt's %i",
    async (answer) => {
      const { receiver, attempt, read, db } = await emitted();
      const jobId = newJobId();
      receiver.answers.push(answer);
      receiver.beforeAnswer = async () => {
        receiver.beforeAnswer = async () => {};
        const { id } = await read();
        await db.transaction().execute((tx) => restartDelivery(tx, id, jobId, clock.now()));
      };
      expect(await attempt()).toMatchObject({
        status: "pending",
        job_id: jobId,
        attempts: 0,
        finished_at: null,
      });
      expect(await attempt()).toMatchObject({ status: "succeeded", attempts: 1 });
      expect(receiver.received).toHaveLength(2);
    },
  );

  test("that is redelivered is not canceled by an older job that found the endpoint disabled", async () => {
    const { attempt, read, db } = await emitted();
    const { id, job_id: oldJobId } = await read();
    await db.transaction().execute((tx) => restartDelivery(tx, id, newJobId(), clock.now()));
    await cancelDelivery(db, { id, jobId: oldJobId }, clock.now());
    expect(await read()).toMatchObject({ status: "pending" });
    expect(await attempt()).toMatchObject({ status: "succeeded", attempts: 1 });
  });

  test("whose job was replaced is not attempted by the old job", async () => {
    const { receiver, attempt, read, db } = await emitted();
    const { id, job_id: oldJobId } = await read();
    await db.transaction().execute((tx) => restartDelivery(tx, id, newJobId(), clock.now()));
    await attempt({}, oldJobId);
    expect(receiver.received).toEqual([]);
    expect(await attempt()).toMatchObject({ status: "succeeded", attempts: 1 });
  });

  test.each<[string, (response: ServerResponse) => void, string, string | null]>([
    ["answers 500", (response) => response.writeHead(500).end(), "pending", null],
    ["redirects", (response) => response.writeHead(302, { location: "/" }).end(), "pending", null],
    ["answers 410", (response) => response.writeHead(410).end(), "failed", "It responded with 410 Gone."],
    ["hangs", () => {}, "pending", null],
    [
      "responds after the timeout",
      (response) => void setTimeout(() => response.end(), 1_400),
      "pending",
      null,
    ],
    ["sends its headers byte by byte", (response) => void drip(response), "pending", null],
    [
      "responds late but before the timeout",
      (response) => void setTimeout(() => response.end(), 400),
      "succeeded",
      null,
    ],
    [
      "accepts it but never ends the response body",
      (response) => void response.writeHead(200).write("x"),
      "succeeded",
      null,
    ],
  ])("to a receiver that %s", { timeout: 20_000 }, async (_what, answer, status, disabledReason) => {
    const receiver = await startReceiver((_request, response) => answer(response));
    const { attempt, readEndpoint, db, endpoint } = await emitted();
    await db
      .updateTable("webhook_endpoint")
      .set({ url: receiver.url.href })
      .where("id", "=", endpoint.id)
      .execute();
    expect(await attempt()).toMatchObject({ status, attempts: 1 });
    expect(await readEndpoint()).toMatchObject({ disabled_reason: disabledReason });
    expect(receiver.requests).toHaveLength(1);
    await receiver.close();
  });

  test("honors Retry-After", async () => {
    const receiver = await startReceiver((_request, response) =>
      response.writeHead(429, { "retry-after": "3600" }).end(),
    );
    const { attempt, db, endpoint } = await emitted();
    await db
      .updateTable("webhook_endpoint")
      .set({ url: receiver.url.href })
      .where("id", "=", endpoint.id)
      .execute();
    const { next_attempt_at: next } = await attempt();
    const waitMs = (next?.getTime() ?? 0) - clock.now().getTime();
    expect(waitMs).toBeGreaterThan(0.99 * HOUR);
    expect(waitMs).toBeLessThan(1.11 * HOUR);
    await receiver.close();
  });

  test("that is a day late carries valid URLs", async (context) => {
    if (testS3()) context.skip("a bucket uses its own clock");
    const { receiver, attempt } = await emitted();
    receiver.answers.push(500);
    await attempt();
    clock.advance(24 * HOUR);
    expect(await attempt()).toMatchObject({ status: "succeeded" });
    const [early, late] = receiver.received.map(({ payload }) => payload.data.files?.txt.url ?? "");
    expect((await fetch(early!)).status).toBe(403);
    expect(await (await fetch(late!)).text()).toBe("words");
  });

  test("is not created for an endpoint that does not subscribe to the event type", async () => {
    const { read } = await emitted({ eventTypes: ["transcriptions.transcription.failed"] });
    await expect(read()).rejects.toThrow();
  });

  test("is signed with both secrets during a rotation", async () => {
    const { attempt, db, endpoint, receiver } = await emitted();
    const other = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";
    await db
      .updateTable("webhook_endpoint")
      .set({
        secret: other,
        previous_secret: endpoint.secret,
        previous_secret_expires_at: new Date(clock.now().getTime() + HOUR),
      })
      .where("id", "=", endpoint.id)
      .execute();
    // The receiver still knows only the old secret.
    expect(await attempt()).toMatchObject({ status: "succeeded" });
    expect(receiver.received).toHaveLength(1);
  });

  test("is signed only with the new secret after the rotation", async () => {
    const { attempt, db, endpoint, receiver } = await emitted();
    const secret = newSigningSecret();
    await db
      .updateTable("webhook_endpoint")
      .set({ secret, previous_secret: endpoint.secret, previous_secret_expires_at: clock.now() })
      .where("id", "=", endpoint.id)
      .execute();
    expect(await attempt()).toMatchObject({ status: "pending", attempts: 1 });
    expect(receiver.received).toEqual([]);
    receiver.trust(secret);
    expect(await attempt()).toMatchObject({ status: "succeeded" });
  });
});
