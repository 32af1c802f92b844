import type { TranscriptionStatus } from "@subtext/client/contract/transcription";
import { Transcription } from "@subtext/client/contract/transcription";
import { Value } from "typebox/value";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import { newJobId } from "../../src/queue/queue.ts";
import { completeUpload } from "../../src/videos/queries.ts";
import {
  createTenant,
  MovableClock,
  readTranscription,
  shareService,
  type Tenant,
} from "../support/service.ts";

const clock = new MovableClock();
const service = shareService({ start: false, clock });
let tenant: Tenant;

beforeEach(async () => {
  tenant = await createTenant(service);
});

async function insertVideo(status: TranscriptionStatus | null): Promise<string> {
  const db = service.service.parts.database.kysely;
  const id = newId("video");
  await db
    .insertInto("video")
    .values({
      id,
      environment_id: tenant.environmentId,
      metadata: JSON.stringify({ filename: '../../etc/Ferien "1".final.mp4' }),
      size_bytes: 1,
      created_at: clock.now(),
    })
    .execute();
  const upload = { sizeBytes: 1, aiTranscription: status !== null, now: clock.now() };
  await db.transaction().execute((tx) => completeUpload(tx, id, upload));
  if (status === null) return id;
  const transcriptionId = newId("transcription");
  const completed = status === "COMPLETED";
  await db
    .insertInto("transcription")
    .values({
      id: transcriptionId,
      video_id: id,
      environment_id: tenant.environmentId,
      status,
      job_id: newJobId(),
      stages: "null",
      created_at: new Date("2026-01-02T03:04:05.006Z"),
      queued_at: new Date("2026-01-02T03:04:05.006Z"),
      finished_at:
        status === "PENDING" || status === "PROCESSING" ? null : new Date("2026-01-02T03:05:00.000Z"),
      ...(completed && {
        file_prefix: `transcripts/${transcriptionId}/1`,
        language: "en",
        word_count: 2,
        duration: 12.345,
      }),
      ...(status === "FAILED" && { failure_code: "unreadable_media", failure_message: "It is text." }),
      ...(status === "SKIPPED" && { skip_reason: "no_audio_track", duration: 3 }),
    })
    .execute();
  return id;
}

describe("the transcription of a video", () => {
  test.each(["PENDING", "PROCESSING", "FAILED", "SKIPPED"] as const)(
    "in state %s has no files",
    async (status) => {
      const videoId = await insertVideo(status);
      const { status: httpStatus, body, headers } = await readTranscription(service, tenant, videoId);
      expect(httpStatus).toBe(200);
      expect(Value.Check(Transcription, body)).toBe(true);
      expect(body).toMatchObject({
        videoId,
        environmentId: tenant.environmentId,
        status,
        language: null,
        wordCount: null,
        files: null,
        createdAt: "2026-01-02T03:04:05.006Z",
        completedAt: null,
      });
      expect(Object.keys(body)).toHaveLength(10);
      expect(headers.get("cache-control")).toBe("no-store");
      const mayPoll = status === "PENDING" || status === "PROCESSING";
      expect(headers.has("retry-after")).toBe(mayPoll);
    },
  );

  test("in state COMPLETED has three files, with URLs that are new in every response and valid for 5 minutes", async () => {
    const videoId = await insertVideo("COMPLETED");
    const first = (await readTranscription(service, tenant, videoId)).body;
    expect(Value.Check(Transcription, first)).toBe(true);
    expect(first).toMatchObject({
      status: "COMPLETED",
      language: "en",
      wordCount: 2,
      duration: 12.345,
      completedAt: "2026-01-02T03:05:00.000Z",
      files: {
        vtt: { contentType: "text/vtt" },
        json: { contentType: "application/json" },
        txt: { contentType: "text/plain" },
      },
    });
    const lifetimeMs = Date.parse(first.files?.vtt.expiresAt ?? "") - clock.now().getTime();
    expect(Math.abs(lifetimeMs - 300_000)).toBeLessThan(5_000);

    clock.advance(60_000);
    const second = (await readTranscription(service, tenant, videoId)).body;
    expect(second.files?.vtt.url).not.toBe(first.files?.vtt.url);
    expect(second.files?.vtt.expiresAt).not.toBe(first.files?.vtt.expiresAt);
  });

  test("ignores unknown query parameters", async () => {
    const videoId = await insertVideo("PENDING");
    const response = await fetch(`${service.url}/api/v1/videos/${videoId}/transcription?language=fr&x[]=1`, {
      headers: { authorization: `Bearer ${tenant.key}` },
    });
    expect(response.status).toBe(200);
  });
});

describe("a request for a transcription", () => {
  const problem = async (videoId: string, authorization: string | null) => {
    const response = await fetch(`${service.url}/api/v1/videos/${videoId}/transcription`, {
      headers: authorization === null ? {} : { authorization },
    });
    const { requestId, instance, detail, ...body } = (await response.json()) as Record<string, string>;
    return { ...body, authenticate: response.headers.get("www-authenticate"), detail };
  };

  test("without a key is rejected before any lookup", async () => {
    const videoId = await insertVideo("PENDING");
    expect(await problem(videoId, null)).toMatchObject({
      type: "/docs/errors#missing_api_key",
      code: "missing_api_key",
      status: 401,
      authenticate: "Bearer",
    });
    expect(await problem("nonsense", "Basic eDp5")).toMatchObject({ code: "missing_api_key", status: 401 });
  });

  test("with a key that is mistyped, unknown or revoked is rejected", async () => {
    const videoId = await insertVideo("PENDING");
    const { key } = tenant;
    const mistyped = key.slice(0, -8) + (key.at(-8) === "a" ? "b" : "a") + key.slice(-7);
    for (const wrong of ["x", mistyped, `${key}x`, key.toUpperCase()]) {
      expect(await problem(videoId, `Bearer ${wrong}`)).toMatchObject({
        code: "invalid_api_key",
        status: 401,
      });
    }
    await service.service.parts.database.kysely
      .updateTable("api_key")
      .set({ revoked_at: clock.now() })
      .where("environment_id", "=", tenant.environmentId)
      .execute();
    expect(await problem(videoId, `Bearer ${key}`)).toMatchObject({ code: "invalid_api_key", status: 401 });
  });

  test("with a key without get_video is rejected", async () => {
    const videoId = await insertVideo("PENDING");
    const uploader = await createTenant(service, { permissions: ["create_video"] });
    expect(await problem(videoId, `Bearer ${uploader.key}`)).toMatchObject({
      code: "insufficient_permission",
      status: 403,
    });
  });

  test("of another environment is indistinguishable from one for an unknown video", async () => {
    const videoId = await insertVideo("COMPLETED");
    const stranger = await createTenant(service);
    const answers = await Promise.all(
      [videoId, newId("video"), "..%2f..%2fetc", "%00", "a".repeat(90), "video_%F0%9F%98%80"].map((id) =>
        problem(id, `Bearer ${stranger.key}`),
      ),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toMatchObject({ code: "video_not_found", status: 404 });
  });

  test("that is concurrent with others gets what its own key may see", async () => {
    const tenants = [tenant, await createTenant(service), await createTenant(service)];
    const videos: { owner: Tenant; id: string }[] = [];
    for (const owner of tenants) {
      tenant = owner;
      videos.push({ owner, id: await insertVideo("COMPLETED") }, { owner, id: await insertVideo("FAILED") });
    }
    const asks = tenants.flatMap((asker) => videos.map(({ owner, id }) => ({ asker, owner, id })));
    await Promise.all(
      asks.map(async ({ asker, owner, id }) => {
        const { status, body } = await readTranscription(service, asker, id);
        if (asker !== owner) expect([status, body]).toMatchObject([404, { code: "video_not_found" }]);
        else expect([status, body]).toMatchObject([200, { videoId: id, environmentId: owner.environmentId }]);
      }),
    );
  });

  test("for a video whose environment was off has no transcription", async () => {
    const videoId = await insertVideo(null);
    expect(await problem(videoId, `Bearer ${tenant.key}`)).toMatchObject({
      code: "transcription_not_found",
      status: 404,
    });
  });

  test("over the rate of its key is rejected with a time to wait", async () => {
    const videoId = await insertVideo("PENDING");
    const ask = () => readTranscription(service, tenant, videoId);
    // The clock is stopped, so that a slow machine does not refill the key's rate.
    const standing = vi.spyOn(clock, "now").mockReturnValue(clock.now());
    const responses = await Promise.all(Array.from({ length: 100 }, ask));
    standing.mockRestore();
    const refused = responses.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(40);
    expect(refused[0]?.body).toMatchObject({ code: "rate_limited" });
    expect(Number(refused[0]?.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(refused[0]?.headers.get("ratelimit-policy")).toBe('"per-key";q=60;w=6');
    expect(responses.map(({ headers }) => headers.get("ratelimit"))).toContain('"per-key";r=59;t=1');

    clock.advance(10_000);
    expect((await readTranscription(service, tenant, videoId)).status).toBe(200);
  });

  test("with another method gets the allowed ones", async () => {
    const response = await fetch(`${service.url}/api/v1/videos/video_x/transcription`, { method: "POST" });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });
});
