import { spawnSync } from "node:child_process";
import { type IncomingMessage, type OutgoingHttpHeaders, request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { sql } from "kysely";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  createTenant,
  shareService,
  startService,
  type Tenant,
  type TestService,
  until,
} from "../support/service.ts";
import { recordingBytes } from "../support/stored-recording.ts";
import { testS3 } from "../support/test-bucket.ts";

const MIB = 1024 ** 2;
const service = shareService({ start: false });

function headersOf({ key }: Tenant, more: Record<string, string> = {}): Record<string, string> {
  return { authorization: `Bearer ${key}`, "tus-resumable": "1.0.0", ...more };
}

async function post({ url }: TestService, tenant: Tenant, more: Record<string, string>, body?: string) {
  return await fetch(`${url}/api/v1/uploads`, {
    method: "POST",
    headers: headersOf(tenant, more),
    ...(body !== undefined && { body }),
  });
}

async function create(service: TestService, tenant: Tenant, sizeBytes: number): Promise<URL> {
  const created = await post(service, tenant, { "upload-length": String(sizeBytes) });
  expect(created.status).toBe(201);
  return new URL(created.headers.get("location") ?? "", service.url);
}

async function offsetOf(address: URL, tenant: Tenant): Promise<number> {
  const response = await fetch(address, { method: "HEAD", headers: headersOf(tenant) });
  return Number(response.headers.get("upload-offset"));
}

/** A PATCH whose body the test writes step by step. */
function startChunk(address: URL, tenant: Tenant, more: OutgoingHttpHeaders = {}) {
  const chunk = request(address, {
    method: "PATCH",
    headers: {
      ...headersOf(tenant),
      "content-type": "application/offset+octet-stream",
      "upload-offset": "0",
      ...more,
    },
  });
  onTestFinished(() => void chunk.destroy());
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    chunk.on("response", resolve);
    chunk.on("error", reject);
  });
  response.catch(() => {});
  return { chunk, response };
}

const sizeOf = async ({ service }: TestService, address: URL): Promise<number> =>
  await recordingBytes(service, address.pathname.split("/").at(-1) ?? "");

describe("a page of another origin", () => {
  test.each<[string, string, string, { keyed?: boolean; tus?: boolean }, number]>([
    ["a key is missing", "POST", "", {}, 401],
    ["the version is missing", "POST", "", { keyed: true }, 412],
    [
      "an upload does not exist",
      "HEAD",
      "/video_00000000000000000000000000",
      { keyed: true, tus: true },
      404,
    ],
    ["a method is not allowed", "GET", "", {}, 405],
    ["the path does not exist", "GET", "/a/b", {}, 404],
  ])("may read the response if %s", async (_what, method, path, { keyed = false, tus = false }, status) => {
    const tenant = await createTenant(service);
    const response = await fetch(`${service.url}/api/v1/uploads${path}`, {
      method,
      headers: {
        ...(keyed && { authorization: `Bearer ${tenant.key}` }),
        ...(tus && { "tus-resumable": "1.0.0" }),
      },
    });
    expect(response.status).toBe(status);
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    const exposed = response.headers.get("access-control-expose-headers")?.split(", ");
    expect(exposed).toEqual(expect.arrayContaining(["Retry-After", "RateLimit", "X-Request-Id", "Location"]));
  });

  test("may read the offset and the expiry of an upload, and send a request id", async () => {
    const tenant = await createTenant(service);
    const created = await post(service, tenant, { "upload-length": "10" });
    const exposed = created.headers.get("access-control-expose-headers")?.split(", ");
    expect(exposed).toEqual(expect.arrayContaining(["Upload-Expires", "Upload-Offset", "Tus-Version"]));
    const preflight = await fetch(`${service.url}/api/v1/uploads`, { method: "OPTIONS" });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-headers")).toContain("X-Request-ID");
  });
});

describe("an upload request of another protocol version", () => {
  test.each(["POST", "HEAD", "PATCH", "DELETE"])(
    "by %s with a wrong or no version gets 412 and the supported version",
    async (method) => {
      const tenant = await createTenant(service);
      const address = await create(service, tenant, 10);
      for (const version of [undefined, "0.2.2"]) {
        const response = await fetch(method === "POST" ? `${service.url}/api/v1/uploads` : address, {
          method,
          headers: {
            authorization: `Bearer ${tenant.key}`,
            "upload-length": "10",
            ...(version && { "tus-resumable": version }),
          },
        });
        expect([response.status, response.headers.get("tus-version")]).toEqual([412, "1.0.0"]);
        if (method !== "HEAD") {
          expect(await response.json()).toMatchObject({ code: "upload_version_unsupported" });
        }
      }
      expect(await offsetOf(address, tenant)).toBe(0);
    },
  );

  test.each(["application/octet-stream", undefined])(
    "by a chunk with the content type %s gets 415",
    async (type) => {
      const tenant = await createTenant(service);
      const address = await create(service, tenant, 4);
      const response = await fetch(address, {
        method: "PATCH",
        headers: headersOf(tenant, { "upload-offset": "0", ...(type && { "content-type": type }) }),
        body: Buffer.from("abcd"),
      });
      expect([response.status, await response.json()]).toMatchObject([
        415,
        { code: "unsupported_media_type" },
      ]);
      expect(await offsetOf(address, tenant)).toBe(0);
    },
  );
});

describe("a rejected chunk", () => {
  test("closes the connection if its body is still arriving", async () => {
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    onTestFinished(() => void socket.destroy());
    socket.write(
      "PATCH /api/v1/uploads/video_00000000000000000000000000 HTTP/1.1\r\nHost: a.example\r\nAuthorization: Bearer wrong\r\nContent-Type: application/offset+octet-stream\r\nContent-Length: 1000000000\r\n\r\nabc",
    );
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
    expect(answer.toLowerCase()).toContain("connection: close");
  });

  test("keeps the connection open if its body has arrived", async () => {
    const response = await fetch(`${service.url}/api/v1/uploads`, { method: "POST" });
    expect([response.status, response.headers.get("connection")]).toEqual([401, "keep-alive"]);
  });
});

describe("an upload that stalls", () => {
  test("yields to a request for its offset, and continues from there", async () => {
    const tenant = await createTenant(service, { aiTranscription: false });
    const address = await create(service, tenant, 10);
    const { chunk, response } = startChunk(address, tenant, { "content-length": 10 });
    chunk.write("abcd");
    // A bucket stores the bytes when the chunk ends, which the request for the offset causes.
    await until(async () => (await (testS3() ? offsetOf(address, tenant) : sizeOf(service, address))) === 4);
    expect(await offsetOf(address, tenant)).toBe(4);
    expect((await response).headers["upload-offset"]).toBe("4");
    const rest = startChunk(address, tenant, { "upload-offset": 4 });
    rest.chunk.end("efghij");
    expect((await rest.response).headers["upload-offset"]).toBe("10");
  });
});

describe("an upload that is created with its content but cannot be accepted", () => {
  test("is reported as complete, because the client would create a second one otherwise", async () => {
    const tenant = await createTenant(service);
    const db = service.service.parts.database.kysely;
    await sql`alter table transcription rename to transcription_away`.execute(db);
    onTestFinished(async () => {
      await sql`alter table if exists transcription_away rename to transcription`.execute(db);
    });
    const created = await post(
      service,
      tenant,
      { "upload-length": "4", "content-type": "application/offset+octet-stream" },
      "abcd",
    );
    expect([created.status, created.headers.get("upload-offset")]).toEqual([201, "4"]);
    const address = new URL(created.headers.get("location") ?? "", service.url);
    const rowOf = async () =>
      await db
        .selectFrom("video")
        .select("uploaded_at")
        .where("environment_id", "=", tenant.environmentId)
        .executeTakeFirstOrThrow();
    expect(await rowOf()).toEqual({ uploaded_at: null });
    expect(await sizeOf(service, address)).toBe(4);

    await sql`alter table transcription_away rename to transcription`.execute(db);
    expect(await offsetOf(address, tenant)).toBe(4);
    const { chunk, response } = startChunk(address, tenant, { "upload-offset": 4 });
    chunk.end();
    expect((await response).statusCode).toBe(204);
    expect((await rowOf()).uploaded_at).toBeInstanceOf(Date);
  });
});

describe("uploads on a disk that fills", () => {
  /** A service whose uploads are on their own file system, or null if it cannot be mounted. */
  async function startOnSmallDisk(megabytes: number) {
    if (process.platform !== "linux" || process.getuid?.() !== 0 || testS3()) return null;
    const service = await startService({ start: false });
    const folder = join(service.dataFolder, "uploads");
    const mount = (options: string) =>
      spawnSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder]).status === 0;
    if (!mount(`size=${megabytes}m`)) return null;
    onTestFinished(() => void spawnSync("umount", ["--lazy", folder]));
    return { service, resize: (megabytes: number) => mount(`remount,size=${megabytes}m`) };
  }

  test("are neither created nor continued if they would fill the disk", async (context) => {
    const disk = await startOnSmallDisk(1034);
    if (!disk) return context.skip("no file system can be mounted here");
    const tenant = await createTenant(disk.service);
    const refused = await post(disk.service, tenant, { "upload-length": String(11 * MIB) });
    expect([refused.status, await refused.json()]).toMatchObject([507, { code: "storage_full" }]);
    expect(refused.headers.get("retry-after")).toBe("60");

    const address = await create(disk.service, tenant, 9 * MIB);
    expect(disk.resize(1024)).toBe(true);
    const { chunk, response } = startChunk(address, tenant);
    chunk.end(Buffer.alloc(9 * MIB));
    expect((await response).statusCode).toBe(507);
    expect(await offsetOf(address, tenant)).toBe(0);
  });

  test("that began when there was space for each of them do not use reserved space together", async (context) => {
    const disk = await startOnSmallDisk(1044);
    if (!disk) return context.skip("no file system can be mounted here");
    const tenant = await createTenant(disk.service, { aiTranscription: false });
    const begin = async () => {
      const address = await create(disk.service, tenant, 18 * MIB);
      const { chunk, response } = startChunk(address, tenant, { "content-length": 18 * MIB });
      chunk.write(Buffer.alloc(MIB));
      await until(async () => (await sizeOf(disk.service, address)) === MIB);
      return async () => {
        chunk.end(Buffer.alloc(17 * MIB));
        return (await response).statusCode;
      };
    };
    const [first, second] = [await begin(), await begin()];
    expect(await first()).toBe(204);
    expect(await second()).toBe(507);
  });

  // The write of the last bytes fails after the request has been read to its end.
  test.for([
    ["in the middle of a chunk", 2 * MIB, false] as const,
    ["at the end of a chunk", 1000, true] as const,
  ])("%s get an error, and continue when there is space", async ([_when, moreBytes, isLast], context) => {
    const disk = await startOnSmallDisk(1100);
    if (!disk) return context.skip("no file system can be mounted here");
    const tenant = await createTenant(disk.service, { aiTranscription: false });
    const address = await create(disk.service, tenant, 9 * MIB);
    const length = isLast ? { "content-length": MIB + moreBytes } : {};
    const { chunk, response } = startChunk(address, tenant, length);
    chunk.write(Buffer.alloc(MIB));
    await until(async () => (await sizeOf(disk.service, address)) === MIB);
    expect(disk.resize(isLast ? 1 : 2)).toBe(true);
    chunk.write(Buffer.alloc(moreBytes));
    const refused = await response;
    expect([refused.statusCode, JSON.parse(await text(refused))]).toMatchObject([
      507,
      { code: "storage_full" },
    ]);
    expect(refused.headers["retry-after"]).toBe("60");

    expect(disk.resize(1100)).toBe(true);
    const offset = await offsetOf(address, tenant);
    expect(offset).toBeGreaterThanOrEqual(MIB);
    const rest = startChunk(address, tenant, { "upload-offset": offset });
    rest.chunk.end(Buffer.alloc(9 * MIB - offset));
    expect((await rest.response).headers["upload-offset"]).toBe(String(9 * MIB));
  });
});
