import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { chmod, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { sql } from "kysely";
import { describe, expect, onTestFinished, test } from "vitest";
import { openDiskRecordingStore } from "../../src/storage/disk/disk-recording-store.ts";
import { fileError } from "../../src/storage/disk/local-file.ts";
import { openObjectRecordingStore } from "../../src/storage/object-recording-store.ts";
import { RECORDINGS_PREFIX } from "../../src/storage/object-upload.ts";
import { openS3ObjectStore } from "../../src/storage/s3/s3-object-store.ts";
import { OutagePause } from "../../src/transcription/outage-pause.ts";
import { type Refusal, startS3Proxy } from "../support/s3-proxy.ts";
import {
  createTenant,
  readTranscription,
  startService,
  type Tenant,
  type TestService,
  temporaryFolder,
  until,
  untilEnded,
  upload,
} from "../support/service.ts";
import { bucketEnv, makeTestBucket, testS3 } from "../support/test-bucket.ts";

const SAMPLE = join(import.meta.dirname, "../../../demo/sample/sample.mp4");
const { signal } = new AbortController();

/** A recording store on a bucket whose requests can be refused, with two recordings. */
async function openRefusableBucket() {
  const proxy = await startS3Proxy();
  const bucket = openS3ObjectStore({
    kind: "s3",
    name: "bucket",
    region: "us-east-1",
    endpoint: proxy.endpoint,
    publicEndpoint: null,
    forcePathStyle: true,
    credentials: { accessKeyId: "key", secretAccessKey: "secret" },
    prefix: "",
  });
  onTestFinished(() => bucket.close());
  for (const id of ["video_bad", "video_good"])
    await bucket.put(RECORDINGS_PREFIX + id, Buffer.from("media"));
  const recordings = openObjectRecordingStore(bucket, { scratchFolder: await temporaryFolder() });
  const open = async (id: string) => {
    try {
      const { path, release } = await recordings.open(id, signal);
      const content = await readFile(path, "utf8");
      await release();
      return content;
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  return { proxy, bucket, open };
}

describe("a bucket", () => {
  test.each<[Refusal, string]>([
    [{ status: 403, code: "AccessDenied" }, "storage_object_denied"],
    [{ status: 403, code: "InvalidObjectState" }, "storage_object_denied"],
    [{ status: 404, code: "NoSuchKey" }, "storage_object_missing"],
    [{ status: 400, code: "BadDigest" }, "storage_object_unusable"],
    [{ status: 412, code: "PreconditionFailed" }, "storage_object_unusable"],
    // The storage is overloaded or broken, however few requests fail.
    [{ status: 400, code: "RequestTimeout" }, "storage_unavailable"],
    [{ status: 403, code: "RequestTimeTooSkewed" }, "storage_unavailable"],
    [{ status: 429, code: "TooManyRequests" }, "storage_unavailable"],
    [{ status: 500, code: "InternalError" }, "storage_unavailable"],
    [{ status: 503, code: "SlowDown" }, "storage_unavailable"],
  ])("that answers %o for one object: its code is %s, and the others are served", async (refusal, code) => {
    const { proxy, open } = await openRefusableBucket();
    proxy.refuse = ({ url, method }) => (method === "GET" && url!.includes("video_bad") ? refusal : null);
    expect(await open("video_bad")).toBe(code);
    expect(await open("video_good")).toBe("media");
  });

  test.each<Refusal>([
    { status: 403, code: "InvalidAccessKeyId" },
    { status: 403, code: "SignatureDoesNotMatch" },
    { status: 400, code: "ExpiredToken" },
    { status: 403, code: "AccessDenied" },
    { status: 404, code: "NoSuchBucket" },
    { status: 503, code: "SlowDown" },
  ])("that answers %o for everything is unavailable until it serves again", async (refusal) => {
    const { proxy, open } = await openRefusableBucket();
    proxy.refuse = () => refusal;
    for (const id of ["video_bad", "video_good", "video_unknown"]) {
      expect(await open(id)).toBe("storage_unavailable");
    }
    proxy.refuse = () => null;
    await until(async () => (await open("video_good")) === "media");
    await until(async () => (await open("video_unknown")) === "storage_object_missing");
  });

  test("that refuses a HEAD request gets it once more, because the response names no reason", async () => {
    const { proxy, open } = await openRefusableBucket();
    let refusals = 0;
    proxy.refuse = ({ url, method }) => {
      if (method !== "HEAD" || !url!.includes("video_bad") || refusals > 0) return null;
      refusals += 1;
      return { status: 403, code: "" };
    };
    expect(await open("video_bad")).toBe("media");
    expect(refusals).toBe(1);
  });

  test("that refuses only writes is unavailable, whatever can still be read", async () => {
    const { proxy, bucket } = await openRefusableBucket();
    proxy.refuse = ({ method }) => (method === "PUT" ? { status: 403, code: "AccessDenied" } : null);
    await expect(bucket.put("files/a", Buffer.from("x"))).rejects.toMatchObject({
      code: "storage_unavailable",
    });
  });
});

describe("a file system", () => {
  const works = async () => {};
  const fails = (code: string) => async () => {
    throw Object.assign(new Error(code), { code });
  };

  test.each([
    ["EACCES", works, "storage_object_denied"],
    ["EPERM", works, "storage_object_denied"],
    ["EIO", works, "storage_object_unusable"],
    ["ELOOP", works, "storage_object_unusable"],
    ["ENOSPC", works, "storage_full"],
    ["EDQUOT", works, "storage_full"],
    ["EROFS", works, "storage_unavailable"],
    ["EMFILE", works, "storage_unavailable"],
    ["EACCES", fails("EACCES"), "storage_unavailable"],
    ["EIO", fails("EIO"), "storage_unavailable"],
    ["EACCES", fails("ENOSPC"), "storage_full"],
  ])("that returns %s for one file, in a folder that %o: %s", async (code, folder, expected) => {
    const error = Object.assign(new Error(code), { code });
    expect(await fileError(error, folder)).toMatchObject({ code: expected });
  });

  test("distinguishes a missing file from a missing folder", async () => {
    const folder = join(await temporaryFolder(), "uploads");
    const recordings = await openDiskRecordingStore(folder);
    await expect(recordings.open("video_a", signal)).rejects.toMatchObject({
      code: "storage_object_missing",
    });
    await rm(folder, { recursive: true });
    await expect(recordings.open("video_a", signal)).rejects.toMatchObject({ code: "storage_unavailable" });
  });

  test("distinguishes an unreadable file from a damaged one", async () => {
    const folder = await temporaryFolder();
    await chmod(folder, 0o777);
    await writeFile(join(folder, "video_a"), "x", { mode: 0 });
    const module = new URL("../../src/storage/disk/disk-recording-store.ts", import.meta.url).href;
    const script = `
      import { openDiskRecordingStore } from ${JSON.stringify(module)};
      if (process.getuid() === 0) process.setuid(65534);
      const sources = await openDiskRecordingStore(${JSON.stringify(folder)});
      await sources.open("video_a").catch(({ code }) => console.log(code));`;
    const child = spawn(process.execPath, ["--input-type=module-typescript", "--eval", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [said] = await Promise.all([text(child.stdout), once(child, "close")]);
    expect(said.trim()).toBe("storage_object_denied");
  });
});

/** Resolves if the pause is over, rejects if it is not. */
const isOver = (pause: OutagePause) =>
  pause.untilOver(AbortSignal.abort()).then(
    () => true,
    () => false,
  );

test("a worker pauses after outages at two transcriptions, not after any number at one", async () => {
  const pause = new OutagePause();
  const note = (transcriptionId: string, reason: string | null) => pause.record({ transcriptionId, reason });
  for (let time = 0; time < 3; time++) note("a", "storage_unavailable");
  expect(await isOver(pause)).toBe(true);
  note("b", null);
  note("b", "storage_unavailable");
  expect(await isOver(pause)).toBe(true);
  note("a", "storage_unavailable");
  expect(await isOver(pause)).toBe(false);
});

/** Expects only the video whose file cannot be read to fail, after three attempts. */
async function expectOnlyThisToFail(
  service: TestService,
  tenant: Tenant,
  { bad, code }: { bad: string; code: string },
): Promise<void> {
  const db = service.service.parts.database.kysely;
  const good = await upload(service, tenant, await readFile(SAMPLE));
  expect(await untilEnded(service, tenant, good)).toMatchObject({ status: "COMPLETED" });
  await until(async () => {
    // It is tried three times; the test does not wait for the time between them.
    await sql`update pgboss.job set start_after = now() where name = 'transcribe' and state = 'created'`.execute(
      db,
    );
    return (await readTranscription(service, tenant, bad)).body.status === "FAILED";
  });
  const row = await db
    .selectFrom("transcription")
    .select(["failure_code", "failure_count"])
    .where("video_id", "=", bad)
    .executeTakeFirstOrThrow();
  expect(row).toEqual({ failure_code: code, failure_count: 2 });
}

const s3 = testS3();

describe.skipIf(!s3)("a service on a bucket (skipped without TEST_S3)", () => {
  async function startBehindProxy() {
    const name = `faults-${randomUUID()}`;
    await makeTestBucket(s3!, name);
    const proxy = await startS3Proxy(Number(new URL(s3!.endpoint).port));
    const env = { ...bucketEnv(s3!, name), S3_ENDPOINT: proxy.endpoint, S3_PUBLIC_ENDPOINT: s3!.endpoint };
    const service = await startService({ dataFolder: await temporaryFolder(), env });
    return { proxy, service, tenant: await createTenant(service) };
  }

  test("fails a video whose recording is denied, and transcribes the others", {
    timeout: 120_000,
  }, async () => {
    const { proxy, service, tenant } = await startBehindProxy();
    // The first recording that is fetched.
    let denied: string | undefined;
    proxy.refuse = ({ method, url = "" }) => {
      const path = url.split("?")[0]!;
      if (method === "GET" && path.includes(`/${RECORDINGS_PREFIX}`)) denied ??= path;
      return path === denied && method === "GET" ? { status: 403, code: "AccessDenied" } : null;
    };
    const bad = await upload(service, tenant, await readFile(SAMPLE));
    await until(async () => denied !== undefined);
    await expectOnlyThisToFail(service, tenant, { bad, code: "storage_object_denied" });
    expect(service.logged()).not.toContain("the bucket is unavailable");
  });

  test("fails nothing while the bucket refuses the credentials, and resumes automatically", {
    timeout: 120_000,
  }, async () => {
    const { proxy, service, tenant } = await startBehindProxy();
    proxy.refuse = ({ method, url }) =>
      method === "GET" && url!.includes(RECORDINGS_PREFIX)
        ? { status: 403, code: "InvalidAccessKeyId" }
        : null;
    const some = await Promise.all(
      Array.from({ length: 3 }, async () => await upload(service, tenant, await readFile(SAMPLE))),
    );
    proxy.refuse = () => ({ status: 403, code: "InvalidAccessKeyId" });
    await until(async () => service.logged().includes("the bucket is unavailable"));
    expect((await fetch(`${service.url}/readyz`)).status).toBe(503);
    proxy.refuse = () => null;
    await until(async () => service.logged().includes("the bucket is available again"));
    for (const id of some) {
      expect(await untilEnded(service, tenant, id)).toMatchObject({ status: "COMPLETED" });
    }
    const counts = await service.service.parts.database.kysely
      .selectFrom("transcription")
      .select("crash_count")
      .execute();
    expect(counts).toEqual([{ crash_count: 0 }, { crash_count: 0 }, { crash_count: 0 }]);
  });
});

describe.skipIf(s3)("a service on a disk (skipped with TEST_S3)", () => {
  test("fails a video whose recording cannot be read, and transcribes the others", {
    timeout: 120_000,
  }, async () => {
    const service = await startService();
    const tenant = await createTenant(service);
    const bad = await upload(service, tenant, await readFile(SAMPLE));
    await until(async () => (await readTranscription(service, tenant, bad)).status === 200);
    const path = join(service.dataFolder, "uploads", bad);
    await rm(path);
    await symlink(path, path);
    await expectOnlyThisToFail(service, tenant, { bad, code: "storage_object_unusable" });
    expect(service.logged()).not.toContain("the data folder is unavailable");
  });

  test("fails nothing while its folder is missing, and resumes automatically", {
    timeout: 120_000,
  }, async () => {
    const service = await startService();
    const tenant = await createTenant(service);
    const folder = join(service.dataFolder, "uploads");
    const ids = [
      await upload(service, tenant, await readFile(SAMPLE)),
      await upload(service, tenant, await readFile(SAMPLE)),
    ];
    await rename(folder, `${folder}.gone`);
    await until(async () => service.logged().includes("the data folder is unavailable"));
    await rename(`${folder}.gone`, folder);
    await until(async () => service.logged().includes("the data folder is available again"));
    for (const id of ids)
      expect(await untilEnded(service, tenant, id)).toMatchObject({ status: "COMPLETED" });
  });
});
