import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { failure, saying, serversAndEngines, texts } from "../../support/openai-engines.ts";
import { ENGLISH_WORDS } from "../../support/tone-words.ts";

/** whisper.cpp's sources with its server built, as its README says. Its test models write no text. */
const FOLDER = process.env.TEST_WHISPER_CPP ?? "";
const { engineOf } = serversAndEngines();
const { signal } = new AbortController();
const started: ChildProcess[] = [];

afterEach(async () => {
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

function startServer(port: number): ChildProcess {
  const model = join(FOLDER, "models/for-tests-ggml-tiny.bin");
  const options = ["--host", "127.0.0.1", "--port", String(port), "-t", "1"];
  const server = spawn(join(FOLDER, "build/bin/whisper-server"), ["-m", model, ...options], {
    stdio: "ignore",
  });
  started.push(server);
  return server;
}

describe.skipIf(FOLDER === "")("whisper.cpp's own server", () => {
  const url = (port: number) => `http://127.0.0.1:${port}/inference`;
  const many = Array.from({ length: 4 }, (_, index) => saying(ENGLISH_WORDS, 10 * index));

  test("answers all of several requests at once, without words, because its test model has no weights", async () => {
    const port = await freePort();
    startServer(port);
    const engine = await engineOf([url(port)]);
    const results = await engine.recognize(many, { signal });
    expect(results.map(texts)).toEqual([[], [], [], []]);
    expect(results.map(({ language }) => language)).toEqual([null, null, null, null]);
  });

  test("accepts a vocabulary", async () => {
    const port = await freePort();
    startServer(port);
    const engine = await engineOf([url(port)]);
    const results = await engine.recognize(many.slice(0, 1), {
      signal,
      vocabulary: ["Subtext", "Anna Weber"],
    });
    expect(results.map(texts)).toEqual([[]]);
  });

  test("is waited for if it is killed during a request and started again", async () => {
    const port = await freePort();
    const first = startServer(port);
    const engine = await engineOf([url(port)], { maxAttempts: 10_000 });
    await engine.recognize(many.slice(0, 1), { signal });
    const results = engine.recognize(many, { signal });
    await killed(first);
    startServer(port);
    expect((await results).map(texts)).toEqual([[], [], [], []]);
  });

  test("is reported as unavailable if it answers more slowly than allowed", async () => {
    const port = await freePort();
    startServer(port);
    await (await engineOf([url(port)])).recognize(many.slice(0, 1), { signal });
    const engine = await engineOf([url(port)], { timeoutMs: 20, maxAttempts: 2 });
    const error = await failure(engine.recognize(many.slice(0, 1), { signal }));
    expect([error.code, error.message]).toEqual([
      "engine_unavailable",
      expect.stringContaining("the response timed out"),
    ]);
  });
});
