import { describe, expect, test } from "vitest";
import type { RecognitionResult } from "../../../src/engines/engine.ts";
import type { OpenAiOptions } from "../../../src/engines/openai/openai.ts";
import { failure, inMedia, saying, serversAndEngines, texts } from "../../support/openai-engines.ts";
import { ENGLISH_WORDS } from "../../support/tone-words.ts";
import { openAi, whisperCpp } from "../../support/transcription-server-formats.ts";
import type { TranscriptionServer } from "../../support/transcription-servers.ts";

const { started, engineOf } = serversAndEngines();
const { signal } = new AbortController();

describe("many utterances", () => {
  const many = Array.from({ length: 24 }, (_, index) =>
    saying([ENGLISH_WORDS[index % 8]!, ENGLISH_WORDS[(3 * index) % 8]!], 10 * index),
  );
  const inOrder = many.map(({ said, start }) => inMedia(said, start));

  function expectInOrder(results: readonly RecognitionResult[]): void {
    expect(results.map(texts)).toEqual(inOrder.map((said) => said.map(({ word }) => word)));
    for (const [index, { words }] of results.entries()) {
      expect(words[0]!.start).toBeCloseTo(inOrder[index]![0]!.start);
    }
  }

  /** Answers a request only when others have come after it, the last one first. */
  function backwards(server: TranscriptionServer, atOnce: number): void {
    let waiting: (() => void)[] = [];
    server.before = () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        if (waiting.length < atOnce) return;
        for (const answer of waiting.reverse()) answer();
        waiting = [];
      });
  }

  test("come back in order, however the answers come, and no more are asked at once than is allowed", async () => {
    const server = await started();
    backwards(server, 4);
    const engine = await engineOf([server.origin], { concurrency: 4 });
    expectInOrder(await engine.recognize(many, { signal }));
    expect(server.mostInFlight).toBe(4);
  });

  test("are spread over a fleet", async () => {
    const servers = await Promise.all([
      started(),
      started({ responder: openAi }),
      started({ responder: whisperCpp }),
    ]);
    const engine = await engineOf(
      servers.map(({ origin }) => origin),
      { concurrency: 2 },
    );
    expectInOrder(await engine.recognize(many, { signal }));
    for (const { requests, mostInFlight } of servers) {
      expect(requests.length).toBeGreaterThan(0);
      expect(mostInFlight).toBeLessThanOrEqual(2);
    }
  });

  test("are transcribed by the rest of a fleet if some are down, refuse the key, lack the model or talk nonsense", async () => {
    const gone = await started();
    await gone.stop();
    const [well, locked, nonsense] = await Promise.all([
      started(),
      started({ apiKey: "sk-other" }),
      started({ responder: () => ["?"] }),
    ]);
    const elsewhere = await started({ path: "/elsewhere" });
    const urls = [gone, locked, nonsense, elsewhere, well].map(({ origin }) => `${origin}/v1`);
    expectInOrder(await (await engineOf(urls)).recognize(many, { signal }));
    expect(well.requests).toHaveLength(many.length);
  });

  test("are transcribed by a server that comes back", async () => {
    const server = await started();
    server.faults = [
      { status: 503 },
      "cut before the response",
      { status: 429 },
      "cut in the response",
      { status: 500 },
    ];
    expectInOrder(await (await engineOf([server.origin])).recognize(many, { signal }));
  });

  test("are given up together if one of them is refused", async () => {
    const server = await started();
    server.before = async () => {
      if (server.requests.length >= 3) server.fault = { status: 422, body: '{"detail": "too strange"}' };
    };
    const engine = await engineOf([server.origin], { concurrency: 2 });
    const { code, message } = await failure(engine.recognize(many, { signal }));
    expect([code, message]).toEqual(["engine_refused", expect.stringContaining("too strange")]);
    expect(server.requests.length).toBeLessThan(many.length);
  });

  test("end at once if the recording is given up", async () => {
    const server = await started();
    server.fault = "never respond";
    const abort = new AbortController();
    const engine = await engineOf([server.origin], { concurrency: 3 });
    const asked = new Promise<void>((resolve) => {
      server.before = async () => {
        if (server.requests.length === 3) resolve();
      };
    });
    const result = engine.recognize(many, { signal: abort.signal });
    await asked;
    abort.abort(new Error("given up"));
    await expect(result).rejects.toThrow("given up");
    await expect.poll(() => server.inFlight).toBe(0);
    server.fault = null;
    expectInOrder(await engine.recognize(many, { signal }));
  });
});

describe("faults of a server", () => {
  const lasting: [string, Partial<TranscriptionServer>, Partial<OpenAiOptions>, string, RegExp][] = [
    ["is overloaded", { fault: { status: 503 } }, {}, "engine_unavailable", /responded with 503/],
    ["limits the rate", { fault: { status: 429 } }, {}, "engine_unavailable", /responded with 429/],
    ["breaks off", { fault: "cut before the response" }, {}, "engine_unavailable", /failed: /],
    ["breaks off in the response", { fault: "cut in the response" }, {}, "engine_unavailable", /failed: /],
    [
      "never responds",
      { fault: "never respond" },
      { timeoutMs: 50 },
      "engine_unavailable",
      /the response timed out/,
    ],
    ["never ends", { fault: "never end" }, { timeoutMs: 50 }, "engine_unavailable", /the response timed out/],
    ["responds without end", { fault: "endless response" }, {}, "engine_unavailable", /too long/],
    [
      "answers a page",
      { fault: { status: 200, body: "<html>Hello" } },
      {},
      "engine_answer_invalid",
      /not JSON.*<html>/,
    ],
    [
      "answers an error",
      { fault: { status: 200, body: '{"error":"no audio"}' } },
      {},
      "engine_answer_invalid",
      /no audio/,
    ],
    [
      "has no money",
      { fault: { status: 429, body: '{"error":{"code":"insufficient_quota"}}' } },
      {},
      "engine_refused",
      /credit/,
    ],
    [
      "knows no such model",
      { fault: { status: 404, body: '{"detail":"no such model"}' } },
      {},
      "engine_refused",
      /base URL.*no such model/,
    ],
    [
      "finds it too large",
      { fault: { status: 413, body: "<html>" } },
      {},
      "engine_refused",
      /responded with 413 \(the server and its proxy must accept requests of 1 MB/,
    ],
  ];
  for (const [name, state, options, code, message] of lasting) {
    test(`one that ${name} is reported as ${code}`, async () => {
      const server = Object.assign(await started(), state);
      const engine = await engineOf([`${server.origin}/v1`], { maxAttempts: 2, ...options });
      const error = await failure(engine.recognize([saying(["The"])], { signal }));
      expect([error.code, error.message]).toEqual([code, expect.stringMatching(message)]);
      expect(error.message).toContain(server.origin);
      expect(server.requests).toHaveLength(code === "engine_refused" ? 1 : 2);
    });
  }

  test("a wrong key is reported without the key", async () => {
    const server = await started({ apiKey: "sk-right" });
    const engine = await engineOf([], { servers: [{ url: server.origin, apiKey: "sk-wrong-key" }] });
    const error = await failure(engine.recognize([saying(["The"])], { signal }));
    expect([error.code, error.retryable]).toEqual(["engine_refused", false]);
    expect(error.message).toMatch(/127\.0\.0\.1.*responded with 401 \(check the API key\)/);
    expect(error.message).not.toContain("sk-");
  });

  test("what a server repeats of the key is not reported: in a fault, nor in what is no transcript", async () => {
    const apiKey = "sk-of-somebody-who-pays";
    for (const status of [200, 400, 500]) {
      const server = await started();
      // The end of the key is beyond the reported part of the response.
      const body = `${"x".repeat(150)} Bearer ${apiKey}`.repeat(2);
      server.fault = { status, body };
      const engine = await engineOf([], { servers: [{ url: server.origin, apiKey }], maxAttempts: 1 });
      const error = await failure(engine.recognize([saying(["The"])], { signal }));
      expect(error.message).toContain("xxx");
      expect(error.message).not.toContain("sk-");
    }
  });

  test("one gets the name and the password in its URL if it has no key", async () => {
    const server = await started();
    const engine = await engineOf([server.origin.replace("http://", "http://me%40here:secret@")]);
    await engine.recognize([saying(["The"])], { signal });
    expect(server.requests[0]!.authorization).toBe(`Basic ${btoa("me@here:secret")}`);
  });

  test("a redirect is not followed: the key goes nowhere else", async () => {
    const [server, other] = await Promise.all([started(), started()]);
    const location = `${other.origin}/v1/audio/transcriptions?secret=1`;
    server.fault = { status: 307, headers: { location } };
    const engine = await engineOf([], { servers: [{ url: server.origin, apiKey: "sk-key" }] });
    const error = await failure(engine.recognize([saying(["The"])], { signal }));
    expect([error.code, error.message]).toEqual(["engine_refused", expect.stringContaining(other.origin)]);
    expect(error.message).not.toContain("secret");
    expect(other.requests).toEqual([]);
  });

  test("one that takes its time to think is not one that cannot be reached", async () => {
    const server = await started();
    server.before = () => new Promise((resolve) => setTimeout(resolve, 400));
    const engine = await engineOf([server.origin], { connectTimeoutMs: 200, maxAttempts: 1 });
    const [result] = await engine.recognize([saying(["fine!"])], { signal });
    expect(texts(result!)).toEqual(["fine!"]);
  });

  test("one that asks for more patience than there is, is not waited for", async () => {
    const server = await started();
    server.fault = { status: 429, headers: { "retry-after": "3600" } };
    const engine = await engineOf([server.origin], { retryTimeoutMs: 60_000 });
    const error = await failure(engine.recognize([saying(["The"])], { signal }));
    expect(error.code).toBe("engine_unavailable");
    expect(server.requests).toHaveLength(1);
  });

  test("one that was never reached is given up at once where somebody waits, one that was is waited for", async () => {
    const server = await started();
    const hasty = { maxAttempts: 3, failsIfUnreachable: true };
    const engine = await engineOf([server.origin], hasty);
    await engine.recognize([saying(["The"])], { signal });
    await server.stop();
    const [known, unknown, nameless] = await Promise.all(
      [
        engine,
        await engineOf([server.origin], hasty),
        await engineOf(["http://nobody.invalid/v1"], hasty),
      ].map((each) => failure(each.recognize([saying(["The"])], { signal }))),
    );
    expect(known?.code).toBe("engine_unavailable");
    expect([unknown?.code, unknown?.message]).toEqual([
      "engine_refused",
      expect.stringMatching(/ECONNREFUSED.*\(check the address and whether the server is running\)/),
    ]);
    expect([nameless?.code, nameless?.message]).toEqual([
      "engine_refused",
      expect.stringContaining("nobody.invalid"),
    ]);
  });

  test("one of a fleet that was never reached keeps nobody from the others", async () => {
    const [gone, there] = [await started(), await started()];
    await gone.stop();
    const engine = await engineOf([gone.origin, there.origin], { failsIfUnreachable: true });
    const [result] = await engine.recognize([saying(["fine!"])], { signal });
    expect(texts(result!)).toEqual(["fine!"]);
  });

  test("one that is not there is determined by its address, without the password in it", async () => {
    const server = await started();
    await server.stop();
    const url = server.origin.replace("http://", "http://user:hunter2@");
    const error = await failure(
      (await engineOf([url], { maxAttempts: 2 })).recognize([saying(["The"])], { signal }),
    );
    expect([error.code, error.message]).toEqual([
      "engine_unavailable",
      expect.stringContaining("ECONNREFUSED"),
    ]);
    expect(error.message).not.toContain("hunter2");
  });
});
