import { randomUUID } from "node:crypto";
import { cp } from "node:fs/promises";
import { expect, inject, onTestFinished, test } from "vitest";
import { openS3ObjectStore } from "../../src/storage/s3/s3-object-store.ts";
import { runCommandWith } from "../support/run-command.ts";
import { temporaryFolder } from "../support/service.ts";
import { bucketEnv, testBucketConfig, testS3 } from "../support/test-bucket.ts";

const s3 = testS3();

test.skipIf(!s3)(
  "subtext storage create-bucket creates the bucket, and leaves an existing one as it is",
  async () => {
    const name = `created-${randomUUID()}`;
    const env = bucketEnv(s3!, name);
    const objects = openS3ObjectStore(testBucketConfig(s3!, name));
    onTestFinished(() => objects.close());
    await expect(objects.put("kept", Buffer.from("kept"))).rejects.toMatchObject({
      code: "storage_unavailable",
    });
    const done = { exitCode: 0, out: expect.stringContaining(`The bucket ${name} exists`), err: "" };
    expect(await runCommandWith(["storage", "create-bucket"], env)).toEqual(done);
    const created = openS3ObjectStore(testBucketConfig(s3!, name));
    onTestFinished(() => created.close());
    await created.put("kept", Buffer.from("kept"));
    expect(await runCommandWith(["storage", "create-bucket"], env)).toEqual(done);
    expect((await Array.fromAsync(created.list("kept"))).map(({ key }) => key)).toEqual(["kept"]);

    const wrong = await runCommandWith(["storage", "create-bucket"], {
      ...env,
      S3_SECRET_ACCESS_KEY: "wrong",
    });
    expect(wrong).toMatchObject({ exitCode: 1, err: expect.stringContaining("S3_SECRET_ACCESS_KEY") });
    const nowhere = await runCommandWith(["storage", "create-bucket"], {
      ...env,
      S3_ENDPOINT: "http://127.0.0.1:1",
    });
    expect(nowhere).toMatchObject({
      exitCode: 1,
      err: expect.stringMatching(
        /could not be created at http:\/\/127\.0\.0\.1:1\. Check the S3_… settings.*ECONNREFUSED/,
      ),
    });
    const none = await runCommandWith(["storage", "create-bucket"], {});
    expect(none).toMatchObject({ exitCode: 1, err: expect.stringContaining("Set S3_BUCKET") });
  },
);

test.skipIf(!s3)("the doctor names the command that creates a missing bucket", async () => {
  const dataFolder = await temporaryFolder();
  await cp(inject("templateDataFolder"), dataFolder, { recursive: true });
  const settings = { DATA_DIR: dataFolder, MODEL_DOWNLOAD: "off", LOG_LEVEL: "silent" };
  const { exitCode, out } = await runCommandWith(["doctor"], {
    ...bucketEnv(s3!, `missing-${randomUUID()}`),
    ...settings,
  });
  expect([exitCode, out]).toEqual([
    1,
    expect.stringContaining("create it with `npx subtext storage create-bucket`"),
  ]);
});
