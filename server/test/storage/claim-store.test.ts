import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import type { Db } from "../../src/db/schema.ts";
import { createEnvironment } from "../../src/environments/environments.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { claimStore } from "../../src/storage/ownership/claim-store.ts";
import { readStoreRecord } from "../../src/storage/ownership/queries.ts";
import { diskLocation, type StoreLocation } from "../../src/storage/ownership/store-location.ts";
import { readMark } from "../../src/storage/ownership/store-mark.ts";
import { StoreOwnership, stopReason } from "../../src/storage/ownership/store-ownership.ts";
import { findUpload } from "../../src/uploads/queries.ts";
import { startService, temporaryFolder } from "../support/service.ts";

const HOUR_MS = 3_600_000;
const log = pino({ level: "silent" });

describe("the claim of a store", () => {
  /** A separate database and an empty folder; no service runs on them. */
  async function setUp() {
    const started = await startService({ start: false });
    const db: Db = started.service.parts.database.kysely;
    await db.deleteFrom("store_record").execute();
    const folder = await temporaryFolder();
    return { db, folder, location: diskLocation(folder, []) };
  }

  /** Fails at that write or removal and all later ones, like a process that is killed there. */
  function dyingAt(location: StoreLocation, deadly: number): StoreLocation {
    let writes = 0;
    const step = async <T>(work: () => Promise<T>) => {
      writes += 1;
      if (writes >= deadly) throw new Error("killed");
      return await work();
    };
    return {
      ...location,
      write: (file, content) => step(() => location.write(file, content)),
      remove: (file) => step(() => location.remove(file)),
    };
  }

  const home = "server/1";
  const start = async (db: Db, location: StoreLocation) => {
    await claimStore({ db, location, home, log });
    const ownership = new StoreOwnership({ db, location, log });
    await ownership.advance();
    return ownership;
  };

  test("killed at any write is completed by the next start", async () => {
    for (let deadly = 1; deadly <= 3; deadly += 1) {
      const { db, location } = await setUp();
      await expect(start(db, dyingAt(location, deadly))).rejects.toThrow("killed");
      const ownership = await start(db, location);
      expect(await ownership.state()).toEqual({ isOwner: true });
      expect((await readStoreRecord(db))?.generation).toBeGreaterThan(0);
    }
  });

  test("whose record was inserted although the database then failed is completed by the next start", async () => {
    const { db, location } = await setUp();
    let isInserted = false;
    const failing = new Proxy(db, {
      get(target, property) {
        const value = Reflect.get(target, property);
        if (typeof value !== "function") return value;
        return (...parameters: unknown[]) => {
          if (property === "selectFrom" && isInserted) throw new Error("the connection was lost");
          isInserted ||= property === "insertInto" && parameters[0] === "store_record";
          return value.apply(target, parameters);
        };
      },
    });
    await expect(start(failing, location)).rejects.toThrow("the connection was lost");
    expect(await (await start(db, location)).state()).toEqual({ isOwner: true });
  });

  test("an advance that is killed between the database and the store stops nothing", async () => {
    const { db, location } = await setUp();
    const ownership = await start(db, location);
    const dying = new StoreOwnership({ db, location: dyingAt(location, 1), log });
    for (let time = 0; time < 3; time += 1) await expect(dying.advance()).rejects.toThrow("killed");
    expect(await ownership.state()).toEqual({ isOwner: true });
    await ownership.advance();
    expect(await (await start(db, location)).state()).toEqual({ isOwner: true });
  });

  test("processes that advance concurrently stay owners, whichever writes last", async () => {
    const { db, location } = await setUp();
    const ownership = await start(db, location);
    const others = Array.from({ length: 5 }, () => new StoreOwnership({ db, location, log }));
    for (let round = 0; round < 5; round += 1) {
      await Promise.all(others.map((other) => other.advance()));
      expect(await ownership.state()).toEqual({ isOwner: true });
    }
  });

  test("by an acceptance can be repeated if it was killed", async () => {
    const { db, folder, location } = await setUp();
    const ownership = await start(db, location);
    const mark = JSON.parse(await readFile(join(folder, "store.json"), "utf8"));
    await writeFile(
      join(folder, "store.json"),
      JSON.stringify({ ...mark, owner: "another", generation: 40 }),
    );
    const dying = new StoreOwnership({ db, location: dyingAt(location, 1), log });
    await expect(dying.accept(mark.token)).rejects.toThrow("killed");
    expect(await ownership.state()).toMatchObject({ isOwner: false, reason: "other_database" });
    await ownership.accept(mark.token);
    expect(await ownership.state()).toEqual({ isOwner: true });
    // The other database detects that it is no longer the newest.
    expect((await readMark(location))!.generation).toBeGreaterThan(40);
  });

  test("of a restored database, and its acceptance, start the expiry of unfinished uploads over", async () => {
    const { db, location } = await setUp();
    await start(db, location);
    const { id: environmentId } = await createEnvironment(
      { db, clock: systemClock },
      { name: "Restored", aiTranscription: false },
    );
    const id = newId("video");
    const activeAt = new Date(Date.now() - 48 * HOUR_MS);
    const row = { environment_id: environmentId, metadata: "{}", created_at: activeAt };
    await db
      .insertInto("video")
      .values({ ...row, id, upload_active_at: activeAt })
      .execute();
    await start(db, location);
    expect((await findUpload(db, id))!.idleMs).toBeGreaterThan(47 * HOUR_MS);

    await claimStore({ db, location, home: "server/2", log });
    expect((await findUpload(db, id))!.idleMs).toBeLessThan(HOUR_MS);
    await db.updateTable("video").set({ upload_active_at: activeAt }).execute();
    const ownership = new StoreOwnership({ db, location, log });
    expect(await ownership.state()).toMatchObject({ isOwner: false });
    await ownership.accept((await readMark(location))!.token);
    expect((await findUpload(db, id))!.idleMs).toBeLessThan(HOUR_MS);
  });

  test("a store whose mark is lost is refused at the start and can be accepted", async () => {
    const { db, folder, location } = await setUp();
    const ownership = await start(db, location);
    await rm(join(folder, "store.json"));
    expect(await ownership.state()).toMatchObject({ isOwner: false, reason: "other_store" });
    await expect(start(db, location)).rejects.toMatchObject({ code: "data_folder_mismatch" });
    await ownership.accept(null);
    expect(await (await start(db, location)).state()).toEqual({ isOwner: true });
  });

  test("a store that an older release used is claimed with all its files", async () => {
    const { db, folder, location } = await setUp();
    await start(db, location);
    await rm(join(folder, "store.json"));
    await db.deleteFrom("store_record").execute();
    await mkdir(join(folder, "uploads"));
    await writeFile(join(folder, "uploads", "video_old"), "x");
    const old = diskLocation(folder, [join(folder, "uploads")]);
    expect(await (await start(db, old)).state()).toEqual({ isOwner: true });
  });

  test("a database from before its store had a mark is an older one", async () => {
    const { db, location } = await setUp();
    await start(db, location);
    await db.deleteFrom("store_record").execute();
    expect(await (await start(db, location)).state()).toMatchObject({ isOwner: false });
  });

  test("a copied folder of files is a store of its own only together with its database", async () => {
    const { db, folder, location } = await setUp();
    await start(db, location);
    const copy = await temporaryFolder();
    await cp(folder, copy, { recursive: true });
    expect(await (await start(db, diskLocation(copy, []))).state()).toEqual({ isOwner: true });
    expect(await new StoreOwnership({ db, location, log }).state()).toEqual({ isOwner: true });
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
