import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { fsyncSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openEmbedded } from "../../src/db/embedded/embedded.ts";

interface Schema {
  note: { id: number; text: string };
}

const log = pino({ level: "silent" });
const writerUrl = new URL("./database-writer.ts", import.meta.url);
let made: string;
beforeAll(async () => {
  made = join(await mkdtemp(join(tmpdir(), "subtext-database-")), "database");
  const database = await openEmbedded<Schema>({ folder: made, log });
  await sql`create table note (id integer primary key, text text not null)`.execute(database.kysely);
  await database.close();
});
afterAll(() => rm(join(made, ".."), { recursive: true }));

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "subtext-database-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A database folder with an empty table `note`. Tests copy it, because creating a database takes seconds. */
async function copyDatabase(parent?: string): Promise<string> {
  const folder = join(parent ?? (await temporaryFolder()), "database");
  await cp(made, folder, { recursive: true });
  return folder;
}

/** Opens the database and closes it when the test ends. */
async function open(folder: string, fsync?: (fileDescriptor: number) => void) {
  const crashes: unknown[] = [];
  const database = await openEmbedded<Schema>({
    folder,
    log,
    onCrash: (error) => crashes.push(error),
    ...(fsync && { fsync }),
  });
  onTestFinished(() => database.close());
  const insert = (id: number, text = "x") =>
    database.kysely.insertInto("note").values({ id, text }).execute();
  const ids = async () =>
    (await database.kysely.selectFrom("note").select("id").orderBy("id").execute()).map((row) => row.id);
  return { ...database, insert, ids, crashes };
}

function startWriter(folder: string) {
  const child = spawn(process.execPath, [fileURLToPath(writerUrl), folder], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let complaints = "";
  child.stderr.on("data", (chunk) => {
    complaints += chunk;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return {
    child: child as ChildProcess,
    ended,
    async nextLine(): Promise<string> {
      const { value, done } = await lines.next();
      if (done) throw new Error(`the writer ended: ${complaints}`);
      return value;
    },
    async remainingLines(): Promise<string[]> {
      const rest: string[] = [];
      for (let next = await lines.next(); !next.done; next = await lines.next()) rest.push(next.value);
      return rest;
    },
  };
}

describe("a commit", () => {
  test("calls fsync before it is acknowledged; a read-only query does not", async () => {
    let calls = 0;
    const { kysely, insert, ids } = await open(await copyDatabase(), (file) => {
      calls += 1;
      fsyncSync(file);
    });
    for (const id of [1, 2, 3]) {
      const before = calls;
      await insert(id);
      expect(calls).toBeGreaterThan(before);
    }
    const before = calls;
    await kysely.transaction().execute(async (tx) => {
      await tx.insertInto("note").values({ id: 4, text: "x" }).execute();
      await tx.insertInto("note").values({ id: 5, text: "x" }).execute();
      expect(calls).toBe(before);
    });
    expect(calls).toBeGreaterThan(before);
    const read = calls;
    expect(await ids()).toEqual([1, 2, 3, 4, 5]);
    expect(calls).toBe(read);
  });

  test("that cannot be written to disk fails, and so does every later query", async () => {
    const folder = await copyDatabase();
    let broken = false;
    const database = await open(folder, (file) => {
      if (broken) throw Object.assign(new Error("EIO"), { code: "EIO" });
      fsyncSync(file);
    });
    await database.insert(1);
    broken = true;
    const stopped = { code: "service_unavailable", message: expect.stringContaining("could not fsync") };
    await expect(database.insert(2)).rejects.toMatchObject(stopped);
    await expect(database.ids()).rejects.toMatchObject(stopped);
    await expect(database.check()).rejects.toMatchObject(stopped);
    await expect(database.kysely.transaction().execute(async () => {})).rejects.toMatchObject(stopped);
    expect(database.crashes).toMatchObject([stopped]);
    broken = false;
    await database.close();
    expect((await (await open(folder)).ids())[0]).toBe(1);
  });

  test("survives SIGKILL at any time, completely", { timeout: 120_000 }, async () => {
    const folder = await copyDatabase();
    let acknowledged = 0;
    for (let round = 0; round < 10; round += 1) {
      const writer = startWriter(folder);
      const found = JSON.parse(await writer.nextLine()) as { last: number; left: number; right: number };
      // One more commit may have succeeded before it could be reported.
      expect([acknowledged, acknowledged + 1]).toContain(found.last);
      expect(found).toMatchObject({ left: found.last, right: found.last });
      await writer.nextLine();
      await delay(Math.random() * 400);
      writer.child.kill("SIGKILL");
      acknowledged = Number((await writer.remainingLines()).at(-1) ?? found.last + 1);
    }
    expect(acknowledged).toBeGreaterThan(10);
  });
});

describe("a full disk", () => {
  const mountable = process.platform === "linux" && process.getuid?.() === 0;

  /** A file system of the given size, or null if it cannot be mounted. */
  async function emptyDisk(megabytes: number) {
    const parent = await temporaryFolder();
    if (!mountable) return null;
    const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", parent]);
    if (mounted.status !== 0) return null;
    onTestFinished(() => {
      // Lazily, because a stopped database still has open files.
      spawnSync("umount", ["--lazy", parent]);
    });
    return parent;
  }

  /** The same, with a database in it. */
  async function smallDisk(megabytes: number) {
    const parent = await emptyDisk(megabytes);
    if (parent === null) return null;
    return { folder: await copyDatabase(parent), filler: join(parent, "filler") };
  }

  test("prevents the creation of a database, and is named as the reason", async (context) => {
    const disk = await emptyDisk(6);
    if (disk === null) return context.skip("no file system can be mounted here");
    await expect(open(join(disk, "database"))).rejects.toThrow(
      /could not be started: no space is left on the disk\.$/,
    );
  });

  test("fails only the insert that needs space", async (context) => {
    const disk = await smallDisk(80);
    if (disk === null) return context.skip("no file system can be mounted here");
    const database = await open(disk.folder);
    await sql`alter table note alter column text set storage external`.execute(database.kysely);
    await writeFile(disk.filler, Buffer.alloc(16 * 1024 * 1024));
    const acknowledged: number[] = [];
    const fill = async () => {
      for (let id = 0; id < 1000; id += 1) {
        await database.insert(id, "x".repeat(500_000));
        acknowledged.push(id);
        await sql`checkpoint`.execute(database.kysely);
      }
    };
    await expect(fill()).rejects.toMatchObject({ code: "53100" });
    expect(await database.ids()).toEqual(acknowledged);
    await rm(disk.filler);
    await database.insert(5000, "x".repeat(500_000));
    expect(await database.ids()).toEqual([...acknowledged, 5000]);
  });

  test("that rejects the write-ahead log stops the database, which recovers when there is space", async (context) => {
    const disk = await smallDisk(80);
    if (disk === null) return context.skip("no file system can be mounted here");
    const database = await open(disk.folder);
    const acknowledged: number[] = [];
    const fill = async () => {
      for (let id = 0; id < 1000; id += 1) {
        if (id === 5) await writeFile(disk.filler, Buffer.alloc(40 * 1024 * 1024));
        await database.kysely.transaction().execute(async (tx) => {
          await tx.insertInto("note").values({ id, text: "x" }).execute();
          await sql`select pg_logical_emit_message(true, 'filler', repeat('x', 900000))`.execute(tx);
        });
        acknowledged.push(id);
      }
    };
    await expect(fill()).rejects.toMatchObject({
      code: "service_unavailable",
      message: expect.stringContaining("No space left on device"),
    });
    await expect(database.ids()).rejects.toMatchObject({ code: "service_unavailable" });
    await database.close();
    await rm(disk.filler);
    const recovered = await open(disk.folder);
    expect(await recovered.ids()).toEqual(acknowledged);
    await recovered.insert(5000);
  });
});

describe("the data folder", () => {
  const refused = { code: "data_folder_in_use" };

  test("can be opened by one service at a time, and again after that service has closed", async () => {
    const folder = await copyDatabase();
    const first = await open(folder);
    await expect(open(folder)).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining(`process ${process.pid}`),
    });
    await first.close();
    await (await open(folder)).insert(1);
  });

  test("can be opened by one process at a time, named in the error, and again after it is killed", async () => {
    const folder = await copyDatabase();
    const writer = startWriter(folder);
    await writer.nextLine();
    await expect(open(folder)).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining(`process ${writer.child.pid}`),
    });
    writer.child.kill("SIGKILL");
    await writer.ended;
    await open(folder);
  });

  test("is created with its parent folders, readable only by its owner", async () => {
    const folder = join(await temporaryFolder(), "data", "database");
    await open(folder);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(join(folder, ".."))).mode & 0o777).toBe(0o700);
    expect(await readdir(join(folder, ".."))).toEqual(["database", "database.lock"]);
  });

  test("is made private again if other users were given access", async () => {
    const folder = await copyDatabase();
    spawnSync("chmod", ["755", folder]);
    await open(folder);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  });

  test("is created atomically, even if its creation is interrupted repeatedly", async () => {
    const parent = await temporaryFolder();
    const folder = join(parent, "database");
    for (let round = 0; round < 2; round += 1) {
      const writer = startWriter(folder);
      await delay(300 + Math.random() * 1500);
      writer.child.kill("SIGKILL");
      await writer.ended;
    }
    const writer = startWriter(folder);
    expect(Object.keys(JSON.parse(await writer.nextLine()))).toEqual(["last", "left", "right"]);
    expect(await readdir(parent)).toEqual(["database", "database.lock"]);
  });

  test("is cleaned up after an interrupted creation", async () => {
    const folder = await copyDatabase();
    const leftover = `${folder}.new-0123`;
    await mkdir(leftover);
    await writeFile(join(leftover, "PG_VERSION"), "18\n");
    await open(folder);
    expect(await readdir(join(folder, ".."))).toEqual(["database", "database.lock"]);
  });

  test("of another PostgreSQL version is rejected and left unchanged", async () => {
    const folder = await copyDatabase();
    await writeFile(join(folder, "PG_VERSION"), "17\n");
    await expect(open(folder)).rejects.toMatchObject({
      code: "database_version_mismatch",
      message: expect.stringContaining("PostgreSQL 17"),
    });
    await writeFile(join(folder, "PG_VERSION"), "18\n");
    await (await open(folder)).insert(1);
  });

  test("that contains other files is rejected", async () => {
    const folder = join(await temporaryFolder(), "database");
    await mkdir(folder);
    await writeFile(join(folder, "holiday.txt"), "");
    await expect(open(folder)).rejects.toMatchObject({ code: "database_version_mismatch" });
    expect(await readdir(folder)).toEqual(["holiday.txt"]);
  });
});
