import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { API_ERRORS, type ApiErrorCode } from "@subtext/client/contract/api-errors";
import { ALL_OPERATIONS } from "@subtext/client/contract/openapi";
import { acceptsIdempotencyKey, errorCodesOf, type Operation } from "@subtext/client/contract/operation";
import { Client } from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import type { Clock } from "../../src/lib/clock.ts";
import { readUntilClosed } from "../support/read-until-closed.ts";
import { createTenant, MovableClock, shareService, startService, until } from "../support/service.ts";
import { testS3 } from "../support/test-bucket.ts";
import { ask, makeWorld, PROVOCATIONS, RUINOUS, requestOf, type World } from "./contract-provocations.ts";

const clock = new MovableClock();
const service = shareService({
  start: false,
  clock,
  uploadLockTimeoutMs: 2_000,
  connectionLimits: {
    headersTimeoutMs: 20_000,
    bodyTimeoutMs: 1_000,
    minStreamedBodyRate: { bytes: 1, everyMs: 60_000 },
    maxConnections: 3_000,
  },
  env: {
    MAX_UPLOAD_BYTES: String(2 ** 52),
    RATE_LIMIT_BURST: "1000000",
    LOG_LEVEL: "silent",
  },
});
let world: World;

beforeAll(async () => {
  world = await makeWorld(service, clock);
});

async function outcome(operation: Operation, response: Response): Promise<[number, unknown]> {
  if (operation.method === "HEAD") return [response.status, undefined];
  const body = (await response.json().catch(() => ({}))) as { code?: string };
  return [response.status, body.code];
}

function expected(operation: Operation, code: ApiErrorCode): [number, unknown] {
  return [API_ERRORS[code].status, operation.method === "HEAD" ? undefined : code];
}

/** A bucket serves its files itself and does not stop with the service. */
const operations = ALL_OPERATIONS.filter(({ id }) => !(testS3() && id === "getFile"));
/** Tests that provoke storage faults check these codes. */
const provokable = ({ id }: Operation, code: ApiErrorCode) =>
  PROVOCATIONS[code] !== null &&
  !(testS3() && code === "storage_full") &&
  !(code.startsWith("storage_") && code !== "storage_full" && id !== "getFile");

describe.each(operations.map((operation) => [operation.id, operation] as const))("%s", (_id, operation) => {
  const provoked = errorCodesOf(operation).filter((code) => provokable(operation, code));

  test("succeeds as documented", async () => {
    const response = await ask(operation, await makeWorld(service, clock));
    expect(response.status).toBe(operation.success.status);
    if (operation.success.partial !== undefined) {
      const { url, init } = requestOf(operation, world);
      expect((await fetch(url, { ...init, headers: { range: "bytes=0-0" } })).status).toBe(206);
    }
  });

  test.each(provoked)("answers %s", { timeout: 60_000 }, async (code) => {
    const provoke = PROVOCATIONS[code]!;
    const its = RUINOUS.includes(code) ? await makeWorld(service, clock) : world;
    if (code === "storage_full" && operation.id === "uploadChunk") {
      await expectFullDiskAtPiece(operation, its);
    } else {
      expect(await outcome(operation, await provoke(operation, its))).toEqual(expected(operation, code));
    }
  });
});

/** A chunk larger than any disk, for an upload with a deferred length. */
async function expectFullDiskAtPiece(operation: Operation, world: World): Promise<void> {
  const db = service.service.parts.database.kysely;
  await db.updateTable("video").set({ size_bytes: null }).where("id", "=", world.openUpload).execute();
  const { url, init } = requestOf(operation, world);
  const chunk = request(url, {
    method: "PATCH",
    headers: { ...Object.fromEntries(init.headers as Headers), "content-length": String(2 ** 51) },
  });
  chunk.on("error", () => {});
  chunk.write("x");
  const [response] = (await once(chunk, "response")) as [IncomingMessage];
  expect([response.statusCode, JSON.parse(await text(response)).code]).toEqual(
    expected(operation, "storage_full"),
  );
  chunk.destroy();
}

test("every error code of the contract is documented by an operation, except those that belong to none", () => {
  const documented = new Set(ALL_OPERATIONS.flatMap(errorCodesOf));
  const ofNone: ApiErrorCode[] = ["route_not_found", "method_not_allowed"];
  expect(new Set([...documented, ...ofNone])).toEqual(new Set(Object.keys(API_ERRORS)));
});

test("unknown paths and wrong methods are distinguished", async () => {
  const nowhere = await fetch(`${service.url}/api/v1/nowhere`);
  expect([nowhere.status, await nowhere.json()]).toMatchObject([404, { code: "route_not_found" }]);
  const wrong = await fetch(`${service.url}/api/v1/videos`, { method: "PUT" });
  expect([wrong.status, await wrong.json()]).toMatchObject([405, { code: "method_not_allowed" }]);
  expect(wrong.headers.get("allow")).toBe("GET, HEAD, POST");
});

describe("a key that has exceeded its rate limit", () => {
  const frozen: Clock = { now: () => new Date("2026-06-01T00:00:00Z") };
  const limited = shareService({
    start: false,
    clock: frozen,
    env: { RATE_LIMIT_BURST: "1", RATE_LIMIT_PER_SECOND: "1" },
  });
  const counted = ALL_OPERATIONS.filter(({ rateLimited }) => rateLimited);

  test.each(counted.map((operation) => [operation.id, operation] as const))(
    "gets rate_limited from %s",
    async (_id, operation) => {
      const tenant = await createTenant(limited, { clock: frozen });
      const spent = { ...world, service: limited, tenant };
      await ask(operation, spent);
      expect(await outcome(operation, await ask(operation, spent))).toEqual(
        expected(operation, "rate_limited"),
      );
    },
  );
});

test("every operation that reads a body responds with request_timeout if the body does not end, and closes", async () => {
  const reading = ALL_OPERATIONS.filter(({ body }) => body);
  expect(reading.length).toBeGreaterThan(3);
  // All at once, because each waits for the whole body timeout.
  const waits = reading.map(async (operation) => {
    const { url, init } = requestOf(operation, world);
    const slow = request(url, {
      method: operation.method,
      headers: { ...Object.fromEntries(init.headers as Headers), "content-length": "100" },
    });
    slow.on("error", () => {});
    slow.write("{");
    const [response] = (await once(slow, "response")) as [IncomingMessage];
    expect([response.statusCode, JSON.parse(await text(response)).code]).toEqual(
      expected(operation, "request_timeout"),
    );
    expect(response.headers.connection).toBe("close");
    slow.destroy();
  });
  await Promise.all(waits);
});

test("an idempotency key is in use while its first request runs", async (context) => {
  const { TEST_DATABASE_URL } = process.env;
  if (!TEST_DATABASE_URL) context.skip("on the embedded database requests wait for each other instead");
  const { databaseUrl } = service.service.parts.config;
  const elsewhere = new Client({ connectionString: databaseUrl! });
  await elsewhere.connect();
  try {
    const key = "held";
    await elsewhere.query("select pg_advisory_lock(hashtextextended($1, 0))", [
      `${world.tenant.environmentId} ${key}`,
    ]);
    for (const operation of ALL_OPERATIONS.filter(acceptsIdempotencyKey)) {
      const response = await ask(operation, world, { headers: { "idempotency-key": key } });
      expect(response.headers.get("retry-after")).toBe("1");
      expect(await outcome(operation, response)).toEqual(expected(operation, "idempotency_key_in_use"));
    }
  } finally {
    await elsewhere.end();
  }
});

test("a service that is stopping says so on open connections, in every operation", async () => {
  const stopping = await startService({ start: false, clock });
  const there = await makeWorld(stopping, clock);
  const { port } = new URL(stopping.url);
  const sockets = ALL_OPERATIONS.map((operation) => {
    const socket = connect(Number(port), "127.0.0.1");
    // An unfinished request keeps its connection open.
    socket.write(
      `POST /api/v1/videos HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\nauthorization: Bearer ${there.tenant.key}\r\ncontent-type: application/json\r\n\r\n{`,
    );
    return { operation, socket, answer: readUntilClosed(socket) };
  });
  await new Promise((resolve) => setTimeout(resolve, 300));
  const stopped = stopping.service.stop();
  await until(async () => !stopping.service.parts.app.server.listening);
  for (const { operation, socket } of sockets) {
    const { url, init } = requestOf(operation, there);
    const headers = [...(init.headers as Headers)].map(([name, value]) => `${name}: ${value}\r\n`).join("");
    const body = init.body
      ? `content-length: ${Buffer.byteLength(String(init.body))}\r\n\r\n${init.body}`
      : "\r\n";
    socket.write(
      `}${operation.method} ${url.pathname}${url.search} HTTP/1.1\r\nhost: x\r\n${headers}${body}`,
    );
  }
  for (const { operation, answer } of sockets) {
    const last = (await answer).split("HTTP/1.1 ").at(-1) ?? "";
    const [head = "", body = ""] = last.split("\r\n\r\n");
    expect([operation.id, head.slice(0, 3)]).toEqual([
      operation.id,
      operation.serverErrorReplacement ? "423" : "503",
    ]);
    expect(head.toLowerCase()).toContain("retry-after: 5");
    if (operation.method !== "HEAD") expect(JSON.parse(body)).toMatchObject({ code: "service_unavailable" });
  }
  await stopped;
});
