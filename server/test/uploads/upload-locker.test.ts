import { describe, expect, test } from "vitest";
import { createUploadLocker } from "../../src/uploads/upload-locker.ts";

const neverAborted = new AbortController().signal;
const noRelease = () => {};
const turnOfTheLoop = () => new Promise((resolve) => setImmediate(resolve));

describe("the lock of an upload", () => {
  test("is held by one request at a time, in the order of the requests", async () => {
    const locker = createUploadLocker({ timeoutMs: 60_000 });
    const order: number[] = [];
    let holders = 0;
    await Promise.all(
      [1, 2, 3, 4].map(async (number) => {
        const lock = locker.newLock("a");
        await lock.lock(neverAborted, noRelease);
        holders += 1;
        expect(holders).toBe(1);
        order.push(number);
        await turnOfTheLoop();
        holders -= 1;
        await lock.unlock();
      }),
    );
    expect(order).toEqual([1, 2, 3, 4]);
  });

  test("does not hold up another upload", async () => {
    const locker = createUploadLocker({ timeoutMs: 60_000 });
    await locker.newLock("a").lock(neverAborted, noRelease);
    await locker.newLock("b").lock(neverAborted, noRelease);
  });

  test("is requested from its holder as soon as another waits, also from a holder that waited itself", async () => {
    const locker = createUploadLocker({ timeoutMs: 60_000 });
    const asked: string[] = [];
    const [first, second, third] = [1, 2, 3].map(() => locker.newLock("a"));
    await first?.lock(neverAborted, () => {
      asked.push("first");
      return first.unlock();
    });
    expect(asked).toEqual([]);
    const waiting = [
      second?.lock(neverAborted, () => void asked.push("second")),
      third?.lock(neverAborted, () => void asked.push("third")),
    ];
    await waiting[0];
    expect(asked.slice(0, 2)).toEqual(["first", "second"]);
    await second?.unlock();
    await waiting[1];
    expect(asked).not.toContain("third");
  });

  test("is not acquired for a request that was aborted, but for the next one", async () => {
    const locker = createUploadLocker({ timeoutMs: 60_000 });
    const [first, second, third] = [1, 2, 3].map(() => locker.newLock("a"));
    await first?.lock(neverAborted, noRelease);
    const gone = new AbortController();
    const refused = expect(second?.lock(gone.signal, noRelease)).rejects.toThrow("gone");
    const waiting = third?.lock(neverAborted, noRelease);
    gone.abort(new Error("gone"));
    await refused;
    await first?.unlock();
    await waiting;
    await expect(locker.newLock("a").lock(gone.signal, noRelease)).rejects.toThrow("gone");
  });

  test("that its holder keeps for too long is upload_locked, and is available later", async () => {
    const locker = createUploadLocker({ timeoutMs: 10 });
    const holder = locker.newLock("a");
    await holder.lock(neverAborted, noRelease);
    await expect(locker.newLock("a").lock(neverAborted, noRelease)).rejects.toMatchObject({
      code: "upload_locked",
      status: 423,
    });
    await holder.unlock();
    await locker.newLock("a").lock(neverAborted, noRelease);
  });

  test("cannot be released by a request that does not hold it", async () => {
    const locker = createUploadLocker({ timeoutMs: 60_000 });
    await locker.newLock("a").lock(neverAborted, noRelease);
    await expect(locker.newLock("a").unlock()).rejects.toThrow("without the lock");
  });
});
