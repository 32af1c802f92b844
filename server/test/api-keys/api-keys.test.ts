import { crc32 } from "node:zlib";
import { expect, test, vi } from "vitest";
import { createApiKey, verifyApiKey } from "../../src/api-keys/api-keys.ts";
import { findApiKey, revokeApiKey } from "../../src/api-keys/queries.ts";
import { MAX_VALID_API_KEYS } from "../../src/environments/limits.ts";
import {
  createTenant,
  MovableClock,
  shareService,
  startService,
  type Tenant,
  until,
} from "../support/service.ts";
import { bucketEnv, testS3 } from "../support/test-bucket.ts";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const clock = new MovableClock();
const service = shareService({ start: false, clock });

async function listVideos(url: string, { key }: Tenant): Promise<Response> {
  return await fetch(`${url}/api/v1/videos`, { headers: { authorization: `Bearer ${key}` } });
}

const keyRow = async ({ environmentId }: Tenant) =>
  await service.service.parts.database.kysely
    .selectFrom("api_key")
    .selectAll()
    .where("environment_id", "=", environmentId)
    .executeTakeFirstOrThrow();

test("a key can be recognized and checked with the documented expression, without the service", async () => {
  for (let made = 0; made < 20; made++) {
    const { key } = await createTenant(service);
    const [, body, checksum] = /^(subtext_[0-9a-z]{26}_[0-9A-Za-z]{43})([0-9A-Za-z]{6})$/.exec(key) ?? [];
    const value = [...(checksum ?? "")].reduce((sum, digit) => sum * 62 + DIGITS.indexOf(digit), 0);
    expect(value).toBe(crc32(body ?? ""));
  }
});

test("a key with a wrong secret is rejected, even if its checksum is correct", async () => {
  const tenant = await createTenant(service);
  const secret = (await createTenant(service)).key.slice(35, 78);
  const unchecked = tenant.key.slice(0, 35) + secret;
  let rest = crc32(unchecked);
  let checksum = "";
  for (let digit = 0; digit < 6; digit++) {
    checksum = DIGITS[rest % 62] + checksum;
    rest = Math.floor(rest / 62);
  }
  const forged = await listVideos(service.url, { ...tenant, key: unchecked + checksum });
  expect([forged.status, await forged.json()]).toMatchObject([401, { code: "invalid_api_key" }]);
  expect((await listVideos(service.url, tenant)).status).toBe(200);
});

test("a mistyped key is rejected without a database read, an expired one after a single read", async () => {
  const { environmentId } = await createTenant(service);
  const db = service.service.parts.database.kysely;
  const expiresAt = new Date(clock.now().getTime() + 600_000);
  const request = { environmentId, name: "n", permissions: ["get_video" as const], expiresAt };
  const { id, key } = await createApiKey({ db, clock }, request);
  const findKey = vi.fn((keyId: string) => findApiKey(db, keyId));
  const isValid = async (text: string) => (await verifyApiKey({ findKey, clock }, text)) !== undefined;
  expect(await isValid(key.slice(0, -1) + (key.endsWith("0") ? "1" : "0"))).toBe(false);
  expect(findKey).not.toHaveBeenCalled();
  expect(await isValid(key)).toBe(true);
  expect(findKey).toHaveBeenCalledExactlyOnceWith(id);
  clock.advance(600_001);
  expect(await isValid(key)).toBe(false);
});

test("a key's last use is stored once a minute, however often it is used", async () => {
  const tenant = await createTenant(service, { clock });
  expect((await keyRow(tenant)).last_used_at).toBeNull();
  await listVideos(service.url, tenant);
  const first = await until(async () => (await keyRow(tenant)).last_used_at ?? undefined);
  clock.advance(50_000);
  await listVideos(service.url, tenant);
  clock.advance(11_000);
  await listVideos(service.url, tenant);
  const second = await until(async () => {
    const { last_used_at: at } = await keyRow(tenant);
    return at !== null && at > first && at;
  });
  // The use after 50 seconds was not stored, so this is the use after 61 seconds.
  expect(second.getTime() - first.getTime()).toBeGreaterThanOrEqual(61_000);
});

test("a last use that cannot be stored does not fail the request", async () => {
  const tenant = await createTenant(service, { clock });
  const db = service.service.parts.database.kysely;
  await db.schema.createView("api_key_view").as(db.selectFrom("api_key").selectAll().distinct()).execute();
  await db.schema.alterTable("api_key").renameTo("api_key_table").execute();
  await db.schema.alterTable("api_key_view").renameTo("api_key").execute();
  try {
    expect((await listVideos(service.url, tenant)).status).toBe(200);
    await until(async () => service.logged().includes("could not record the key's last use"));
  } finally {
    await db.schema.dropView("api_key").execute();
    await db.schema.alterTable("api_key_table").renameTo("api_key").execute();
  }
});

test("every response to a key has rate limit headers, including errors and upload chunks, which do not count", async () => {
  const tenant = await createTenant(service, { clock, permissions: ["create_video"] });
  const headers = { authorization: `Bearer ${tenant.key}`, "tus-resumable": "1.0.0" };
  const refused = await listVideos(service.url, tenant);
  expect([refused.status, refused.headers.get("ratelimit-policy")]).toEqual([403, '"per-key";q=60;w=6']);
  const counts = [];
  for (let asked = 0; asked < 2; asked++) {
    const chunk = await fetch(`${service.url}/api/v1/uploads/none`, { method: "HEAD", headers });
    expect(chunk.status).toBe(404);
    counts.push(Number(/;r=(\d+);t=\d+$/.exec(chunk.headers.get("ratelimit") ?? "")?.[1]));
  }
  expect(Math.min(...counts)).toBeGreaterThanOrEqual(59);
});

test("the number of active keys per environment is limited; revoked and expired keys do not count", async () => {
  const { environmentId } = await createTenant(service, { clock });
  const db = service.service.parts.database.kysely;
  const make = (expiresAt: Date | null = null) =>
    createApiKey({ db, clock }, { environmentId, name: "n", permissions: ["get_video"], expiresAt });
  const { id } = await make();
  await make(new Date(clock.now().getTime() + 600_000));
  for (let made = 3; made < MAX_VALID_API_KEYS; made++) await make();
  await expect(make()).rejects.toMatchObject({ code: "api_key_limit_reached" });
  clock.advance(600_001);
  await make();
  await expect(make()).rejects.toMatchObject({ code: "api_key_limit_reached" });
  await revokeApiKey(db, id, clock.now());
  await make();
});

test("a key that one process revokes is rejected by all other processes immediately", async (context) => {
  const { databaseUrl, bucket } = service.service.parts.config;
  if (!databaseUrl || !bucket) context.skip("several processes need PostgreSQL and a bucket");
  const env = { DATABASE_URL: databaseUrl!, ...bucketEnv(testS3()!, bucket!.name) };
  const other = await startService({ start: false, clock, env });
  const tenant = await createTenant(service, { clock });
  expect((await listVideos(other.url, tenant)).status).toBe(200);
  await revokeApiKey(service.service.parts.database.kysely, (await keyRow(tenant)).id, clock.now());
  expect((await listVideos(other.url, tenant)).status).toBe(401);
});
