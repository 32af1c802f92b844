import type { CreatedVideo, Video, VideoPage } from "@subtext/client/contract/video";
import * as tus from "tus-js-client";
import { beforeEach, describe, expect, test } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import { startAttempt } from "../../src/transcription/claim-queries.ts";
import { completeTranscription } from "../../src/transcription/queries.ts";
import { createTenant, MovableClock, shareService, type Tenant, upload } from "../support/service.ts";
import { readRecording, recordingBytes } from "../support/stored-recording.ts";

const clock = new MovableClock();
const service = shareService({ start: false, clock, env: { RATE_LIMIT_BURST: "10000" } });
let tenant: Tenant;

beforeEach(async () => {
  tenant = await createTenant(service, { clock });
});

const db = () => service.service.parts.database.kysely;

async function ask<T>(
  path: string,
  {
    method = "GET",
    body,
    by = tenant,
    headers = {},
  }: {
    method?: string;
    body?: object;
    by?: Tenant;
    headers?: Record<string, string>;
  } = {},
): Promise<{ status: number; body: T; headers: Headers }> {
  const response = await fetch(`${service.url}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${by.key}`,
      ...(body && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    body: (text === "" ? null : JSON.parse(text)) as T,
    headers: response.headers,
  };
}

describe("the list of videos", () => {
  test("is paginated, newest first, without gaps or duplicates", async () => {
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.unshift(await upload(service, tenant, Buffer.from("x")));
    await upload(service, await createTenant(service), Buffer.from("another's"));
    const seen: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const { body }: { body: VideoPage } = await ask<VideoPage>(
        `/videos?limit=2${cursor && `&cursor=${cursor}`}`,
      );
      expect(body.data.length).toBeLessThanOrEqual(2);
      seen.push(...body.data.map(({ id }) => id));
      cursor = body.nextCursor;
    }
    expect(seen).toEqual(ids);
  });

  test("can be filtered by the state of the transcription", async () => {
    const waiting = await upload(service, tenant, Buffer.from("x"));
    await ask("/videos", { method: "POST", body: { sizeBytes: 5 } });
    const list = async (status: string) =>
      (await ask<VideoPage>(`/videos?transcriptionStatus=${status}&limit=100`)).body.data.map(({ id }) => id);
    expect(await list("PENDING")).toEqual([waiting]);
    expect(await list("COMPLETED")).toEqual([]);
    expect((await ask<VideoPage>("/videos")).body.data).toHaveLength(2);
  });

  test.each([
    "limit=0",
    "limit=101",
    "limit=x",
    "limit=1&limit=2",
    "cursor=%00",
    "cursor=!",
    `cursor=${Buffer.from("endpoint_1").toString("base64url")}`,
    "transcriptionStatus=done",
  ])("refuses %s", async (query) => {
    expect(await ask(`/videos?${query}`)).toMatchObject({ status: 400, body: { code: "invalid_request" } });
  });

  test("ignores unknown parameters", async () => {
    expect((await ask("/videos?sort=size&x[]=1")).status).toBe(200);
  });
});

describe("a video", () => {
  test("has its upload and its transcription", async () => {
    const id = await upload(service, tenant, Buffer.from("abc"), {
      metadata: { filename: "a.mp4", customer: "42" },
    });
    const { body } = await ask<Video>(`/videos/${id}`);
    expect(body).toMatchObject({
      id,
      environmentId: tenant.environmentId,
      status: "uploaded",
      filename: "a.mp4",
      metadata: { filename: "a.mp4", customer: "42" },
      sizeBytes: 3,
      transcription: { status: "PENDING", language: null, completedAt: null },
    });
  });

  test("of another environment is indistinguishable from an unknown one", async () => {
    const id = await upload(service, tenant, Buffer.from("abc"));
    const stranger = await createTenant(service);
    for (const method of ["GET", "DELETE"]) {
      const answers = await Promise.all(
        [id, newId("video"), "%00", "..%2fx"].map((each) =>
          ask<{ code: string; detail: string }>(`/videos/${each}`, { method, by: stranger }),
        ),
      );
      expect(new Set(answers.map(({ status, body }) => `${status} ${body.code} ${body.detail}`)).size).toBe(
        1,
      );
      expect(answers[0]).toMatchObject({ status: 404, body: { code: "video_not_found" } });
    }
    expect((await ask(`/videos/${id}`)).status).toBe(200);
  });
});

describe("a deleted video", () => {
  test("is removed with its rows, its recording, its files and its pending events", async () => {
    const id = await upload(service, tenant, Buffer.from("abc"));
    await ask("/webhook-endpoints", { method: "POST", body: { url: "https://example.com/" } });
    const row = await db()
      .selectFrom("transcription")
      .selectAll()
      .where("video_id", "=", id)
      .executeTakeFirstOrThrow();
    const claimed = await db()
      .transaction()
      .execute((tx) => startAttempt(tx, row, clock.now()));
    const prefix = `transcripts/${row.id}/1`;
    const { transcripts } = service.service.parts;
    await transcripts.put(`${prefix}/transcript.vtt`, Buffer.from("WEBVTT\n"));
    await db()
      .transaction()
      .execute((tx) =>
        completeTranscription(tx, { transcriptionId: row.id, attempt: claimed.attempt }, {
          language: "en",
          wordCount: 0,
          duration: 1,
          filePrefix: prefix,
          engine: "x",
          decoder: "x",
          incomplete: false,
          stages: {},
          languageSegments: [],
          now: clock.now(),
        } as never),
      );
    const { body } = await ask<{ files: { vtt: { url: string } } }>(`/videos/${id}/transcription`);
    expect((await fetch(body.files.vtt.url)).status).toBe(200);

    expect(await ask(`/videos/${id}`, { method: "DELETE" })).toMatchObject({ status: 204, body: null });
    expect(await ask(`/videos/${id}`, { method: "DELETE" })).toMatchObject({ status: 404 });
    expect(await ask(`/videos/${id}/transcription`)).toMatchObject({ body: { code: "video_not_found" } });
    expect((await fetch(body.files.vtt.url)).status).toBe(404);
    expect(await readRecording(service.service, id)).toBeNull();
    expect(await Array.fromAsync(transcripts.list(prefix))).toEqual([]);
    expect(await db().selectFrom("transcription").selectAll().where("video_id", "=", id).execute()).toEqual(
      [],
    );
  });

  test("that is still uploading accepts no more bytes", async () => {
    const { body } = await ask<CreatedVideo>("/videos", { method: "POST", body: { sizeBytes: 10 } });
    const { url } = body.upload;
    const chunk = (offset: number, text: string) =>
      fetch(url, {
        method: "PATCH",
        headers: {
          "tus-resumable": "1.0.0",
          "upload-offset": String(offset),
          "content-type": "application/offset+octet-stream",
        },
        body: text,
      });
    expect((await chunk(0, "01234")).status).toBe(204);
    expect((await ask(`/videos/${body.video.id}`, { method: "DELETE" })).status).toBe(204);
    expect((await chunk(5, "56789")).status).toBe(404);
    expect(await recordingBytes(service.service, body.video.id)).toBe(0);
  });
});

describe("a direct upload", () => {
  const create = async (body: object = {}) =>
    (await ask<CreatedVideo>("/videos", { method: "POST", body: { sizeBytes: 30_000, ...body } })).body;

  test("with the stock client needs only the upload URL, even if the connection is interrupted", async () => {
    const { video, upload: ticket } = await create({ filename: "fête ☀.mp4", metadata: { customer: "42" } });
    expect(video).toMatchObject({
      status: "uploading",
      filename: "fête ☀.mp4",
      metadata: { customer: "42", filename: "fête ☀.mp4" },
      sizeBytes: 30_000,
      uploadedAt: null,
      transcription: null,
    });
    const file = Buffer.alloc(30_000, "subtext");
    let cuts = 0;
    await new Promise<void>((resolve, reject) => {
      const running = new tus.Upload(file, {
        uploadUrl: ticket.url,
        chunkSize: 5_000,
        retryDelays: [0, 0, 0],
        onError: reject,
        onSuccess: () => resolve(),
        onChunkComplete: (_size, accepted) => {
          if (accepted !== 10_000 || cuts > 0) return;
          cuts += 1;
          running.abort().then(() => running.start(), reject);
        },
      });
      running.start();
    });
    expect(cuts).toBe(1);
    expect(await readRecording(service.service, video.id)).toEqual(file);
    expect((await ask<Video>(`/videos/${video.id}`)).body).toMatchObject({
      status: "uploaded",
      transcription: { status: "PENDING" },
    });
  });

  test("accepts no more bytes than announced", async () => {
    const { upload: ticket } = await create({ sizeBytes: 4 });
    const response = await fetch(ticket.url, {
      method: "PATCH",
      headers: {
        "tus-resumable": "1.0.0",
        "upload-offset": "0",
        "content-type": "application/offset+octet-stream",
      },
      body: "12345",
    });
    expect([response.status, await response.json()]).toMatchObject([413, { code: "payload_too_large" }]);
  });

  test("must begin while its URL is valid, and may end later", async () => {
    const late = await create({ sizeBytes: 4, expiresInSeconds: 60 });
    const begun = await create({ sizeBytes: 4, expiresInSeconds: 60 });
    const chunk = (url: string, offset: number) =>
      fetch(url, {
        method: "PATCH",
        headers: {
          "tus-resumable": "1.0.0",
          "upload-offset": String(offset),
          "content-type": "application/offset+octet-stream",
        },
        body: "12",
      });
    expect((await chunk(begun.upload.url, 0)).status).toBe(204);
    clock.advance(61_000);
    expect((await chunk(begun.upload.url, 2)).status).toBe(204);
    expect(await (await chunk(late.upload.url, 0)).json()).toMatchObject({ code: "upload_expired" });
  });

  test("URL is valid for one video only, and grants nothing else", async () => {
    const [one, other] = [await create(), await create()];
    const signed = new URL(one.upload.url).search;
    const head = (path: string) =>
      fetch(`${service.url}${path}${signed}`, { headers: { "tus-resumable": "1.0.0" }, method: "HEAD" });
    expect((await head(`/api/v1/uploads/${one.video.id}`)).status).toBe(200);
    expect((await head(`/api/v1/uploads/${other.video.id}`)).status).toBe(403);
    expect((await fetch(`${service.url}/api/v1/videos/${one.video.id}${signed}`)).status).toBe(401);
  });

  test("from a page is limited to the origins of the environment", async () => {
    const { upload: ticket } = await create();
    const head = (origin: string) =>
      fetch(ticket.url, { method: "HEAD", headers: { "tus-resumable": "1.0.0", origin } });
    expect((await head("https://any.example")).headers.get("access-control-allow-origin")).toBe("*");
    await db()
      .updateTable("environment")
      .set({ allowed_origins: JSON.stringify(["https://app.example"]) })
      .where("id", "=", tenant.environmentId)
      .execute();
    const allowed = await head("https://app.example");
    expect([allowed.status, allowed.headers.get("access-control-allow-origin")]).toEqual([
      200,
      "https://app.example",
    ]);
    expect(allowed.headers.get("vary")).toBe("Origin");
    expect((await head("https://app.example.evil.example")).status).toBe(403);
    const program = await fetch(ticket.url, { method: "HEAD", headers: { "tus-resumable": "1.0.0" } });
    expect(program.status).toBe(200);
  });
});

describe("a POST with an idempotency key", () => {
  const create = (key: string, body: object, by = tenant) =>
    ask<CreatedVideo>("/videos", { method: "POST", body, by, headers: { "idempotency-key": key } });

  test("gets the first response again, and takes effect once", async () => {
    const first = await create("once", { sizeBytes: 5 });
    expect(first.headers.has("idempotency-replayed")).toBe(false);
    const second = await create("once", { sizeBytes: 5 });
    expect([second.status, second.body]).toEqual([201, first.body]);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect((await ask<VideoPage>("/videos")).body.data).toHaveLength(1);
  });

  test("that is sent many times concurrently creates one video", async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => create("many", { sizeBytes: 5 })));
    for (const { status } of answers) expect([201, 409]).toContain(status);
    const made = answers.filter(({ status }) => status === 201).map(({ body }) => body.video.id);
    expect(new Set(made).size).toBe(1);
    expect((await ask<VideoPage>("/videos")).body.data).toHaveLength(1);
  });

  test("is rejected with another body, and is scoped to its environment", async () => {
    await create("mine", { sizeBytes: 5 });
    expect(await create("mine", { sizeBytes: 6 })).toMatchObject({
      status: 422,
      body: { code: "idempotency_key_reused" },
    });
    expect((await create("mine", { sizeBytes: 6 }, await createTenant(service, { clock }))).status).toBe(201);
  });

  test("can be repeated after a failure, and after a day", async () => {
    expect((await create("again", { sizeBytes: 5, metadata: { a: "x".repeat(5000) } })).status).toBe(400);
    const first = await create("again", { sizeBytes: 5 });
    expect(first.status).toBe(201);
    clock.advance(24 * 3_600_000 + 1);
    const nextDay = await create("again", { sizeBytes: 5 });
    expect(nextDay.body.video.id).not.toBe(first.body.video.id);
  });
});
