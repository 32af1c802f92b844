import { rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { findDeliveriesWithoutJob, findTranscriptionsWithoutJob } from "../src/db/lost-jobs.ts";
import { freePort } from "./support/free-port.ts";
import { createTenant, startService, temporaryFolder, until, untilEnded, upload } from "./support/service.ts";

const GARBAGE = Buffer.from("no media at all");

test("a video whose job is gone gets a new one and comes to its end", async () => {
  const dataFolder = await temporaryFolder();
  const port = await freePort();
  const before = await startService({ dataFolder, port, start: false });
  const tenant = await createTenant(before);
  const videoId = await upload(before, tenant, GARBAGE);
  const db = before.service.parts.database.kysely;
  expect(await findTranscriptionsWithoutJob(db)).toEqual([]);
  await sql`delete from pgboss.job where name = 'transcribe'`.execute(db);
  expect(await findTranscriptionsWithoutJob(db)).toHaveLength(1);
  expect(await findDeliveriesWithoutJob(db)).toEqual([]);
  await before.service.stop();

  const after = await startService({ dataFolder, port });
  expect(await untilEnded(after, tenant, videoId)).toMatchObject({ status: "FAILED" });
  expect(after.logged()).toContain("a lost job was replaced");
});

test("a service does not start on files that its database does not know, and leaves them alone", async () => {
  const dataFolder = await temporaryFolder();
  const port = await freePort();
  const before = await startService({ dataFolder, port, start: false });
  const tenant = await createTenant(before, { aiTranscription: false });
  const videoId = await upload(before, tenant, GARBAGE);
  // Another database: embedded, a folder that is made anew; on PostgreSQL, one that never met the files.
  const { kysely, kind } = before.service.parts.database;
  if (kind === "postgres")
    await kysely.deleteFrom("service_secret").where("name", "=", "installation").execute();
  await before.service.stop();
  if (kind === "embedded") await rename(join(dataFolder, "database"), join(dataFolder, "database.old"));

  await expect(startService({ dataFolder, port })).rejects.toMatchObject({ code: "data_folder_mismatch" });
  await rm(join(dataFolder, "installation"));
  await expect(startService({ dataFolder, port })).rejects.toMatchObject({ code: "data_folder_mismatch" });
  expect((await stat(join(dataFolder, "uploads", videoId))).size).toBe(GARBAGE.length);
});

test("a second service on the same data folder is refused", async () => {
  const first = await startService({ start: false });
  await expect(startService({ dataFolder: first.dataFolder })).rejects.toMatchObject({
    code: "data_folder_in_use",
  });
});

test("an odd file among the uploads does not keep the sweep from its work", async () => {
  const service = await startService({ start: false });
  await writeFile(join(service.dataFolder, "uploads", ".DS_Store"), "x");
  await writeFile(join(service.dataFolder, "uploads", "video_stray"), "x");
  await service.service.stop();
  const again = await startService({ dataFolder: service.dataFolder });
  await until(async () => again.logged().includes("a recording without a video was removed"));
  expect(again.logged()).not.toContain("a sweep failed");
});
