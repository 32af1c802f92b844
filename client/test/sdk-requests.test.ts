import { readFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Subtext } from "../src/client.ts";
import { CLIENT_ERRORS, SubtextError } from "../src/errors.ts";
import { DEFAULT_RETRY_POLICY, readRetryAfterMs, retryDelayMs } from "../src/retry.ts";
import { fillRoute } from "../src/transport.ts";
import { uploadTo } from "../src/upload.ts";
import { verifyWebhook } from "../src/verify-webhook.ts";
import { problem, type Step, startScriptedServer } from "./scripted-server.ts";

const VIDEO = { id: "video_1" };
const quick = { firstDelayMs: 1, maxDelayMs: 10 };

async function serve(...script: Step[]) {
  const { url, requests } = await startScriptedServer(...script);
  return { requests, subtext: new Subtext({ baseUrl: `${url}/`, apiKey: "subtext_a_b", retry: quick }) };
}

const errorOf = async (promise: Promise<unknown>): Promise<SubtextError> => {
  const error = await promise.then(
    () => "nothing was thrown",
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(SubtextError);
  return error as SubtextError;
};

const invalid = (name: string) => ({
  code: "invalid_argument",
  detail: expect.stringContaining(`\`${name}\``),
});

describe("a request", () => {
  test("sends the key and only the given query parameters", async () => {
    const { subtext, requests } = await serve({ body: { data: [], nextCursor: null } });
    await subtext.videos.list({ limit: 5, transcriptionStatus: "FAILED" }).page();
    expect(requests[0]).toMatchObject({
      method: "GET",
      url: "/api/v1/videos?limit=5&transcriptionStatus=FAILED",
      headers: { authorization: "Bearer subtext_a_b" },
    });
    expect(requests[0]?.headers).not.toHaveProperty("idempotency-key");
  });

  test("uses the given fetch", async () => {
    const seen: string[] = [];
    const subtext = new Subtext({
      baseUrl: "https://captions.example/base/",
      apiKey: null,
      fetch: async (url) => {
        seen.push(url);
        return Response.json(VIDEO);
      },
    });
    expect(await subtext.videos.get("video_1")).toEqual(VIDEO);
    expect(seen).toEqual(["https://captions.example/base/api/v1/videos/video_1"]);
  });

  test.each(["", ".", ".."])("is not sent for the identifier %j, which would change the path", async (id) => {
    const { subtext, requests } = await serve({});
    expect(await errorOf(subtext.videos.delete(id))).toMatchObject(invalid("videoId"));
    expect(requests).toEqual([]);
  });

  test("stays on the path of its operation for every identifier", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (id) => {
        fc.pre(!/^\.{0,2}$/.test(id) && id.isWellFormed());
        const { pathname } = new URL(fillRoute("/api/v1/videos/{videoId}", { videoId: id }, {}), "http://h");
        expect(decodeURIComponent(pathname.replace("/api/v1/videos/", ""))).toBe(id);
      }),
    );
  });
});

describe("a request that fails", () => {
  test.each([
    problem(503, "service_unavailable", { "retry-after": "0" }),
    problem(429, "rate_limited"),
    problem(409, "idempotency_key_in_use"),
    { status: 502, body: "<html>Bad Gateway</html>" },
    "cut" as const,
  ])("is retried if a retry may help (%j)", async (failure) => {
    const { subtext, requests } = await serve(failure, failure, { status: 201, body: { video: VIDEO } });
    expect(await subtext.videos.create({ sizeBytes: 1 })).toEqual({ video: VIDEO });
    expect(requests).toHaveLength(3);
  });

  test("has the same idempotency key on every retry", async () => {
    const { subtext, requests } = await serve("cut", problem(500, "internal_error"), { body: {} });
    await subtext.webhookEndpoints.rotateSecret("endpoint_1");
    await subtext.webhookEndpoints.rotateSecret("endpoint_1");
    const keys = requests.map(({ headers }) => headers["idempotency-key"]);
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(keys).toEqual([keys[0], keys[0], keys[0], keys[3]]);
    expect(keys[3]).not.toBe(keys[0]);
  });

  test("has the caller's idempotency key", async () => {
    const { subtext, requests } = await serve({ body: {} });
    await subtext.videos.create({ sizeBytes: 1 }, { idempotencyKey: "import-42" });
    expect(requests[0]?.headers["idempotency-key"]).toBe("import-42");
  });

  test.each([
    problem(404, "video_not_found"),
    problem(403, "insufficient_permission"),
    problem(404, "upload_incomplete", { "retry-after": "0" }),
    problem(422, "idempotency_key_reused"),
    { status: 404, body: "<html>nothing here</html>" },
    { status: 302, headers: { location: "https://elsewhere.example/" } },
  ])("is not retried if a retry cannot help (%j)", async (failure) => {
    const { subtext, requests } = await serve(failure);
    await errorOf(subtext.videos.create({ sizeBytes: 1 }));
    expect(requests).toHaveLength(1);
  });

  test("fails with the last error after the allowed number of retries", async () => {
    const { subtext, requests } = await serve(problem(503, "service_unavailable"));
    const error = await errorOf(subtext.videos.get("video_1"));
    expect(error).toMatchObject({ code: "service_unavailable", status: 503, retryable: true });
    expect(requests).toHaveLength(1 + DEFAULT_RETRY_POLICY.maxRetries);
  });

  test("is not retried if Retry-After exceeds the allowed delay", async () => {
    const { subtext, requests } = await serve(problem(429, "rate_limited", { "retry-after": "3600" }));
    expect(await errorOf(subtext.videos.get("video_1"))).toMatchObject({ retryAfterMs: 3_600_000 });
    expect(requests).toHaveLength(1);
  });

  test("waits for the rate limit as often as necessary without counting the waits as retries", async () => {
    const refusal = problem(429, "rate_limited", { "retry-after": "0" });
    const { subtext, requests } = await serve(...Array.from({ length: 20 }, () => refusal), { body: VIDEO });
    expect(await subtext.videos.get("video_1")).toEqual(VIDEO);
    expect(requests).toHaveLength(21);
  });

  test("fails at a rate limit if the client makes no retries", async () => {
    const { url, requests } = await startScriptedServer(problem(429, "rate_limited", { "retry-after": "0" }));
    const subtext = new Subtext({ baseUrl: url, apiKey: null, retry: { maxRetries: 0 } });
    expect(await errorOf(subtext.videos.get("video_1"))).toMatchObject({ code: "rate_limited" });
    expect(requests).toHaveLength(1);
  });

  test("does not delay other requests if Retry-After exceeds the allowed delay", async () => {
    const { subtext } = await serve(problem(429, "rate_limited", { "retry-after": "3600" }), { body: VIDEO });
    await errorOf(subtext.videos.get("video_1"));
    expect(await subtext.videos.get("video_1")).toEqual(VIDEO);
  });

  test("reports the error that the service returned", async () => {
    const { subtext } = await serve(problem(404, "video_not_found"));
    const error = await errorOf(subtext.videos.get("video_1"));
    expect({ ...error }).toEqual({
      name: "SubtextError",
      code: "video_not_found",
      detail: "What happened.",
      status: 404,
      requestId: "r-1",
      retryable: false,
      retryAfterMs: null,
    });
    expect(error.message).toBe("What happened. (video_not_found, request r-1)");
  });

  test("reports a code that is newer than the client", async () => {
    const { subtext } = await serve(problem(418, "is_a_teapot"));
    expect(await errorOf(subtext.videos.get("video_1"))).toMatchObject({
      code: "is_a_teapot",
      retryable: false,
    });
  });

  test("distinguishes responses that do not come from the service", async () => {
    const page = await serve({ status: 200, body: "<html>Sign in</html>" });
    expect(await errorOf(page.subtext.videos.get("v"))).toMatchObject({
      code: "unexpected_response",
      status: 200,
    });
    const moved = await serve({ status: 301, headers: { location: "/elsewhere" } });
    expect(await errorOf(moved.subtext.videos.get("v"))).toMatchObject({ code: "unexpected_redirect" });
    const nobody = new Subtext({ baseUrl: "http://127.0.0.1:9", apiKey: null, retry: { maxRetries: 0 } });
    expect(await errorOf(nobody.videos.get("v"))).toMatchObject({ code: "connection_failed", status: null });
  });

  test("fails on a timeout and when the caller aborts it", async () => {
    const { subtext } = await serve("hang");
    const hung = subtext.videos.get("v", { timeoutMs: 30 });
    expect(await errorOf(hung)).toMatchObject({ code: "request_timed_out" });
    const reason = new Error("the user left");
    const controller = new AbortController();
    const call = subtext.videos.get("v", { signal: controller.signal });
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
  });

  test("fails immediately when the caller aborts it between two attempts", async () => {
    const { subtext, requests } = await serve(problem(503, "service_unavailable", { "retry-after": "60" }));
    const controller = new AbortController();
    const call = subtext.videos.get("v", { signal: controller.signal });
    while (requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    controller.abort(new Error("the user left"));
    await expect(call).rejects.toThrow("the user left");
  });
});

describe("a deletion", () => {
  test("succeeds if its response was lost and a retry gets 404", async () => {
    const { subtext } = await serve("cut", problem(404, "video_not_found"));
    await expect(subtext.videos.delete("video_1")).resolves.toBeUndefined();
  });

  test("of a missing video fails, even after waiting for the rate limit", async () => {
    const waited = await serve(problem(429, "rate_limited"), problem(404, "video_not_found"));
    expect(await errorOf(waited.subtext.videos.delete("video_1"))).toMatchObject({ code: "video_not_found" });
    const { subtext } = await serve(problem(404, "video_not_found"));
    expect(await errorOf(subtext.videos.delete("video_1"))).toMatchObject({ code: "video_not_found" });
  });
});

describe("a list", () => {
  const pages = [
    { body: { data: [{ id: "a" }, { id: "b" }], nextCursor: "after b" } },
    { body: { data: [{ id: "c" }], nextCursor: null } },
  ];

  test("iterates over the items of all pages with the same filter", async () => {
    const { subtext, requests } = await serve(...pages);
    const seen: string[] = [];
    for await (const { id } of subtext.videos.list({ transcriptionStatus: "SKIPPED" })) seen.push(id);
    expect(seen).toEqual(["a", "b", "c"]);
    expect(requests.map(({ url }) => url)).toEqual([
      "/api/v1/videos?transcriptionStatus=SKIPPED",
      "/api/v1/videos?transcriptionStatus=SKIPPED&cursor=after+b",
    ]);
  });

  test("loads only the pages that are iterated", async () => {
    const { subtext, requests } = await serve(...pages);
    for await (const { id } of subtext.webhookEndpoints.list()) if (id === "b") break;
    expect(requests).toHaveLength(1);
  });

  test("returns the page of a cursor", async () => {
    const { subtext, requests } = await serve(...pages);
    const page = await subtext.webhookEndpoints.listDeliveries("e", { cursor: "c", status: "failed" }).page();
    expect(page.nextCursor).toBe("after b");
    expect(requests[0]?.url).toBe("/api/v1/webhook-endpoints/e/deliveries?cursor=c&status=failed");
  });
});

describe("the delay before a retry", () => {
  const chance = fc.double({ min: 0, max: 1, noNaN: true });
  const failures = fc.integer({ min: 1, max: 50 });

  test("is never shorter than Retry-After, nor longer than it plus the backoff", () => {
    fc.assert(
      fc.property(failures, chance, fc.integer({ min: 0, max: 60_000 }), (count, luck, askedMs) => {
        const delayMs = retryDelayMs(DEFAULT_RETRY_POLICY, count, askedMs, luck) ?? Number.NaN;
        expect(delayMs).toBeGreaterThanOrEqual(askedMs);
        expect(delayMs).toBeLessThanOrEqual(askedMs + DEFAULT_RETRY_POLICY.maxDelayMs);
      }),
    );
  });

  test("doubles up to its limit, half of it random", () => {
    const policy = { ...DEFAULT_RETRY_POLICY, firstDelayMs: 100, maxDelayMs: 1_000 };
    const most = [1, 2, 3, 4, 5, 6].map((count) => retryDelayMs(policy, count, null, 1));
    expect(most).toEqual([100, 200, 400, 800, 1_000, 1_000]);
    expect(retryDelayMs(policy, 3, null, 0)).toBe(200);
  });

  test("is read from seconds and from dates", () => {
    const now = Date.parse("2026-01-02T03:04:05Z");
    const read = (value: string) => readRetryAfterMs(new Headers({ "retry-after": value }), now);
    expect(read("7")).toBe(7_000);
    expect(read("Fri, 02 Jan 2026 03:04:15 GMT")).toBe(10_000);
    expect(read("Fri, 02 Jan 2026 03:04:00 GMT")).toBe(0);
    for (const nothing of ["soon", "-1", "1.5", "0x10"]) expect(read(nothing)).toBeNull();
    expect(readRetryAfterMs(new Headers(), now)).toBeNull();
  });

  test("uses the service's clock, not the client's", () => {
    const headers = new Headers({
      date: "Fri, 02 Jan 2026 03:04:05 GMT",
      "retry-after": "Fri, 02 Jan 2026 03:04:15 GMT",
    });
    expect(readRetryAfterMs(headers, Date.parse("2026-01-02T04:00:00Z"))).toBe(10_000);
  });
});

describe("the wait for a transcription", () => {
  const pending = (retryAfter: string) => ({
    headers: { "retry-after": retryAfter },
    body: { status: "PENDING" },
  });

  test.each(["0", "Thu, 01 Jan 1970 00:00:00 GMT", "999999999"])(
    "polls at its own pace if Retry-After is %s",
    async (retryAfter) => {
      const { subtext, requests } = await serve(pending(retryAfter));
      const controller = new AbortController();
      const wait = subtext.transcriptions.wait("video_1", { signal: controller.signal });
      setTimeout(() => controller.abort(new Error("enough")), 200);
      await expect(wait).rejects.toThrow("enough");
      expect(requests).toHaveLength(1);
    },
  );

  const reasons = { failure: null, skipReason: "no_audio_track", incomplete: false };
  const skipped = { body: { status: "SKIPPED", transcription: { status: "SKIPPED", ...reasons } } };
  const failed = (now: string) => ({
    body: { status: "FAILED", transcription: { status: now, ...reasons } },
  });

  test("continues if a failed transcription was reprocessed before the failure was read", async () => {
    const { subtext, requests } = await serve(failed("FAILED"), failed("PENDING"), skipped);
    expect(await subtext.transcriptions.wait("video_1")).toMatchObject({ status: "SKIPPED", ...reasons });
    expect(requests.map(({ url }) => url.endsWith("/transcription"))).toEqual([true, false, true, false]);
  });

  test("leaves half of the quota to other requests when it polls and when it reads the failure", async () => {
    const headers = { "ratelimit-policy": '"per-key";q=60;w=60000', ratelimit: '"per-key";r=20;t=40000' };
    const { subtext, requests } = await serve({ ...failed("FAILED"), headers });
    const controller = new AbortController();
    const wait = subtext.transcriptions.wait("video_1", { signal: controller.signal });
    while (requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await subtext.webhookEndpoints.get("endpoint_1");
    controller.abort(new Error("enough"));
    await expect(wait).rejects.toThrow("enough");
    expect(requests.map(({ url }) => url.split("/").at(-1))).toEqual(["transcription", "endpoint_1"]);
  });

  test("may have a longer timeout than timers support, or a fraction of a millisecond", async () => {
    const { subtext } = await serve(skipped);
    for (const givenMs of [2 ** 31, Number.POSITIVE_INFINITY, 9_999.5]) {
      const options = { waitTimeoutMs: givenMs, timeoutMs: givenMs };
      expect(await subtext.transcriptions.wait("video_1", options)).toMatchObject({ status: "SKIPPED" });
    }
  });
});

const baseUrl = "https://captions.example";

describe("a client", () => {
  test.each([
    ["baseUrl", { baseUrl: undefined }],
    ["baseUrl", { baseUrl: "captions.example" }],
    ["baseUrl", { baseUrl: "ftp://captions.example" }],
    ["baseUrl", { baseUrl: "https://captions.example/?a=b" }],
    ["baseUrl", { baseUrl: "https://captions.example/#a" }],
    ["baseUrl", { baseUrl: "https://me:secret@captions.example" }],
    ["baseUrl", { baseUrl: "https://captions.example/api/v1" }],
    ["apiKey", { apiKey: undefined }],
    ["apiKey", { apiKey: "" }],
    ["apiKey", { apiKey: "a\nb" }],
    ["fetch", { fetch: "fetch" }],
    ["timeoutMs", { timeoutMs: Number.NaN }],
    ["retry.maxRetries", { retry: { maxRetries: -1 } }],
  ])("is not created with an invalid %s: %j", (name, options) => {
    expect(() => new Subtext({ baseUrl, apiKey: "k", ...options } as never)).toThrow(
      expect.objectContaining(invalid(name)),
    );
  });

  test("is not created without options", () => {
    expect(() => new Subtext(undefined as never)).toThrow(expect.objectContaining(invalid("options")));
  });

  test("accepts undefined for options with a default", async () => {
    const { url } = await startScriptedServer({ body: VIDEO });
    const undefinedOptions = { fetch: undefined, timeoutMs: undefined, retry: { maxRetries: undefined } };
    const subtext = new Subtext({ baseUrl: url, apiKey: "k", ...undefinedOptions } as never);
    expect(await subtext.videos.get("video_1", { signal: undefined, timeoutMs: undefined })).toEqual(VIDEO);
  });
});

describe("an invalid argument", () => {
  const { videos, transcriptions, webhookEndpoints } = new Subtext({ baseUrl, apiKey: "k" });
  const nothing = null as never;
  const file = new Blob(["x"]);
  const calls: [string, () => unknown][] = [
    ["videoId", () => videos.get(undefined as never)],
    ["videoId", () => transcriptions.wait(7 as never)],
    ["videoId", () => videos.get("\ud800")],
    ["endpointId", () => webhookEndpoints.get(nothing)],
    ["video", () => videos.create(nothing)],
    ["query", () => videos.list(nothing)],
    ["query", () => webhookEndpoints.listDeliveries("e", nothing)],
    ["endpoint", () => webhookEndpoints.create(undefined as never)],
    ["change", () => webhookEndpoints.update("e", nothing)],
    ["request", () => webhookEndpoints.redeliverFailed("e", "2026-01-01" as never)],
    ["file", () => videos.upload("meeting.mp4" as never)],
    ["file", () => videos.upload(nothing)],
    ["options", () => videos.upload(file, nothing)],
    ["options", () => videos.get("v", nothing)],
    ["options", () => transcriptions.wait("v", nothing)],
    ["options", () => transcriptions.words("v", nothing)],
    ["signal", () => videos.get("v", { signal: {} as never })],
    ["signal", () => transcriptions.wait("v", { signal: nothing })],
    ["timeoutMs", () => videos.get("v", { timeoutMs: -1 })],
    ["waitTimeoutMs", () => transcriptions.wait("v", { waitTimeoutMs: Number.NaN })],
    ["idempotencyKey", () => videos.create({ sizeBytes: 1 }, { idempotencyKey: "zwölf" })],
    ["uploadUrl", () => uploadTo("/api/v1/uploads/v", file)],
    ["file", () => uploadTo(baseUrl, undefined as never)],
    ["options", () => uploadTo(baseUrl, file, nothing)],
    ["timeoutMs", () => uploadTo(baseUrl, file, { timeoutMs: -1 })],
    ["maxChunkBytes", () => uploadTo(baseUrl, file, { maxChunkBytes: 0 })],
    ["maxChunkBytes", () => videos.upload(file, { maxChunkBytes: 0.5 })],
    ["webhook", () => verifyWebhook(undefined as never, [])],
    ["webhook.headers", () => verifyWebhook({ headers: nothing, body: "" }, [])],
    [
      "toleranceSeconds",
      () => verifyWebhook({ headers: {}, body: "" }, [], { toleranceSeconds: Number.NaN }),
    ],
    ["now", () => verifyWebhook({ headers: {}, body: "" }, [], { now: new Date("soon") })],
  ];

  test.each(calls)("is named in the error: %s of %s", async (name, call) => {
    expect(await errorOf(Promise.resolve().then(call))).toMatchObject(invalid(name));
  });

  test("that cannot be serialized as JSON is rejected before anything is sent", async () => {
    const metadata = { team: 7n } as never;
    const error = await errorOf(webhookEndpoints.create({ url: "https://h.example", metadata }));
    expect(error.code).toBe("invalid_argument");
  });
});

describe("docs/client.md, which is the README of the package,", () => {
  test("names every error of the client, and no other", async () => {
    const text = await readFile(join(import.meta.dirname, "../../docs/client.md"), "utf8");
    const named = [...text.matchAll(/^\| `(\w+)` \|/gm)].map(([, code]) => code);
    expect(named).toEqual(Object.keys(CLIENT_ERRORS));
  });
});
