import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { pino } from "pino";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { FindingView } from "../../src/admin/contract/system.ts";
import { sweep } from "../../src/cleanup/sweep.ts";
import { readConfig } from "../../src/config/config.ts";
import { openService } from "../../src/main.ts";
import { sendAsCommandLine } from "../admin/operator-requests.ts";
import { copyDatabase } from "../support/database-copies.ts";
import { runCommand } from "../support/run-command.ts";
import { seedTranscript } from "../support/seed-transcript.ts";
import {
  bucketFor,
  createTenant,
  freePort,
  postgresFor,
  startService,
  type Tenant,
  type TestService,
  temporaryFolder,
  upload,
} from "../support/service.ts";
import { readRecording, writeRecording } from "../support/stored-recording.ts";
import { testS3 } from "../support/test-bucket.ts";

const log = pino({ level: "silent" });

async function sweepNow({ service }: TestService): Promise<void> {
  const { database, queue, clock, log, config, recordings, transcripts, ownership } = service.parts;
  const { uploadExpiryMs } = config;
  await sweep(
    { db: database.kysely, queue, clock, log, recordings, transcripts, ownership, uploadExpiryMs },
    { full: true, signal: new AbortController().signal },
  );
}

async function deleteByApi({ url }: TestService, { key }: Tenant, videoId: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  return (await fetch(`${url}/api/v1/videos/${videoId}`, { method: "DELETE", headers })).status;
}

async function storedVideo(service: TestService, { environmentId }: Tenant) {
  const seeded = await seedTranscript(service.service, { environmentId, language: "en", text: "words" });
  await writeRecording(service.service, seeded.videoId, "recording");
  return seeded;
}

describe("a database that was restored from an older copy", () => {
  test("deletes no unknown files, keeps serving, and deletes again once the store is accepted", {
    timeout: 120_000,
  }, async () => {
    const dataFolder = await temporaryFolder();
    const first = await startService({ dataFolder, start: false });
    const tenant = await createTenant(first, { aiTranscription: false });
    const old = await storedVideo(first, tenant);
    const doomed = await storedVideo(first, tenant);
    await first.service.stop();
    const copy = await copyDatabase(dataFolder);

    const live = await startService({ dataFolder, start: false });
    const newer = [await storedVideo(live, tenant), await storedVideo(live, tenant)];
    await live.service.parts.ownership.advanceIfChanged();
    await live.service.stop();

    await copy.restore(dataFolder);
    const restored = await startService({ dataFolder, start: false });
    const { parts } = restored.service;
    expect(await parts.ownership.state()).toMatchObject({
      isOwner: false,
      reason: parts.database.kind === "embedded" ? "newer_store" : "other_database",
    });
    expect(restored.logged()).toContain("npx subtext storage accept");
    expect(await deleteByApi(restored, tenant, doomed.videoId)).toBe(204);
    await sweepNow(restored);
    for (const { videoId } of [old, doomed, ...newer])
      expect(await readRecording(restored.service, videoId)).not.toBeNull();
    expect(await Array.fromAsync(parts.transcripts.list("transcripts/"))).toHaveLength(4);
    await expect(parts.recordings.remove(old.videoId)).rejects.toMatchObject({
      code: "storage_deletions_stopped",
    });

    const uploaded = await upload(restored, tenant, Buffer.from("new"));
    expect(await readRecording(restored.service, uploaded)).toEqual(Buffer.from("new"));

    const stopped = await parts.ownership.state();
    await parts.ownership.accept(stopped.isOwner ? null : (stopped.mark?.token ?? null));
    expect(await parts.ownership.state()).toEqual({ isOwner: true });
    await sweepNow(restored);
    expect(await readRecording(restored.service, doomed.videoId)).toBeNull();
    for (const { videoId } of [old, ...newer])
      expect(await readRecording(restored.service, videoId)).not.toBeNull();
  });

  test("`storage accept` shows what would be deleted, and accepts the store only with --yes", {
    timeout: 120_000,
  }, async () => {
    const dataFolder = await temporaryFolder();
    const first = await startService({ dataFolder, start: false });
    const tenant = await createTenant(first, { aiTranscription: false });
    const doomed = await storedVideo(first, tenant);
    await first.service.stop();
    const copy = await copyDatabase(dataFolder);
    const live = await startService({ dataFolder, start: false });
    const newer = await storedVideo(live, tenant);
    await live.service.parts.ownership.advanceIfChanged();
    await live.service.stop();
    await copy.restore(dataFolder);

    const restored = await startService({ dataFolder, start: false });
    await deleteByApi(restored, tenant, doomed.videoId);
    await sweepNow(restored);
    const findings = async (service: TestService) =>
      (await sendAsCommandLine(service, "/doctor")).json<{ data: FindingView[] }>().data;
    const stopped = (await findings(restored)).find(({ name }) => name === "cleanup");
    expect(stopped).toMatchObject({ status: "warning", remedy: expect.stringContaining("storage accept") });
    expect(stopped?.detail).toContain(`uploads/${newer.videoId}`);
    await restored.service.stop();

    const shown = await runCommand(dataFolder, ["storage", "accept"]);
    expect(shown).toMatchObject({ exitCode: 0, err: "" });
    expect(shown.out).toContain("2 files of deleted videos, lost attempts and replaced corrections");
    expect(shown.out).toContain(`uploads/${doomed.videoId}`);
    expect(shown.out).toContain("2 files that this database has no record of");
    expect(shown.out).toContain(`uploads/${newer.videoId}`);
    expect(shown.out).toContain("Nothing was changed.");
    const unchanged = await startService({ dataFolder, start: false });
    expect(await unchanged.service.parts.ownership.state()).toMatchObject({ isOwner: false });
    await unchanged.service.stop();

    const accepted = await runCommand(dataFolder, ["storage", "accept", "--yes"]);
    expect(accepted).toMatchObject({ exitCode: 0, out: expect.stringContaining("Accepted.") });
    const again = await startService({ dataFolder, start: false });
    expect(await again.service.parts.ownership.state()).toEqual({ isOwner: true });
    await sweepNow(again);
    expect(await readRecording(again.service, doomed.videoId)).toBeNull();
    expect(await readRecording(again.service, newer.videoId)).not.toBeNull();
    const finding = (await findings(again)).find(({ name }) => name === "cleanup");
    expect(finding?.detail).toContain("2 stored files are not recorded in the database");
  });
});

describe("a copy of the database that is started beside the original, on its files", () => {
  // Two embedded databases, or two databases of one server, on one bucket.
  test.skipIf(!testS3())(
    "deletes none of them, and the original continues to delete",
    { timeout: 120_000 },
    async () => {
      const dataFolder = await temporaryFolder();
      const env = await bucketFor(dataFolder);
      const first = await startService({ dataFolder, env, start: false });
      const tenant = await createTenant(first, { aiTranscription: false });
      const videos = [await storedVideo(first, tenant), await storedVideo(first, tenant)];
      await first.service.stop();
      const copy = await copyDatabase(dataFolder);

      const live = await startService({ dataFolder, env, start: false });
      const later = await storedVideo(live, tenant);
      await live.service.parts.ownership.advanceIfChanged();
      const elsewhere = await temporaryFolder();
      await postgresFor(elsewhere);
      await mkdir(elsewhere, { recursive: true });
      await copy.restore(elsewhere);
      const rehearsal = await startService({ dataFolder: elsewhere, env, start: false });
      expect(await rehearsal.service.parts.ownership.state()).toMatchObject({ isOwner: false });
      expect(await deleteByApi(rehearsal, tenant, videos[0]!.videoId)).toBe(204);
      await sweepNow(rehearsal);
      for (const { videoId } of [...videos, later])
        expect(await readRecording(live.service, videoId)).not.toBeNull();

      expect(await live.service.parts.ownership.state()).toEqual({ isOwner: true });
      expect(await deleteByApi(live, tenant, videos[1]!.videoId)).toBe(204);
      expect(await readRecording(live.service, videos[1]!.videoId)).toBeNull();

      // Accepted from here while the original is running: what was shown is outdated.
      const shown = await rehearsal.service.parts.ownership.state();
      await live.service.parts.ownership.advance();
      const token = shown.isOwner ? null : (shown.mark?.token ?? null);
      await expect(rehearsal.service.parts.ownership.accept(token)).rejects.toMatchObject({
        code: "storage_changed",
      });
    },
  );
});

describe("two processes on one PostgreSQL", () => {
  test.skipIf(!process.env.TEST_DATABASE_URL)(
    "with a data folder each are refused from the first start, before there are videos",
    async () => {
      // Then the test services have no bucket.
      vi.stubEnv("TEST_S3", "");
      onTestFinished(() => void vi.unstubAllEnvs());
      const dataFolder = await temporaryFolder();
      const env = { DATABASE_URL: (await postgresFor(dataFolder))! };
      const [a, b] = await Promise.allSettled([
        startService({ dataFolder, env, start: false }),
        startService({ dataFolder: await temporaryFolder(), env, start: false }),
      ]);
      const refused = [a, b].filter(({ status }) => status === "rejected");
      expect(refused).toEqual([
        { status: "rejected", reason: expect.objectContaining({ code: "data_folder_mismatch" }) },
      ]);
      const empty = await temporaryFolder();
      const later = startService({ dataFolder: empty, env, start: false });
      await expect(later).rejects.toMatchObject({
        code: "data_folder_mismatch",
        message: expect.stringContaining("set S3_BUCKET"),
      });
    },
  );
});

test.skipIf(!process.env.TEST_DATABASE_URL)(
  "a missing data folder is created by the first start, and by no command",
  async () => {
    const dataFolder = join(await temporaryFolder(), "not", "yet");
    const databaseUrl = (await postgresFor(await temporaryFolder()))!;
    const config = readConfig({
      DATA_DIR: dataFolder,
      DATABASE_URL: databaseUrl,
      PORT: String(await freePort()),
      MODEL_DOWNLOAD: "off",
    });
    const command = openService({ config, log, purpose: "command" });
    await expect(command).rejects.toMatchObject({ code: "installation_missing" });
    const service = await openService({ config, log });
    await service.stop();
    expect(await readdir(dataFolder)).toEqual(expect.arrayContaining(["installation", "store.json"]));
    await rm(dataFolder, { recursive: true });
    const elsewhere = openService({ config, log, purpose: "command" });
    await expect(elsewhere).rejects.toMatchObject({ code: "installation_missing" });
  },
);
