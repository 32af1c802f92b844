import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from "undici";
import { expect, onTestFinished, test } from "vitest";
import { connectOverHttp } from "../../src/cli/internal-client.ts";

test("a command waits longer for the service than `fetch` waits for a response", async () => {
  const dispatcher = getGlobalDispatcher();
  // The default is 5 minutes. undici checks it once per second.
  setGlobalDispatcher(new Agent({ headersTimeout: 1 }));
  onTestFinished(() => setGlobalDispatcher(dispatcher));
  const server = createServer((request, response) => {
    const { method, url, headers } = request;
    expect([method, url, headers.authorization]).toEqual(["POST", "/internal/file-check", "Bearer secret"]);
    setTimeout(() => response.end(JSON.stringify({ videos: 7 })), 1_500);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = connectOverHttp({ url, token: "secret", pid: process.pid });
  expect(await client.send("POST /file-check")).toEqual({ videos: 7 });
});
