import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer as createHttpServer, type Server } from "node:http";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { parseResponse } from "../../../src/engines/openai/response.ts";
import { failureOf } from "../../../src/engines/openai/server-failure.ts";
import { failure, saying, serversAndEngines, texts } from "../../support/openai-engines.ts";
import { until } from "../../support/processes.ts";
import { ENGLISH_WORDS } from "../../support/tone-words.ts";

/** whisper.cpp's sources with its server built, as its README says. Its test models write no text. */
const FOLDER = process.env.TEST_WHISPER_CPP ?? "";
const { engineOf } = serversAndEngines();
const { signal } = new AbortController();
const started: ChildProcess[] = [];
const proxies: Server[] = [];

afterEach(async () => {
  for (const proxy of proxies.splice(0)) proxy.close();
  for (const server of started.splice(0)) await killed(server);
});

async function killed(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  server.kill("SIGKILL");
  await once(server, "exit");
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  if (address === null || typeof address === "string") throw new Error("The probe has no port.");
  return address.port;
}

/** Resolves when the server has loaded its model and listens. */
async function startServer(port: number): Promise<ChildProcess> {
  const model = join(FOLDER, "models/for-tests-ggml-tiny.bin");
  const options = ["--host", "127.0.0.1", "--port", String(port), "-t", "1"];
  const server = spawn(join(FOLDER, "build/bin/whisper-server"), ["-m", model, ...options], {
    stdio: "ignore",
  });
  started.push(server);
  await until(async () => {
    if (server.exitCode !== null) throw new Error(`whisper-server ended with ${server.exitCode}.`);
    const socket = connect(port, "127.0.0.1");
    return await once(socket, "connect")
      .then(
        () => true,
        () => false,
      )
      .finally(() => socket.destroy());
  });
  return server;
}

/** Rejects the formats that come before the given one, as a server without them would, and passes on everything else. */
async function startProxy(port: number, format: "json" | "text", answers: string[]): Promise<number> {
  const proxy = createHttpServer(async (request, response) => {
    const body = Buffer.concat(await Array.fromAsync(request)).subarray();
    const headers = { "content-type": request.headers["content-type"] ?? "" };
    const requested = (await new Response(body, { headers }).formData()).get("response_format");
    if (requested !== format) {
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: `response_format ${requested} is not supported` } }));
      return;
    }
    const answer = await fetch(`http://127.0.0.1:${port}${request.url}`, { method: "POST", headers, body });
    const text = await answer.text();
    answers.push(text);
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
    response.end(text);
  }).listen(0, "127.0.0.1");
  proxies.push(proxy);
  await once(proxy, "listening");
  return (proxy.address() as AddressInfo).port;
}

// A window takes seconds on a free core.
describe.skipIf(FOLDER === "")("whisper.cpp's own server", { timeout: 600_000 }, () => {
  const url = (port: number) => `http://127.0.0.1:${port}/inference`;
  const many = Array.from({ length: 4 }, (_, index) => saying(ENGLISH_WORDS, 10 * index));

  test("answers all of several requests at once, without words, because its test model has no weights", async () => {
    const port = await freePort();
    await startServer(port);
    const engine = await engineOf([url(port)]);
    const results = await engine.recognize(many, { signal });
    expect(results.map(texts)).toEqual([[], [], [], []]);
    expect(results.map(({ language }) => language)).toEqual([null, null, null, null]);
  });

  test("accepts a vocabulary", async () => {
    const port = await freePort();
    await startServer(port);
    const engine = await engineOf([url(port)]);
    const vocabulary = ["Subtext", "Anna Weber"];
    const results = await engine.recognize(many.slice(0, 1), { signal, vocabulary });
    expect(results.map(texts)).toEqual([[]]);
  });

  test.each([
    ["json", /^\s*\{\s*"text"/],
    ["text", /^[^{]*$/],
  ] as const)("is understood in the format %s", async (format, answer) => {
    const port = await freePort();
    await startServer(port);
    const answers: string[] = [];
    const engine = await engineOf([url(await startProxy(port, format, answers))]);
    const results = await engine.recognize(many.slice(0, 1), { signal });
    expect(results.map(texts)).toEqual([[]]);
    expect(answers).toEqual([expect.stringMatching(answer)]);
  });

  test("is reported with its status if it does not transcribe at this path", async () => {
    const port = await freePort();
    await startServer(port);
    const engine = await engineOf([`http://127.0.0.1:${port}/v1`]);
    const error = await failure(engine.recognize(many.slice(0, 1), { signal }));
    expect([error.code, error.message]).toEqual([
      "engine_refused",
      expect.stringContaining("responded with 404 (check the base URL, including /v1, and the model)"),
    ]);
  });

  test("answers something that is no transcription to a request without audio", async () => {
    const port = await freePort();
    await startServer(port);
    const answer = await fetch(url(port), { method: "POST", body: new FormData() });
    const body = await answer.text();
    const failed = failureOf({ status: answer.status, headers: {}, body });
    // It reports errors with the status 200, so the body must not pass for a transcription.
    if (failed === null) expect(() => parseResponse(body, 1)).toThrow("The response");
    else expect(["rejected", "invalid"]).toContain(failed.kind);
  });

  test("is waited for if it is killed during a request and started again", async () => {
    const port = await freePort();
    const first = await startServer(port);
    const engine = await engineOf([url(port)], { maxAttempts: 10_000 });
    const results = engine.recognize(many.slice(0, 2), { signal });
    await killed(first);
    await startServer(port);
    expect((await results).map(texts)).toEqual([[], []]);
  });

  test("is reported as unavailable if it answers more slowly than allowed", async () => {
    const port = await freePort();
    await startServer(port);
    const engine = await engineOf([url(port)], { timeoutMs: 20, maxAttempts: 2 });
    const error = await failure(engine.recognize(many.slice(0, 1), { signal }));
    expect([error.code, error.message]).toEqual([
      "engine_unavailable",
      expect.stringContaining("the response timed out"),
    ]);
  });
});
