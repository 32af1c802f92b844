import { expect, test } from "vitest";
import { createApp } from "../src/http/app.ts";
import { createLog } from "../src/log.ts";
import { startService, until } from "./support/service.ts";

test("a service that is told to stop while its readiness is looked at is not ready", async () => {
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

test("a service that is told to stop answers for as long as DRAIN_SECONDS says, is not ready, and keeps no connection", async () => {
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
