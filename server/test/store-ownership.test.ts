import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pino } from "pino";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { sweep } from "../src/cleanup/sweep.ts";
import { readConfig } from "../src/config/config.ts";
import type { Db } from "../src/db/schema.ts";
import type { Finding } from "../src/health/doctor.ts";
import { openService } from "../src/main.ts";
import { claimStore } from "../src/storage/ownership/claim-store.ts";
import { readStoreRecord } from "../src/storage/ownership/queries.ts";
import { StoreOwnership, stopReason } from "../src/storage/ownership/store-ownership.ts";
import { placeOnDisk, type StorePlace } from "../src/storage/ownership/store-place.ts";
import { sendAsCommandLine } from "./operator-requests.ts";
import { copyDatabase } from "./support/database-copies.ts";
import { runCommand } from "./support/run-command.ts";
import { seedTranscript } from "./support/seed-transcript.ts";
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
} from "./support/service.ts";
import { readRecording, writeRecording } from "./support/stored-recording.ts";
import { testS3 } from "./support/test-bucket.ts";

const log = pino({ level: "silent" });

async function sweepNow({ service }: TestService): Promise<void> {
  const { database, queue, clock, log, config, sources, storage, ownership } = service.parts;
  const { uploadExpiryMs } = config;
  await sweep(
    { db: database.kysely, queue, clock, log, sources, storage, ownership, uploadExpiryMs },
    { strays: true, signal: new AbortController().signal },
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

    await copy.putBack(dataFolder);
    const restored = await startService({ dataFolder, start: false });
    const { parts } = restored.service;
    expect(await parts.ownership.look()).toMatchObject({
      isOwner: false,
      reason: parts.database.kind === "embedded" ? "newer_store" : "other_database",
    });
    expect(restored.logged()).toContain("npx subtext storage accept");
    expect(await deleteByApi(restored, tenant, doomed.videoId)).toBe(204);
    await sweepNow(restored);
    for (const { videoId } of [old, doomed, ...newer])
      expect(await readRecording(restored.service, videoId)).not.toBeNull();
    expect(await Array.fromAsync(parts.storage.list("transcripts/"))).toHaveLength(4);
    await expect(parts.sources.remove(old.videoId)).rejects.toMatchObject({
      code: "storage_deletions_stopped",
    });

    const uploaded = await upload(restored, tenant, Buffer.from("new"));
    expect(await readRecording(restored.service, uploaded)).toEqual(Buffer.from("new"));

    const stopped = await parts.ownership.look();
    await parts.ownership.accept(stopped.isOwner ? null : (stopped.mark?.token ?? null));
    expect(await parts.ownership.look()).toEqual({ isOwner: true });
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
    await copy.putBack(dataFolder);

    const restored = await startService({ dataFolder, start: false });
    await deleteByApi(restored, tenant, doomed.videoId);
    await sweepNow(restored);
    const findings = async (service: TestService) =>
      (await sendAsCommandLine(service, "/doctor")).json<{ data: Finding[] }>().data;
    const stopped = (await findings(restored)).find(({ name }) => name === "cleanup");
    expect(stopped).toMatchObject({ status: "warning", remedy: expect.stringContaining("storage accept") });
    expect(stopped?.detail).toContain(`uploads/${newer.videoId}`);
    await restored.service.stop();

    const shown = await runCommand(dataFolder, ["storage", "accept"]);
    expect(shown).toMatchObject({ exitCode: 0, err: "" });
    expect(shown.out).toContain("2 files of deleted videos and lost attempts");
    expect(shown.out).toContain(`uploads/${doomed.videoId}`);
    expect(shown.out).toContain("2 files that this database does not know");
    expect(shown.out).toContain(`uploads/${newer.videoId}`);
    expect(shown.out).toContain("Nothing was changed.");
    const unchanged = await startService({ dataFolder, start: false });
    expect(await unchanged.service.parts.ownership.look()).toMatchObject({ isOwner: false });
    await unchanged.service.stop();

    const accepted = await runCommand(dataFolder, ["storage", "accept", "--yes"]);
    expect(accepted).toMatchObject({ exitCode: 0, out: expect.stringContaining("Accepted.") });
    const again = await startService({ dataFolder, start: false });
    expect(await again.service.parts.ownership.look()).toEqual({ isOwner: true });
    await sweepNow(again);
    expect(await readRecording(again.service, doomed.videoId)).toBeNull();
    expect(await readRecording(again.service, newer.videoId)).not.toBeNull();
    const kept = (await findings(again)).find(({ name }) => name === "cleanup");
    expect(kept?.detail).toContain("2 stored files are unknown to the database");
  });
});

describe("a copy of the database that is started beside the original, on its files", () => {
  // Two embedded databases, or two of one server, on one bucket.
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
      await copy.putBack(elsewhere);
      const rehearsal = await startService({ dataFolder: elsewhere, env, start: false });
      expect(await rehearsal.service.parts.ownership.look()).toMatchObject({ isOwner: false });
      expect(await deleteByApi(rehearsal, tenant, videos[0]!.videoId)).toBe(204);
      await sweepNow(rehearsal);
      for (const { videoId } of [...videos, later])
        expect(await readRecording(live.service, videoId)).not.toBeNull();

      expect(await live.service.parts.ownership.look()).toEqual({ isOwner: true });
      expect(await deleteByApi(live, tenant, videos[1]!.videoId)).toBe(204);
      expect(await readRecording(live.service, videos[1]!.videoId)).toBeNull();

      // Accepted from here while the original is running: what was shown is outdated.
      const shown = await rehearsal.service.parts.ownership.look();
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
      // Services of tests have no bucket then.
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

describe("the claim of a store", () => {
  /** A separate database and an empty folder; no service runs on them. */
  async function setUp() {
    const started = await startService({ start: false });
    const db: Db = started.service.parts.database.kysely;
    await db.deleteFrom("store_record").execute();
    const folder = await temporaryFolder();
    return { db, folder, place: placeOnDisk(folder, []) };
  }

  /** Fails at that write or removal, like a process that is killed there, and at all later ones. */
  function dyingAt(place: StorePlace, deadly: number): StorePlace {
    let writes = 0;
    const step = async <T>(work: () => Promise<T>) => {
      writes += 1;
      if (writes >= deadly) throw new Error("killed");
      return await work();
    };
    return {
      ...place,
      write: (file, content) => step(() => place.write(file, content)),
      remove: (file) => step(() => place.remove(file)),
    };
  }

  const home = "server/1";
  const start = async (db: Db, place: StorePlace) => {
    await claimStore({ db, place, home, log });
    const ownership = new StoreOwnership({ db, place, log });
    await ownership.advance();
    return ownership;
  };

  test("killed at any write is completed by the next start", async () => {
    for (let deadly = 1; deadly <= 3; deadly += 1) {
      const { db, place } = await setUp();
      await expect(start(db, dyingAt(place, deadly))).rejects.toThrow("killed");
      const ownership = await start(db, place);
      expect(await ownership.look()).toEqual({ isOwner: true });
      expect((await readStoreRecord(db))?.generation).toBeGreaterThan(0);
    }
  });

  test("an advance that is killed between the database and the store stops nothing", async () => {
    const { db, place } = await setUp();
    const ownership = await start(db, place);
    const dying = new StoreOwnership({ db, place: dyingAt(place, 1), log });
    for (let time = 0; time < 3; time += 1) await expect(dying.advance()).rejects.toThrow("killed");
    expect(await ownership.look()).toEqual({ isOwner: true });
    await ownership.advance();
    expect(await (await start(db, place)).look()).toEqual({ isOwner: true });
  });

  test("processes that advance concurrently stay owners, whichever writes last", async () => {
    const { db, place } = await setUp();
    const ownership = await start(db, place);
    const others = Array.from({ length: 5 }, () => new StoreOwnership({ db, place, log }));
    for (let round = 0; round < 5; round += 1) {
      await Promise.all(others.map((other) => other.advance()));
      expect(await ownership.look()).toEqual({ isOwner: true });
    }
  });

  test("by an acceptance can be repeated if it was killed", async () => {
    const { db, folder, place } = await setUp();
    const ownership = await start(db, place);
    const mark = JSON.parse(await readFile(join(folder, "store.json"), "utf8"));
    await writeFile(
      join(folder, "store.json"),
      JSON.stringify({ ...mark, owner: "another", generation: 40 }),
    );
    const dying = new StoreOwnership({ db, place: dyingAt(place, 1), log });
    await expect(dying.accept(mark.token)).rejects.toThrow("killed");
    expect(await ownership.look()).toMatchObject({ isOwner: false, reason: "other_database" });
    await ownership.accept(mark.token);
    expect(await ownership.look()).toEqual({ isOwner: true });
  });

  test("a store whose mark is lost is refused at the start and can be accepted", async () => {
    const { db, folder, place } = await setUp();
    const ownership = await start(db, place);
    await rm(join(folder, "store.json"));
    expect(await ownership.look()).toMatchObject({ isOwner: false, reason: "other_store" });
    await expect(start(db, place)).rejects.toMatchObject({ code: "data_folder_mismatch" });
    await ownership.accept(null);
    expect(await (await start(db, place)).look()).toEqual({ isOwner: true });
  });

  test("a store that an older release used is claimed with all its files", async () => {
    const { db, folder, place } = await setUp();
    await start(db, place);
    await rm(join(folder, "store.json"));
    await db.deleteFrom("store_record").execute();
    await mkdir(join(folder, "uploads"));
    await writeFile(join(folder, "uploads", "video_old"), "x");
    const old = placeOnDisk(folder, [join(folder, "uploads")]);
    expect(await (await start(db, old)).look()).toEqual({ isOwner: true });
  });

  test("a database from before its store had a mark is an older one", async () => {
    const { db, place } = await setUp();
    await start(db, place);
    await db.deleteFrom("store_record").execute();
    expect(await (await start(db, place)).look()).toMatchObject({ isOwner: false });
  });

  test("a copied folder of files is a store of its own only together with its database", async () => {
    const { db, folder, place } = await setUp();
    await start(db, place);
    const copy = await temporaryFolder();
    await cp(folder, copy, { recursive: true });
    expect(await (await start(db, placeOnDisk(copy, []))).look()).toEqual({ isOwner: true });
    expect(await new StoreOwnership({ db, place, log }).look()).toEqual({ isOwner: true });
  });
});

test("a store belongs to another database, is newer or is older by identity, generation and token", () => {
  const mark = { store: "s", owner: "o", generation: 3, token: "t" };
  const record = { store_id: "s", owner: "o", generation: 3, token: "t" };
  expect(stopReason(mark, record)).toBeNull();
  expect(stopReason({ ...mark, generation: 2, token: "older" }, record)).toBeNull();
  expect(stopReason({ ...mark, generation: 4 }, record)).toBe("newer_store");
  expect(stopReason({ ...mark, token: "other" }, record)).toBe("newer_store");
  expect(stopReason({ ...mark, owner: "p" }, record)).toBe("other_database");
  expect(stopReason({ ...mark, store: "r" }, record)).toBe("other_store");
  expect(stopReason(null, record)).toBe("other_store");
  expect(stopReason(mark, undefined)).toBe("other_store");
  expect(stopReason(null, undefined)).toBe("unclaimed");
});
