import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import fastify from "fastify";
import { expect, onTestFinished, test } from "vitest";
import { limitBodySlowness } from "../src/http/body-timeout.ts";

const STRETCH_MS = 40;

test("a body that has come whole is not cut, however long its last bytes take to be stored", async () => {
  const app = fastify();
  onTestFinished(() => app.close());
  limitBodySlowness(app, { bytes: 100, everyMs: STRETCH_MS });
  app.addContentTypeParser("*", (_request, _body, done) => done(null));
  app.put("/", { config: { streamsBody: true } }, async ({ raw }) => {
    raw.once("readable", () => raw.read());
    await once(raw, "readable");
    await sleep(STRETCH_MS * 5);
    return raw.complete;
  });
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  const response = await fetch(url, { method: "PUT", body: "x", headers: { "content-type": "video/mp4" } });
  expect(await response.json()).toBe(true);
});
