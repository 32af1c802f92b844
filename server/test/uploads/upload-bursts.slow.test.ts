import { createReadStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import * as tus from "tus-js-client";
import { expect, onTestFinished, test, vi } from "vitest";
import { MAX_OPEN_UPLOADS } from "../../src/environments/limits.ts";
import { newId } from "../../src/lib/ids.ts";
import { createTenant, shareService, type Tenant, temporaryFolder, upload } from "../support/service.ts";
import { testS3 } from "../support/test-bucket.ts";

/** The bucket of the tests takes half a second for each. */
const FILES = testS3() ? 60 : 300;
const FILE_BYTES = 2 * 1024;

const service = shareService({ start: false });

const database = () => service.service.parts.database.kysely;

async function countVideos({ environmentId }: Tenant): Promise<{ created: number; uploaded: number }> {
  const { created, uploaded } = await database()
    .selectFrom("video")
    .select(({ fn }) => [fn.countAll<string>().as("created"), fn.count<string>("uploaded_at").as("uploaded")])
    .where("environment_id", "=", environmentId)
    .executeTakeFirstOrThrow();
  return { created: Number(created), uploaded: Number(uploaded) };
}

/** Inserts unfinished uploads. */
async function insertOpenUploads({ environmentId }: Tenant, count: number, sizeBytes: number): Promise<void> {
  const rows = Array.from({ length: count }, () => ({
    id: newId("video"),
    environment_id: environmentId,
    metadata: "{}",
    size_bytes: sizeBytes,
    created_at: new Date(),
  }));
  await database().insertInto("video").values(rows).execute();
}

async function create({ key }: Tenant, sizeBytes: number): Promise<Response> {
  return await fetch(`${service.url}/api/v1/uploads`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "tus-resumable": "1.0.0",
      "upload-length": String(sizeBytes),
    },
  });
}

test.each([1, 4, 20])(
  `tus-js-client uploads ${FILES} small files, %i in parallel, and none fails`,
  { timeout: 120_000 },
  async (parallel) => {
    const tenant = await createTenant(service, { aiTranscription: false });
    const path = join(await temporaryFolder(), "file");
    await writeFile(path, Buffer.alloc(FILE_BYTES, 7));
    const failures: string[] = [];
    const uploadOne = (number: number) =>
      new Promise<void>((resolve) => {
        const upload = new tus.Upload(createReadStream(path), {
          endpoint: `${service.url}/api/v1/uploads`,
          headers: { authorization: `Bearer ${tenant.key}` },
          uploadSize: FILE_BYTES,
          metadata: { filename: `${number}.mp4` },
          onSuccess: () => resolve(),
          onError: ({ message }) => {
            failures.push(message);
            resolve();
          },
        });
        upload.start();
      });
    let next = 0;
    const uploader = async () => {
      while (next < FILES) await uploadOne(next++);
    };
    await Promise.all(Array.from({ length: parallel }, uploader));
    expect(failures.length, failures[0]).toBe(0);
    expect((await countVideos(tenant)).uploaded).toBe(FILES);
  },
);

test("a key that creates uploads in a loop is stopped, while another key's uploads pass", async () => {
  const [greedy, modest] = [
    await createTenant(service),
    await createTenant(service, { aiTranscription: false }),
  ];
  await insertOpenUploads(greedy, MAX_OPEN_UPLOADS - 100, FILE_BYTES);
  let isOver = false;
  const statuses = new Map<number, number>();
  const loop = async () => {
    while (!isOver) {
      const { status } = await create(greedy, FILE_BYTES);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  const loops = Promise.all(Array.from({ length: 50 }, loop));
  const file = Buffer.alloc(FILE_BYTES, 7);
  for (let count = 0; count < 20; count++) await upload(service, modest, file);
  await vi.waitUntil(() => statuses.has(409), { timeout: 60_000 });
  isOver = true;
  await loops;
  expect([...statuses.keys()].sort()).toEqual([201, 409]);
  expect(await countVideos(modest)).toEqual({ created: 20, uploaded: 20 });
  // Requests that already have their turn may pass together.
  const { created } = await countVideos(greedy);
  expect(created).toBeGreaterThanOrEqual(MAX_OPEN_UPLOADS);
  expect(created).toBeLessThan(MAX_OPEN_UPLOADS + 8);
});

test("unfinished uploads are limited by their total size as well", async () => {
  const tenant = await createTenant(service);
  const { maxUploadBytes } = service.service.parts.config;
  await insertOpenUploads(tenant, 100, maxUploadBytes);
  const refused = await create(tenant, 1);
  expect([refused.status, await refused.json()]).toMatchObject([409, { code: "open_upload_limit_reached" }]);
  expect((await create(tenant, 0)).status).toBe(201);
});

test("chunks that never end do not keep other requests of the same key waiting", async () => {
  const tenant = await createTenant(service, { aiTranscription: false });
  const begun = await Promise.all(
    Array.from({ length: 60 }, async () => {
      const location = (await create(tenant, FILE_BYTES)).headers.get("location") ?? "";
      const chunk = request(new URL(location, service.url), {
        method: "PATCH",
        headers: {
          authorization: `Bearer ${tenant.key}`,
          "tus-resumable": "1.0.0",
          "upload-offset": "0",
          "content-type": "application/offset+octet-stream",
          "content-length": FILE_BYTES,
        },
      });
      chunk.on("error", () => {});
      onTestFinished(() => void chunk.destroy());
      chunk.write("half");
      return chunk;
    }),
  );
  expect(begun).toHaveLength(60);
  for (let count = 0; count < 20; count++) await upload(service, tenant, Buffer.alloc(FILE_BYTES, 7));
  expect((await countVideos(tenant)).uploaded).toBe(20);
});

test("tokens that look like keys but are invalid do not cost one database read each", async () => {
  const executor = database().getExecutor();
  const executed = vi.spyOn(executor, "executeQuery");
  onTestFinished(() => executed.mockRestore());
  const present = async (number: number) => {
    const unchecked = `subtext_${String(number).padStart(26, "0")}_${"x".repeat(43)}`;
    const response = await fetch(`${service.url}/api/v1/videos`, {
      headers: { authorization: `Bearer ${unchecked}${checksum(unchecked)}` },
    });
    await response.body?.cancel();
    return response.status;
  };
  const startedAt = performance.now();
  const statuses: number[] = [];
  for (let number = 0; number < 1_000; number++) statuses.push(await present(number));
  const seconds = (performance.now() - startedAt) / 1000;
  const verified = statuses.filter((status) => status === 401).length;
  expect(statuses.filter((status) => status === 429)).toHaveLength(1_000 - verified);
  // A hundred, and ten for each elapsed second.
  expect(verified).toBeLessThanOrEqual(100 + Math.ceil(seconds) * 10);
  const reads = executed.mock.calls.filter(([{ sql }]) => sql.includes('"api_key"')).length;
  expect(reads).toBeGreaterThan(0);
  expect(reads).toBeLessThanOrEqual(verified);
});

/** The checksum at the end of a key, without which no token is looked up. */
function checksum(text: string): string {
  const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  let rest = crc32(text);
  let digits = "";
  for (let place = 0; place < 6; place++) {
    digits = alphabet[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
