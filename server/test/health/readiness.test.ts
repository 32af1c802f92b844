import { expect, test } from "vitest";
import { createApp } from "../../src/http/app.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { startService, until } from "../support/service.ts";

test("a service that is stopped during a readiness check is not ready", async () => {
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const app = createApp({
    log: createLog("silent"),
    health: {
      check: async () => {
        asked.resolve();
        await answered.promise;
      },
    },
    trustProxy: false,
    publicUrl: "http://127.0.0.1",
    draining: new AbortController().signal,
  });

  const closing = Promise.withResolvers<void>();
  app.addHook("preClose", async () => closing.resolve());

  const response = app.inject("/readyz");
  await asked.promise;
  const closed = app.close();
  await closing.promise;
  answered.resolve();

  expect((await response).statusCode).toBe(503);
  await closed;
});

test("the log contains neither probes nor their failures during a planned stop", async () => {
  const { service, url, logged } = await startService({ env: { DRAIN_SECONDS: "1" } });
  const statusOf = async (path: string) => (await fetch(`${url}${path}`)).status;
  expect([await statusOf("/readyz"), await statusOf("/healthz")]).toEqual([200, 200]);
  const stopped = service.stop();
  await until(async () => (await statusOf("/readyz")) === 503);
  await stopped;
  const lines = logged().trim().split("\n");
  const entries = lines.map((line) => JSON.parse(line) as { level: string; msg: string });
  expect(new Set(entries.map(({ level }) => level))).toEqual(new Set(["info"]));
  expect(entries.map(({ msg }) => msg)).not.toContain("request");
});

test("a change of readiness is logged once, with the reason and the duration", async () => {
  let line = "";
  let fault: Error | null = new Error("the disk is full");
  const draining = new AbortController().signal;
  const app = createApp({
    log: createLog("info", {
      write(text) {
        line += text;
      },
    }),
    health: {
      async check() {
        if (fault) throw fault;
      },
    },
    trustProxy: false,
    publicUrl: "http://127.0.0.1",
    draining,
  });
  // The result is cached for a second.
  const untilStatus = (status: number) =>
    until(async () => (await app.inject("/readyz")).statusCode === status);
  await untilStatus(503);
  fault = null;
  await untilStatus(200);
  await app.close();
  const lines = line
    .trim()
    .split("\n")
    .map((text) => JSON.parse(text));
  expect(lines).toMatchObject([
    { level: "error", msg: "the service is not ready", err: { message: "the disk is full" } },
    { level: "info", msg: "the service is ready again", seconds: expect.any(Number) },
  ]);
});

test("a service that is stopped keeps responding for DRAIN_SECONDS, is not ready, and closes connections", async () => {
  const { service, url } = await startService({ env: { DRAIN_SECONDS: "1" } });
  const get = async (path: string) => {
    const { status, headers } = await fetch(`${url}${path}`);
    return { status, connection: headers.get("connection") };
  };
  expect(await get("/readyz")).toEqual({ status: 200, connection: "keep-alive" });
  expect(await get("/healthz")).toEqual({ status: 200, connection: "keep-alive" });
  const stopped = service.stop();
  await until(async () => (await get("/readyz")).status === 503);
  expect(await get("/readyz")).toEqual({ status: 503, connection: "close" });
  expect(await get("/healthz")).toEqual({ status: 503, connection: "close" });
  expect(await get("/api/v1/videos")).toEqual({ status: 401, connection: "close" });
  await stopped;
  await expect(fetch(`${url}/healthz`)).rejects.toThrow("fetch failed");
});
