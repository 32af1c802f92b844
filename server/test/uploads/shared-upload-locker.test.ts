import { Client } from "pg";
import { pino } from "pino";
import { describe, expect, onTestFinished, test } from "vitest";
import { openSession } from "../../src/db/session.ts";
import { runAsLeader } from "../../src/queue/leader-election.ts";
import { createSharedUploadLocker } from "../../src/uploads/shared-upload-locker.ts";
import { createUploadLocker } from "../../src/uploads/upload-locker.ts";
import { until } from "../support/service.ts";

const databaseUrl = process.env.TEST_DATABASE_URL ?? "";
const log = pino({ level: "silent" });
const neverAborted = new AbortController().signal;
const noRelease = () => {};
let made = 0;
const newName = () => `${process.pid}-${made++}`;

async function newSession() {
  const session = await openSession({ databaseUrl, log });
  onTestFinished(() => session.close());
  return session;
}

/** The parts that each process has of its own. */
async function newProcess({ timeoutMs = 20_000 } = {}) {
  const session = await newSession();
  const local = createUploadLocker({ timeoutMs });
  return { session, locker: createSharedUploadLocker({ local, session, timeoutMs }) };
}

/** Ends the connection like a server that disappears. */
async function cutConnectionThatHolds(name: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(
    "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objid = hashtext($1)::bigint::bit(32)::bigint::oid",
    [name],
  );
  await client.end();
}

describe.skipIf(!databaseUrl)("the lock of an upload, across several processes", () => {
  test("is held by one request at a time, within a process and across processes", async () => {
    const id = newName();
    const processes = [await newProcess(), await newProcess()];
    let holders = 0;
    let turns = 0;
    await Promise.all(
      [0, 1, 2, 3, 4, 5].map(async (number) => {
        const lock = processes[number % 2]!.locker.newLock(id);
        await lock.lock(neverAborted, noRelease);
        holders += 1;
        expect(holders).toBe(1);
        await new Promise((resolve) => setImmediate(resolve));
        turns += 1;
        holders -= 1;
        await lock.unlock();
      }),
    );
    expect(turns).toBe(6);
  });

  test("is requested from a holder in another process", async () => {
    const id = newName();
    const [one, other] = [await newProcess(), await newProcess()];
    const held = one.locker.newLock(id);
    await held.lock(neverAborted, () => void held.unlock());
    await other.locker.newLock(id).lock(neverAborted, noRelease);
  });

  test("that another process holds for too long is upload_locked, and another upload's is not", async () => {
    const id = newName();
    const [one, other] = [await newProcess(), await newProcess({ timeoutMs: 50 })];
    const held = one.locker.newLock(id);
    await held.lock(neverAborted, noRelease);
    const refused = other.locker.newLock(id).lock(neverAborted, noRelease);
    await expect(refused).rejects.toMatchObject({ code: "upload_locked" });
    await other.locker.newLock(newName()).lock(neverAborted, noRelease);
    await held.unlock();
    await other.locker.newLock(id).lock(neverAborted, noRelease);
  });

  test("is not acquired for a request that was aborted", async () => {
    const id = newName();
    const [one, other] = [await newProcess(), await newProcess()];
    await one.locker.newLock(id).lock(neverAborted, noRelease);
    const gone = new AbortController();
    const refused = expect(other.locker.newLock(id).lock(gone.signal, noRelease)).rejects.toThrow("gone");
    gone.abort(new Error("gone"));
    await refused;
  });

  test("is lost with the connection: its writer is notified, and another process gets it", async () => {
    const id = newName();
    const [one, other] = [await newProcess(), await newProcess()];
    const held = one.locker.newLock(id);
    const notified = Promise.withResolvers<void>();
    await held.lock(neverAborted, () => notified.resolve());
    await cutConnectionThatHolds(`upload ${id}`);
    await notified.promise;
    await held.unlock();
    await other.locker.newLock(id).lock(neverAborted, noRelease);
    // It can take locks again, over a new connection.
    const again = one.locker.newLock(newName());
    await until(
      async () =>
        await again.lock(neverAborted, noRelease).then(
          () => true,
          () => false,
        ),
    );
  });
});

describe.skipIf(!databaseUrl)("a leader task", () => {
  test("runs in one process at a time, and in another when that one has ended", async () => {
    const name = newName();
    const leading = new Set<number>();
    const leaders = [];
    for (const number of [1, 2]) {
      const session = await newSession();
      leaders.push(
        runAsLeader({ session, log, checkIntervalMs: 20 }, name, () => {
          expect(leading.size).toBe(0);
          leading.add(number);
          return { stop: async () => void leading.delete(number) };
        }),
      );
    }
    await until(async () => leading.size === 1);
    const [first] = leading;
    await leaders[first! - 1]!.stop();
    await until(async () => leading.size === 1);
    expect(leading.has(first!)).toBe(false);
    await leaders[2 - first!]!.stop();
    expect(leading.size).toBe(0);
  });

  test("stops if the connection breaks", async () => {
    const name = newName();
    let started = 0;
    let ended = 0;
    const leader = runAsLeader({ session: await newSession(), log, checkIntervalMs: 20 }, name, () => {
      started += 1;
      return {
        async stop() {
          ended += 1;
        },
      };
    });
    await until(async () => started === 1);
    await cutConnectionThatHolds(name);
    await until(async () => started === 2);
    expect(ended).toBe(1);
    await leader.stop();
    expect(ended).toBe(2);
  });
});

if (!databaseUrl) {
  describe("locks and leader tasks across processes", () => {
    test.skip("is not tested: TEST_DATABASE_URL names no server", () => {});
  });
}
