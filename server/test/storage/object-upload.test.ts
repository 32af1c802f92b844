import { randomBytes, randomUUID } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import fc from "fast-check";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import { copyRecording, openObjectRecordingStore } from "../../src/storage/object-recording-store.ts";
import type { ObjectStore } from "../../src/storage/object-store.ts";
import {
  appendToUpload,
  completeUpload,
  openPartBuffers,
  partSizeFor,
  RECORDINGS_PREFIX,
  readUpload,
} from "../../src/storage/object-upload.ts";
import { openS3ObjectStore } from "../../src/storage/s3/s3-object-store.ts";
import { openTestBucket, testBucketConfig, testS3 } from "../support/test-bucket.ts";

const s3 = testS3();
const MIB = 1024 ** 2;
const PART_BYTES = 5 * MIB;
const content = randomBytes(13 * MIB + 77);
const neverAborted = new AbortController().signal;

describe("the size of parts", () => {
  test("lets the largest upload fit into the maximum number of parts", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 * 1024 ** 4 }), (bytes) => {
        const part = partSizeFor(bytes);
        expect(Math.ceil(bytes / part)).toBeLessThanOrEqual(10_000);
        expect(part).toBeGreaterThanOrEqual(5 * MIB);
      }),
    );
  });
});

// A bucket requires the server of TEST_S3; `.ci/run` starts one.
describe.skipIf(!s3)("an upload into a bucket", () => {
  let bucket: ObjectStore;
  let name: string;
  let scratchFolder: string;
  beforeAll(async () => {
    name = `uploads-${randomUUID()}`;
    bucket = await openTestBucket(s3!, name, "deep/");
    scratchFolder = await mkdtemp(join(tmpdir(), "subtext-scratch-"));
    return async () => {
      bucket.close();
      await rm(scratchFolder, { recursive: true });
    };
  });

  const buffers = () =>
    openPartBuffers({ partBytes: PART_BYTES, folder: scratchFolder, diskBytes: 2 * PART_BYTES });
  const openSources = (from = bucket) => openObjectRecordingStore(from, { scratchFolder });
  const keysLeft = async () => (await Array.fromAsync(bucket.list(""))).map(({ key }) => key);

  /** Sends the bytes from the current offset to `to`, where the stream breaks if `breaks` is set. */
  async function send(id: string, to: number, { sizeBytes = content.length, breaks = false } = {}) {
    const offset = (await readUpload(bucket, id))?.sizeBytes ?? 0;
    const chunk = Readable.from(
      (function* () {
        for (let at = offset; at < to; at += 64 * 1024)
          yield content.subarray(at, Math.min(to, at + 64 * 1024));
        if (breaks) throw new Error("the connection broke");
      })(),
    );
    return await appendToUpload(bucket, id, chunk, {
      offset,
      sizeBytes,
      buffers: buffers(),
      signal: neverAborted,
    });
  }

  test("is the same recording however it is cut into chunks, and loses nothing of a chunk that breaks off", async () => {
    const cuts = fc.array(
      fc.record({ at: fc.integer({ min: 1, max: content.length - 1 }), breaks: fc.boolean() }),
      {
        maxLength: 4,
      },
    );
    await fc.assert(
      fc.asyncProperty(cuts, async (chunks) => {
        const id = newId("video");
        for (const { at, breaks } of chunks.sort((a, b) => a.at - b.at)) {
          const sent = send(id, at, { breaks });
          if (breaks) await expect(sent).rejects.toThrow("the connection broke");
          else expect(await sent).toBe(at);
          expect(await openSources().inspect(id)).toMatchObject({ sizeBytes: at });
        }
        expect(await send(id, content.length)).toBe(content.length);
        const source = await openSources().open(id, neverAborted);
        expect(Buffer.compare(await readFile(source.path), content)).toBe(0);
        await source.release();
        await openSources().remove(id);
        expect(await keysLeft()).toEqual([]);
      }),
      { numRuns: 3 },
    );
    expect(await readdir(scratchFolder)).toEqual([]);
  });

  test.each([
    ["in one request", content.length],
    ["in parts", PART_BYTES],
  ])("is copied to another video %s", async (_how, partBytes) => {
    const [id, copy] = [newId("video"), newId("video")];
    await send(id, content.length);
    const [from, to] = [RECORDINGS_PREFIX + id, RECORDINGS_PREFIX + copy];
    await copyRecording(bucket, { from, to, sizeBytes: content.length, partBytes });
    // What the sweep sees after a crash.
    expect(await openSources().inspect(copy)).toEqual({ sizeBytes: content.length });
    await openSources().sync(copy);
    await openSources().remove(id);
    const source = await openSources().open(copy, neverAborted);
    expect(Buffer.compare(await readFile(source.path), content)).toBe(0);
    await source.release();
    await openSources().remove(copy);
    expect(await keysLeft()).toEqual([]);
  });

  test("with no bytes is an empty recording", async () => {
    const id = newId("video");
    expect(await send(id, 0, { sizeBytes: 0 })).toBe(0);
    const source = await openSources().open(id, neverAborted);
    expect(await readFile(source.path)).toHaveLength(0);
    await source.release();
    await openSources().remove(id);
  });

  test("whose length is declared late is complete when it is assembled", async () => {
    const id = newId("video");
    await send(id, content.length, { sizeBytes: -1 });
    expect(await readUpload(bucket, id)).toMatchObject({ isComplete: false, sizeBytes: content.length });
    await completeUpload(bucket, id);
    expect(await readUpload(bucket, id)).toMatchObject({ isComplete: true, sizeBytes: content.length });
    await completeUpload(bucket, id);
    await openSources().remove(id);
  });

  test("is rejected at any offset but its end", async () => {
    const id = newId("video");
    await send(id, 10);
    const elsewhere = { offset: 5, sizeBytes: 20, buffers: buffers(), signal: neverAborted };
    await expect(appendToUpload(bucket, id, Readable.from([]), elsewhere)).rejects.toMatchObject({
      code: "upload_conflict",
    });
    await openSources().remove(id);
  });

  test("keeps what another writer added while a paused one slept, whose connection breaks when it wakes up", async () => {
    const id = newId("video");
    const options = { offset: 0, sizeBytes: content.length, buffers: buffers(), signal: neverAborted };
    const paused = (async function* () {
      yield content.subarray(0, MIB);
      await send(id, 3 * MIB);
      throw new Error("the connection broke");
    })();
    await expect(appendToUpload(bucket, id, paused, options)).rejects.toThrow();
    expect(await readUpload(bucket, id)).toMatchObject({ sizeBytes: 3 * MIB });
    await send(id, content.length);
    expect(Buffer.compare(await buffer(await bucket.get(`uploads/${id}`)), content)).toBe(0);
    await openSources().remove(id);
  });

  test("leaves only the recording after its acceptance, whatever a crash has left", async () => {
    const id = newId("video");
    await send(id, content.length);
    // Its writer crashed before it had removed the last tail, and one that was paused has started over.
    await bucket.put(`tails/${id}/${2 * PART_BYTES}`, content.subarray(0, 5));
    await bucket.multipart.begin(`uploads/${id}`);
    await completeUpload(bucket, id);
    expect((await keysLeft()).filter((key) => key.includes(id))).toEqual([`uploads/${id}`]);
    expect(await bucket.multipart.list(`uploads/${id}`)).toEqual([]);
    await openSources().remove(id);
  });

  test("is found and can be removed in any state by the sweep of unknown uploads", async () => {
    const [tail, parts, whole] = [newId("video"), newId("video"), newId("video")];
    await send(tail, 10);
    await send(parts, 6 * MIB);
    await send(whole, content.length);
    expect(new Set(await Array.fromAsync(openSources().list()))).toEqual(new Set([tail, parts, whole]));
    for (const id of [tail, parts, whole]) await openSources().remove(id);
    expect(await Array.fromAsync(openSources().list())).toEqual([]);
    expect(await keysLeft()).toEqual([]);
  });

  test("can be read by range", async () => {
    const id = newId("video");
    await send(id, content.length);
    const file = await openSources().openFile(id);
    expect(file.size).toBe(content.length);
    const some = await buffer(file.stream({ start: 100, end: 6 * MIB }));
    expect(Buffer.compare(some, content.subarray(100, 6 * MIB + 1))).toBe(0);
    await openSources().remove(id);
    await expect(openSources().openFile(id)).rejects.toMatchObject({ code: "storage_object_missing" });
  });

  test("is downloaded to its end over connections that break, unless it is canceled", async () => {
    const id = newId("video");
    await send(id, content.length);
    const { port, cuts } = await startBreakingProxy(s3!.endpoint, 3 * MIB);
    const breaking = openS3ObjectStore({
      ...testBucketConfig(s3!, name, "deep/"),
      endpoint: `http://127.0.0.1:${port}`,
    });
    onTestFinished(() => breaking.close());
    const source = await openSources(breaking).open(id, neverAborted);
    expect(Buffer.compare(await readFile(source.path), content)).toBe(0);
    expect(cuts()).toBeGreaterThan(2);
    await source.release();
    await expect(openSources().open(id, AbortSignal.abort(new Error("stop")))).rejects.toThrow("stop");
    expect(await readdir(scratchFolder)).toEqual([]);
    await openSources().remove(id);
  });

  test("to a storage that does not respond is storage_unavailable, without leaking the key", async () => {
    const config = testBucketConfig(s3!, name);
    const away = openS3ObjectStore({ ...config, endpoint: "http://127.0.0.1:1" });
    const error = await away.put("a", new Uint8Array()).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "storage_unavailable", retryable: true });
    const stranger = openS3ObjectStore({
      ...config,
      credentials: { accessKeyId: "test:tester", secretAccessKey: "wr0ng" },
    });
    const refused = (await stranger.put("a", new Uint8Array()).catch((reason: unknown) => reason)) as Error;
    expect(refused).toMatchObject({ code: "storage_unavailable" });
    expect(String(refused.cause)).toContain("SignatureDoesNotMatch");
    expect(JSON.stringify([refused, String(refused.cause)])).not.toContain("wr0ng");
    for (const opened of [away, stranger]) opened.close();
  });
});

/** Forwards requests with the signed host, and cuts every response off after so many bytes. */
async function startBreakingProxy(endpoint: string, bytes: number) {
  let cut = 0;
  const server: Server = createServer((incoming, outgoing) => {
    const { hostname, port } = new URL(endpoint);
    const { url, method, headers } = incoming;
    const passed = request({ hostname, port, path: url, method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      let sent = 0;
      answer.on("data", (chunk: Buffer) => {
        sent += chunk.length;
        outgoing.write(chunk);
        if (sent < bytes || outgoing.destroyed) return;
        cut += 1;
        outgoing.destroy();
        answer.destroy();
      });
      answer.on("end", () => outgoing.end());
    });
    passed.on("error", () => outgoing.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, cuts: () => cut };
}
