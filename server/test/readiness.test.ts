import { expect, test } from "vitest";
import { createApp } from "../src/http/app.ts";
import { createLog } from "../src/log.ts";

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
