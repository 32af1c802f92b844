import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { emptyStore, expectError, FAST_RETRIES, MIB, MODEL, pull, startHub } from "../support/model-pulls.ts";

/** A hub that answers every request so. */
async function hubThat(answer: RequestListener) {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test("a download that begins again after every cut, and never gets further, is given up", async () => {
  const [hub, store] = [await startHub(), await emptyStore()];
  hub.faults = { withoutRanges: true, cutAfterBytes: 1.5 * MIB };
  await expectError(pull(store, hub), "model_download_failed", /cannot be downloaded/);
  expect(hub.gets("encoder.onnx").length).toBeLessThanOrEqual(FAST_RETRIES.maxAttempts + 1);
});

test("content without a stated length and without an end is not taken for longer than a model can be", async () => {
  const store = await emptyStore();
  let served = 0;
  const hub = await hubThat((request, response) => {
    if (request.method === "HEAD") return void response.end();
    const give = () => {
      served += MIB;
      if (!response.destroyed && served < 200 * MIB) response.write(Buffer.alloc(MIB), give);
    };
    give();
  });
  await expectError(pull(store, hub), "model_download_failed", /exceeds the limit of \d+ bytes/);
  expect(served).toBeLessThan(100 * MIB);
});

test("a model that is stated to be much larger than it can be is not begun", async () => {
  const store = await emptyStore();
  const hub = await hubThat(
    (_, response) => void response.writeHead(200, { "content-length": 100 * MODEL.downloadBytes }).end(),
  );
  await expectError(pull(store, hub), "model_download_failed", /bytes/);
});

test("a hub that has no such range of what nobody asked a range of is reported as one that fails", async () => {
  const store = await emptyStore();
  const hub = await hubThat(
    (request, response) => void response.writeHead(request.method === "HEAD" ? 200 : 416).end(),
  );
  await expectError(pull(store, hub), "model_download_failed", /cannot be downloaded/);
});
