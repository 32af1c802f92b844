import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { openObjectRecordingStore } from "../../src/storage/object-recording-store.ts";
import { openS3ObjectStore } from "../../src/storage/s3/s3-object-store.ts";
import { temporaryFolder } from "../support/service.ts";

test("a bucket that announces a recording but sends nothing of it is unavailable", async () => {
  let asked = 0;
  const server = createServer((request, response) => {
    if (request.method === "HEAD") {
      response.writeHead(200, { "content-length": "10", etag: '"recording"' }).end();
    } else {
      asked += 1;
      response.writeHead(206, { "content-range": "bytes 0-9/10" }).end();
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const bucket = openS3ObjectStore({
    kind: "s3",
    name: "bucket",
    region: "us-east-1",
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    publicEndpoint: null,
    forcePathStyle: true,
    credentials: { accessKeyId: "key", secretAccessKey: "secret" },
    prefix: "",
  });
  onTestFinished(() => bucket.close());
  const scratchFolder = await temporaryFolder();
  const recordings = openObjectRecordingStore(bucket, { scratchFolder });
  const opening = recordings.open("video_01", new AbortController().signal);
  await expect(opening).rejects.toMatchObject({ code: "storage_unavailable" });
  expect(asked).toBeLessThan(10);
  expect(await readdir(scratchFolder)).toEqual([]);
});
