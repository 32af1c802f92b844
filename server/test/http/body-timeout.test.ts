import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { type FastifyInstance, fastify } from "fastify";
import { expect, onTestFinished, test, vi } from "vitest";
import { requireMinBodyRate } from "../../src/http/body-timeout.ts";

const WINDOW_MS = 40;

/** Returns the URL of a route that reads its body with `take` and requires 100 bytes in each time window. */
async function listen(take: (raw: IncomingMessage) => Promise<unknown>): Promise<string> {
  const app: FastifyInstance = fastify();
  onTestFinished(() => app.close());
  requireMinBodyRate(app, { bytes: 100, everyMs: WINDOW_MS });
  app.addContentTypeParser("*", (_request, _body, done) => done(null));
  app.put("/", { config: { streamsBody: true } }, ({ raw }) => take(raw));
  return await app.listen({ host: "127.0.0.1", port: 0 });
}

const send = (url: string, body: string) =>
  fetch(url, { method: "PUT", body, headers: { "content-type": "video/mp4" } });

async function readOnce(raw: IncomingMessage): Promise<void> {
  await once(raw, "readable");
  raw.read(1);
}

test("a complete body is not cut off, however long its last bytes take to be stored", async () => {
  const url = await listen(async (raw) => {
    await readOnce(raw);
    await sleep(WINDOW_MS * 5);
    return raw.complete;
  });
  expect(await (await send(url, "x")).json()).toBe(true);
});

test("the timer stops when the body is complete, even if it was not read to its end", async () => {
  const [begun, ended] = [vi.spyOn(globalThis, "setInterval"), vi.spyOn(globalThis, "clearInterval")];
  onTestFinished(() => {
    begun.mockRestore();
    ended.mockRestore();
  });
  const url = await listen(async (raw) => {
    await readOnce(raw);
    return "enough";
  });
  expect(await (await send(url, "x".repeat(1_000))).text()).toBe("enough");
  const watch = begun.mock.results.find((_, call) => begun.mock.calls[call]![1] === WINDOW_MS)!.value;
  await vi.waitFor(() => expect(ended).toHaveBeenCalledWith(watch));
});
