import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { Client } from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { startTcpProxy, type TcpProxy } from "../../../test/support/tcp-proxy.ts";
import {
  createTenant,
  readTranscription,
  startService,
  type TestService,
  temporaryFolder,
  until,
  untilEnded,
  upload,
} from "../support/service.ts";
import { bucketEnv, makeTestBucket, testS3 } from "../support/test-bucket.ts";
import { makeTestDatabase } from "../support/test-database.ts";

const server = process.env.TEST_DATABASE_URL;
const s3 = testS3();

/** Starts a service whose connection to its database can be disrupted. */
async function startBehindProxy(): Promise<{ service: TestService; proxy: TcpProxy; databaseUrl: string }> {
  const name = `outage-${crypto.randomUUID()}`;
  const databaseUrl = await makeTestDatabase(server!, name.replaceAll("-", "_"));
  const url = new URL(databaseUrl);
  const proxy = await startTcpProxy({ port: Number(url.port) });
  onTestFinished(() => proxy.close());
  url.port = String(proxy.port);
  const env: Record<string, string> = { DATABASE_URL: url.href, RATE_LIMIT_BURST: "1000" };
  if (s3) {
    await makeTestBucket(s3, name);
    Object.assign(env, bucketEnv(s3, name));
  }
  const service = await startService({ dataFolder: await temporaryFolder(), env });
  // Runs before the service stops, because the service must be able to disconnect.
  onTestFinished(() => proxy.pass());
  return { service, proxy, databaseUrl };
}

const readyz = async ({ url }: TestService) => (await fetch(`${url}/readyz`)).status;

describe.skipIf(!server)("a database that becomes unavailable and recovers", () => {
  test.each<[string, (proxy: TcpProxy) => Promise<void>]>([
    ["refuses connections", (proxy) => proxy.refuse()],
    ["is silent", (proxy) => proxy.hang()],
  ])(
    "%s: requests that need it get 503 with Retry-After, and the service recovers automatically",
    { timeout: 120_000 },
    async (_how, goAway) => {
      const { service, proxy } = await startBehindProxy();
      const tenant = await createTenant(service);
      const before = await upload(service, tenant, Buffer.from("no media"));
      expect(await untilEnded(service, tenant, before)).toMatchObject({ status: "FAILED" });

      await goAway(proxy);
      const { status, body, headers } = await readTranscription(service, tenant, before);
      expect([status, body]).toMatchObject([503, { code: "service_unavailable" }]);
      expect(headers.get("retry-after")).toBe("5");
      // Later requests fail immediately.
      const many = await Promise.all(
        Array.from({ length: 200 }, () => readTranscription(service, tenant, before)),
      );
      expect(new Set(many.map((answer) => answer.status))).toEqual(new Set([503]));
      const refused = await fetch(`${service.url}/api/v1/uploads`, {
        method: "POST",
        headers: { authorization: `Bearer ${tenant.key}`, "tus-resumable": "1.0.0", "upload-length": "4" },
      });
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
      // After a 503, tus clients would upload the whole file again as another video.
      const offset = await fetch(`${service.url}/api/v1/uploads/${before}`, {
        method: "HEAD",
        headers: { authorization: `Bearer ${tenant.key}`, "tus-resumable": "1.0.0" },
      });
      expect([offset.status, offset.headers.get("retry-after")]).toEqual([423, "5"]);
      expect(await readyz(service)).toBe(503);
      expect((await fetch(`${service.url}/healthz`)).status).toBe(200);

      await proxy.pass();
      await until(async () => (await readyz(service)) === 200);
      expect((await readTranscription(service, tenant, before)).status).toBe(200);
      // The queue and the upload locks recover, too.
      const after = await until(
        async () => await upload(service, tenant, Buffer.from("none")).catch(() => false),
      );
      expect(await untilEnded(service, tenant, String(after))).toMatchObject({ status: "FAILED" });
      const lines = service
        .logged()
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
      const outage = lines.filter(({ level, msg }) => level !== "info" || /available/.test(msg));
      expect(outage.map(({ level, msg }) => [level, msg])).toEqual([
        ["warn", "transcription failed"],
        ["error", "the database is unavailable"],
        ["info", "the database is available again"],
        ["warn", "transcription failed"],
      ]);
    },
  );

  test("crashes no process when connections are closed in the middle of transactions", async () => {
    const { service, proxy, databaseUrl } = await startBehindProxy();
    const tenant = await createTenant(service, { aiTranscription: false });
    const videoId = await upload(service, tenant, Buffer.from("x"));
    const locker = new Client({ connectionString: databaseUrl });
    await locker.connect();
    onTestFinished(() => locker.end());
    await locker.query("begin");
    await locker.query("select from video where id = $1 for update", [videoId]);
    const db = service.service.parts.database.kysely;
    const holding = db.transaction().execute(async (tx) => {
      await tx.selectFrom("environment").selectAll().execute();
      // The connection breaks between the two queries.
      await sleep(300);
      await tx.selectFrom("environment").selectAll().execute();
    });
    const waiting = db
      .transaction()
      .execute((tx) => tx.updateTable("video").set({ metadata: "{}" }).where("id", "=", videoId).execute());
    const outcomes = Promise.allSettled([holding, waiting]);
    await sleep(100);
    proxy.cut();
    expect(await outcomes).toMatchObject([
      { status: "rejected", reason: { code: "service_unavailable" } },
      { status: "rejected", reason: { code: "service_unavailable" } },
    ]);
    await locker.query("rollback");
    expect(await readyz(service)).toBe(200);
  });

  test("counts as available while it is slow", { timeout: 120_000 }, async () => {
    const { service, proxy } = await startBehindProxy();
    const tenant = await createTenant(service, { aiTranscription: false });
    await proxy.slow(100);
    const videoId = await upload(service, tenant, Buffer.from("x"));
    await proxy.pass();
    const db = service.service.parts.database.kysely;
    // Longer than the delay after which the service checks the database.
    await sql`select pg_sleep(8)`.execute(db);
    expect((await readTranscription(service, tenant, videoId)).status).toBe(404);
    expect(service.logged()).not.toContain("the database is unavailable");
  });
});

if (!server) {
  describe("a database that becomes unavailable", () => {
    test.skip("is not tested: TEST_DATABASE_URL names no PostgreSQL", () => {});
  });
}
