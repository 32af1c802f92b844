import { spawnSync } from "node:child_process";
import { mkdir, open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import {
  createTenant,
  readTranscription,
  startService,
  until,
  untilEnded,
  upload,
} from "../support/service.ts";
import { testS3 } from "../support/test-bucket.ts";

const SAMPLE = join(import.meta.dirname, "../../../demo/sample/sample.mp4");

async function fillDisk(path: string): Promise<void> {
  const file = await open(path, "w");
  try {
    for (;;) await file.write(Buffer.alloc(4096));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
  } finally {
    await file.close();
  }
}

test("a transcription waits while the disk is full, and completes without a failed attempt once there is space", async (context) => {
  if (testS3()) context.skip("with a bucket, the service does not write to its disk");
  const service = await startService();
  const folder = join(service.dataFolder, "files");
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", folder]).status === 0;
  if (!mounted) return context.skip("no file system can be mounted on this machine");
  onTestFinished(() => void spawnSync("umount", ["--lazy", folder]));
  await mkdir(join(folder, "~unfinished"));
  const filler = join(folder, "filler");
  await fillDisk(filler);

  const tenant = await createTenant(service);
  const videoId = await upload(service, tenant, await readFile(SAMPLE));
  await until(async () => service.logged().includes('"code":"storage_full"'));
  expect((await readTranscription(service, tenant, videoId)).body.status).toBe("PROCESSING");
  expect((await fetch(`${service.url}/readyz`)).status).toBe(503);
  await rm(filler);
  expect(await untilEnded(service, tenant, videoId)).toMatchObject({ status: "COMPLETED" });
  const row = await service.service.parts.database.kysely
    .selectFrom("transcription")
    .select(["attempt", "failure_count", "crash_count"])
    .where("video_id", "=", videoId)
    .executeTakeFirstOrThrow();
  expect(row).toEqual({ attempt: 1, failure_count: 0, crash_count: 0 });
});
