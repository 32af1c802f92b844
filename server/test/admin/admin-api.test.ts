import type { Delivery, WebhookEndpointWithSecret } from "@subtext/client/contract/webhook-endpoint";
import { describe, expect, test } from "vitest";
import type { ApiKeyView, NewApiKeyView } from "../../src/admin/contract/api-key.ts";
import type { EnvironmentView } from "../../src/admin/contract/environment.ts";
import type { FindingView } from "../../src/admin/contract/system.ts";
import type { TranscriptionView } from "../../src/admin/contract/transcription.ts";
import type { WebhookEndpointView } from "../../src/admin/contract/webhook.ts";
import { newId } from "../../src/lib/ids.ts";
import { newJobId } from "../../src/queue/queue.ts";
import { startAttempt } from "../../src/transcription/claim-queries.ts";
import { failTranscription } from "../../src/transcription/queries.ts";
import { acceptUpload } from "../../src/uploads/accept-upload.ts";
import { insertVideo } from "../../src/videos/queries.ts";
import { insertDelivery, insertEvent, settleAttempt } from "../../src/webhooks/queries.ts";
import { shareService } from "../support/service.ts";
import { codeOf, type OperatorRequest, send, sendAsCommandLine } from "./operator-requests.ts";

const subtext = shareService({ start: false, env: { LOG_LEVEL: "trace" } });
const secretsSeen: string[] = [];
let made = 0;

const ask = (path: string, request?: OperatorRequest) => sendAsCommandLine(subtext, path, request);
const post = (path: string, body?: object) => ask(path, { method: "POST", ...(body && { body }) });

async function createEnvironment(body: { name?: string; aiTranscription?: boolean } = {}) {
  made += 1;
  const response = await post("/environments", { name: `Environment ${made}`, ...body });
  expect(response.statusCode).toBe(201);
  return response.json<EnvironmentView>();
}

async function createKey(environmentId: string, body: object = {}) {
  const response = await post(`/environments/${environmentId}/api-keys`, body);
  expect(response.statusCode).toBe(201);
  const key = response.json<NewApiKeyView>();
  secretsSeen.push(key.key);
  return key;
}

/** A video whose upload has finished, with a transcription if the setting is on. */
async function acceptVideo(environmentId: string): Promise<string> {
  const { database, queue, clock } = subtext.service.parts;
  const videoId = newId("video");
  await insertVideo(database.kysely, {
    id: videoId,
    environmentId,
    metadata: { filename: "holiday.mp4" },
    sizeBytes: 12,
    now: clock.now(),
  });
  await acceptUpload({ db: database.kysely, queue, clock }, { videoId, sizeBytes: 12 });
  return videoId;
}

async function showTranscription(id: string): Promise<TranscriptionView> {
  const response = await ask(`/transcriptions/${id}`);
  expect(response.statusCode).toBe(200);
  return response.json<TranscriptionView>();
}

/** Makes a worker start the transcription and fail it permanently. */
async function fail(transcriptionId: string): Promise<void> {
  const { kysely } = subtext.service.parts.database;
  const waiting = await kysely
    .selectFrom("transcription")
    .selectAll()
    .where("id", "=", transcriptionId)
    .executeTakeFirstOrThrow();
  const row = await kysely.transaction().execute((tx) => startAttempt(tx, waiting, new Date()));
  const failure = { code: "unreadable_media", message: "The file contains neither audio nor video." };
  await kysely.transaction().execute((tx) =>
    failTranscription(tx, { transcriptionId, attempt: row.attempt }, failure, {
      waveformPrefix: null,
      transcribedAt: null,
      now: new Date(),
    }),
  );
}

describe("environments", () => {
  test("are created, listed and switched, by id or by name", async () => {
    const production = await createEnvironment({ name: " Production ", aiTranscription: true });
    expect(production).toEqual({
      id: expect.stringMatching(/^env_/),
      name: "Production",
      aiTranscription: true,
      allowedOrigins: ["*"],
      retention: null,
      weight: 1,
      vocabulary: [],
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect((await createEnvironment()).aiTranscription).toBe(true);

    const off = await ask("/environments/Production", { method: "PATCH", body: { aiTranscription: false } });
    expect(off.json()).toEqual({ ...production, aiTranscription: false });
    const on = await ask(`/environments/${production.id}`, {
      method: "PATCH",
      body: { aiTranscription: true },
    });
    expect(on.json()).toEqual(production);

    const { data } = (await ask("/environments")).json<{ data: EnvironmentView[] }>();
    expect(data).toContainEqual(production);
  });

  test("have a weight from 1 to 100, which is audited", async () => {
    const { id } = await createEnvironment();
    const set = async (weight: number) =>
      await ask(`/environments/${id}`, { method: "PATCH", body: { weight } });
    expect((await set(5)).json<EnvironmentView>().weight).toBe(5);
    const { data } = (await ask("/environments")).json<{ data: EnvironmentView[] }>();
    expect(data.find((environment) => environment.id === id)?.weight).toBe(5);
    for (const weight of [0, 101, 1.5]) expect(codeOf(await set(weight))).toEqual([400, "invalid_request"]);
    const events = await subtext.service.parts.database.kysely
      .selectFrom("audit_event")
      .select(["action", "detail"])
      .where("environment_id", "=", id)
      .where("action", "=", "environment.weight_changed")
      .execute();
    expect(events).toEqual([{ action: "environment.weight_changed", detail: { from: 1, to: 5 } }]);
  });

  test("have a vocabulary of up to 100 terms, which is audited", async () => {
    const { id } = await createEnvironment();
    const set = async (vocabulary: unknown) =>
      await ask(`/environments/${id}`, { method: "PATCH", body: { vocabulary } });
    const vocabularyOf = async (terms: string[]) => (await set(terms)).json<EnvironmentView>().vocabulary;
    expect(await vocabularyOf([" Subtext ", "Anna Weber", "नमस्ते"])).toEqual([
      "Subtext",
      "Anna Weber",
      "नमस्ते",
    ]);
    for (const terms of [
      [""],
      ["  "],
      ["x".repeat(51)],
      ["a\u0000b"],
      ["a\nb"],
      ["a\u2028b"],
      ["a, b"],
      ["Subtext", "subtext"],
      // The same letter, composed and decomposed.
      ["\u00e9", "e\u0301"],
      Array.from({ length: 101 }, (_, index) => `term ${index}`),
      "Subtext",
      null,
      [1],
    ]) {
      expect(codeOf(await set(terms))).toEqual([400, "invalid_request"]);
    }
    const hundred = Array.from({ length: 100 }, (_, index) => `${"x".repeat(46)} ${index}`);
    expect(await vocabularyOf(hundred)).toEqual(hundred);
    expect(await vocabularyOf([])).toEqual([]);
    const events = await subtext.service.parts.database.kysely
      .selectFrom("audit_event")
      .select("detail")
      .where("environment_id", "=", id)
      .where("action", "=", "environment.vocabulary_changed")
      .orderBy("id")
      .execute();
    const terms = ["Subtext", "Anna Weber", "नमस्ते"];
    expect(events.map(({ detail }) => detail)).toEqual([
      { from: [], to: terms },
      { from: terms, to: hundred },
      { from: hundred, to: [] },
    ]);
  });

  test("must have a unique, valid name", async () => {
    const { name } = await createEnvironment();
    expect(codeOf(await post("/environments", { name }))).toEqual([409, "environment_name_taken"]);
    for (const body of [{}, { name: "" }, { name: "   " }, { name: "x".repeat(101) }, { name: "a\u0000b" }]) {
      expect(codeOf(await post("/environments", body))).toEqual([400, "invalid_request"]);
    }
    expect((await post("/environments", { name: "🎬".repeat(100) })).statusCode).toBe(201);
  });

  test("that do not exist are not found, whatever the name", async () => {
    for (const name of ["nobody", "%00", "a%2Fb", "%F0%9F%8E%AC"]) {
      const response = await ask(`/environments/${name}`, {
        method: "PATCH",
        body: { aiTranscription: true },
      });
      expect([400, 404]).toContain(response.statusCode);
    }
  });

  test("can be switched only with true and false", async () => {
    const { id } = await createEnvironment();
    for (const body of [
      {},
      { aiTranscription: "true" },
      { aiTranscription: null },
      { aiTranscription: true, more: 1 },
    ]) {
      const response = await ask(`/environments/${id}`, { method: "PATCH", body });
      expect(codeOf(response)).toEqual([400, "invalid_request"]);
    }
  });
});

describe("API keys", () => {
  const readWith = (key: string) =>
    subtext.service.parts.app.inject({
      url: "/api/v1/videos/video_unknown/transcription",
      headers: { authorization: `Bearer ${key}` },
    });

  test("are shown once, and take effect at once when created or revoked", async () => {
    const { id } = await createEnvironment();
    const { key, ...view } = await createKey(id, { name: "Reader", permissions: ["get_video"] });
    expect(view).toMatchObject({ environmentId: id, name: "Reader", permissions: ["get_video"] });
    expect(view).toMatchObject({ expiresAt: null, revokedAt: null, lastUsedAt: null });
    expect(codeOf(await readWith(key))).toEqual([404, "video_not_found"]);

    const listed = await ask(`/environments/${id}/api-keys`);
    expect(listed.json<{ data: ApiKeyView[] }>().data.map((each) => each.id)).toEqual([view.id]);
    expect(listed.payload).not.toContain(key);

    expect((await ask(`/api-keys/${view.id}`, { method: "DELETE" })).statusCode).toBe(204);
    expect(codeOf(await readWith(key))).toEqual([401, "invalid_api_key"]);
    const [revoked] = (await ask(`/environments/${id}/api-keys`)).json<{ data: ApiKeyView[] }>().data;
    expect(revoked?.revokedAt).not.toBeNull();
  });

  test("may upload and read by default, and need at least one permission", async () => {
    const { id } = await createEnvironment();
    expect((await createKey(id)).permissions).toEqual(["get_video", "create_video"]);
    for (const body of [{ permissions: [] }, { permissions: ["everything"] }, { name: "" }]) {
      expect(codeOf(await post(`/environments/${id}/api-keys`, body))).toEqual([400, "invalid_request"]);
    }
  });

  test("expire in the future or never", async () => {
    const { id } = await createEnvironment();
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    expect((await createKey(id, { expiresAt })).expiresAt).toBe(expiresAt);
    for (const wrong of ["2020-01-01T00:00:00.000Z", "tomorrow", ""]) {
      const response = await post(`/environments/${id}/api-keys`, { expiresAt: wrong });
      expect(codeOf(response)).toEqual([400, "invalid_request"]);
    }
  });

  test("that do not exist cannot be revoked", async () => {
    for (const id of ["key_unknown", "a%20b", "%00"]) {
      const response = await ask(`/api-keys/${id}`, { method: "DELETE" });
      expect([400, 404]).toContain(response.statusCode);
    }
  });

  test("do not grant access to the operator API", async () => {
    const { key } = await createKey((await createEnvironment()).id);
    const response = await send(subtext, "/environments", { headers: { authorization: `Bearer ${key}` } });
    expect(codeOf(response)).toEqual([401, "sign_in_required"]);
  });
});

describe("webhook endpoints", () => {
  test("are created with a secret that is shown once, listed and deleted", async () => {
    const { id: environmentId } = await createEnvironment();
    const path = `/environments/${environmentId}/webhook-endpoints`;
    const url = "https://receiver.example/hook";
    const created = await post(path, { url, metadata: { team: "video" } });
    expect(created.statusCode).toBe(201);
    const { secret, ...view } = created.json<WebhookEndpointWithSecret>();
    secretsSeen.push(secret);
    expect(view).toMatchObject({
      environmentId,
      url,
      eventTypes: ["transcriptions.transcription.completed"],
      metadata: { team: "video" },
      disabledAt: null,
    });

    const listed = await ask(path);
    expect(listed.json<{ data: WebhookEndpointView[] }>().data).toMatchObject([view]);
    expect(listed.payload).not.toContain(secret);

    expect((await ask(`/webhook-endpoints/${view.id}`, { method: "DELETE" })).statusCode).toBe(204);
    expect((await ask(path)).json<{ data: unknown[] }>().data).toEqual([]);
    const again = await ask(`/webhook-endpoints/${view.id}`, { method: "DELETE" });
    expect(codeOf(again)).toEqual([404, "webhook_endpoint_not_found"]);
  });

  test("must have an allowed URL and known event types", async () => {
    const { id } = await createEnvironment();
    const path = `/environments/${id}/webhook-endpoints`;
    for (const url of ["https://10.0.0.1/", "https://169.254.169.254/", "ftp://a.example", "nonsense"]) {
      expect(codeOf(await post(path, { url }))).toEqual([400, "webhook_url_rejected"]);
    }
    const url = "https://receiver.example/";
    expect(codeOf(await post(path, { url, eventTypes: ["all"] }))).toEqual([400, "invalid_request"]);
    expect(codeOf(await post(path, { url, metadata: [1] }))).toEqual([400, "invalid_request"]);
    const large = { text: "x".repeat(5000) };
    expect(codeOf(await post(path, { url, metadata: large }))).toEqual([400, "invalid_metadata"]);
  });

  test("list their deliveries with every attempt", async () => {
    const { id: environmentId } = await createEnvironment({ aiTranscription: true });
    const videoId = await acceptVideo(environmentId);
    const transcriptionId = (await showTranscription(videoId)).id;
    const endpoint = (
      await post(`/environments/${environmentId}/webhook-endpoints`, { url: "https://receiver.example/" })
    ).json<WebhookEndpointWithSecret>();
    const [eventId, deliveryId, jobId] = [newId("event"), newId("delivery"), newJobId()];
    const now = new Date("2026-01-02T03:04:05.678Z");
    await subtext.service.parts.database.kysely.transaction().execute(async (tx) => {
      const type = "transcriptions.transcription.completed";
      await insertEvent(tx, { id: eventId, environmentId, type, transcriptionId, detail: {}, now });
      await insertDelivery(tx, {
        id: deliveryId,
        eventId,
        eventType: type,
        endpointId: endpoint.id,
        jobId,
        now,
      });
      const attempt = { number: 1, attemptedAt: now, latencyMs: 12, statusCode: 500, failure: null };
      const next = {
        status: "pending" as const,
        jobId: newJobId(),
        nextAttemptAt: now,
        heldUntil: null,
        earlyAttempts: 0,
      };
      await settleAttempt(tx, { id: deliveryId, jobId }, { ...attempt, responseStart: "oops" }, next);
    });

    const deliveries = await ask(`/webhook-endpoints/${endpoint.id}/deliveries`);
    expect(deliveries.json<{ data: Delivery[] }>().data).toEqual([
      {
        id: deliveryId,
        webhookEndpointId: endpoint.id,
        eventId,
        eventType: "transcriptions.transcription.completed",
        transcriptionId,
        status: "pending",
        createdAt: now.toISOString(),
        nextAttemptAt: now.toISOString(),
        finishedAt: null,
        attempts: [
          {
            number: 1,
            attemptedAt: now.toISOString(),
            latencyMs: 12,
            statusCode: 500,
            failure: null,
            responseStart: "oops",
          },
        ],
        video: { id: videoId, filename: "holiday.mp4" },
      },
    ]);
    expect((await showTranscription(transcriptionId)).events).toEqual([
      {
        id: eventId,
        type: "transcriptions.transcription.completed",
        createdAt: now.toISOString(),
        deliveries: [{ id: deliveryId, endpointId: endpoint.id, status: "pending", attempts: 1 }],
      },
    ]);
  });
});

describe("transcriptions", () => {
  test("are shown in full, by their own id and by the video's", async () => {
    const { id: environmentId } = await createEnvironment({ aiTranscription: true });
    const videoId = await acceptVideo(environmentId);
    const shown = await showTranscription(videoId);
    expect(shown).toMatchObject({
      videoId,
      environmentId,
      status: "PENDING",
      progress: 0,
      attempt: 0,
      failure: null,
      stages: null,
      video: { sizeBytes: 12, metadata: { filename: "holiday.mp4" } },
      events: [],
    });
    expect(await showTranscription(shown.id)).toEqual(shown);
  });

  test("that do not exist have different errors for different reasons", async () => {
    const { id } = await createEnvironment({ aiTranscription: false });
    const videoId = await acceptVideo(id);
    const off = await ask(`/transcriptions/${videoId}`);
    expect(codeOf(off)).toEqual([404, "transcription_not_found"]);
    expect(off.json().detail).toContain("AI Transcription was off");
    const unknown = await ask("/transcriptions/video_unknown");
    expect(codeOf(unknown)).toEqual([404, "transcription_not_found"]);
    expect(unknown.json().detail).toContain("no transcription or video");
  });

  test("are listed by environment and status, newest first", async () => {
    const { id } = await createEnvironment({ aiTranscription: true });
    const videoIds = [await acceptVideo(id), await acceptVideo(id), await acceptVideo(id)];
    await fail((await showTranscription(videoIds[1]!)).id);
    const list = async (query: string) =>
      (await ask(`/environments/${id}/transcriptions${query}`))
        .json<{ data: TranscriptionView[] }>()
        .data.map((each) => each.videoId);
    expect(await list("")).toEqual(videoIds.toReversed());
    expect(await list("?status=FAILED")).toEqual([videoIds[1]]);
    expect(await list("?status=PENDING")).toEqual([videoIds[2], videoIds[0]]);
    const wrong = await ask(`/environments/${id}/transcriptions?status=LOST`);
    expect(codeOf(wrong)).toEqual([400, "invalid_request"]);
  });

  test("that failed show the reason and are reset to PENDING, with the same id", async () => {
    const { id } = await createEnvironment({ aiTranscription: true });
    const videoId = await acceptVideo(id);
    const before = await showTranscription(videoId);
    const early = await post(`/transcriptions/${videoId}/reprocess`);
    expect(codeOf(early)).toEqual([409, "transcription_not_failed"]);

    await fail(before.id);
    const failed = await showTranscription(videoId);
    expect(failed).toMatchObject({
      status: "FAILED",
      failure: { code: "unreadable_media", message: "The file contains neither audio nor video." },
      attempt: 1,
    });
    const reopened = await post(`/transcriptions/${videoId}/reprocess`);
    expect(reopened.statusCode).toBe(202);
    expect(reopened.json()).toMatchObject({
      id: before.id,
      createdAt: before.createdAt,
      status: "PENDING",
      failure: null,
    });
  });
});

test("the doctor reports on every part", async () => {
  const { data } = (await ask("/doctor")).json<{ data: FindingView[] }>();
  expect(data.map(({ name }) => name)).toEqual([
    "node",
    "decoder",
    "engine",
    "memory",
    "processor",
    "languages",
    "database",
    "storage",
    "workers",
    "files",
    "cleanup",
    "data folder",
    "file access",
    "public URL",
  ]);
  for (const finding of data) {
    expect(["ok", "warning", "missing"]).toContain(finding.status);
    expect(finding.detail).not.toBe("");
    expect(finding.status === "ok" ? finding.remedy : null).toBeNull();
  }
  expect(data.find(({ name }) => name === "database")?.status).toBe("ok");
});

test("no key and no secret is logged", () => {
  const logged = subtext.logged();
  expect(logged).toContain("API key created");
  expect(secretsSeen.length).toBeGreaterThan(3);
  for (const secret of [...secretsSeen, subtext.service.parts.commandLineToken]) {
    expect(logged).not.toContain(secret);
  }
});
