import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  LoadBalancer,
  type LoadBalancerOptions,
  type Slot,
} from "../../../src/engines/openai/load-balancer.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  vi.spyOn(Math, "random").mockReturnValue(1);
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

async function advance(milliseconds: number): Promise<void> {
  vi.advanceTimersByTime(milliseconds);
  await settled();
}

/** Everything that does not wait for the clock is done. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function balancerOf(servers: string[], options: Partial<LoadBalancerOptions> = {}) {
  const balancer = new LoadBalancer(servers, {
    concurrency: 2,
    cooldownMs: 1_000,
    maxCooldownMs: 8_000,
    retryTimeoutMs: 60_000,
    ...options,
  });
  const { signal } = new AbortController();
  const acquire = async (): Promise<Slot<string>> => (await balancer.acquire(balancer.request(), signal))!;
  /** Whether a request waits rather than being served. */
  const waits = async () => {
    const abort = new AbortController();
    const waiting = balancer.acquire(balancer.request(), abort.signal).then(
      (given) => given?.release(),
      () => {},
    );
    await settled();
    const isWaiting = !(await Promise.race([waiting.then(() => true), settled().then(() => false)]));
    abort.abort();
    await waiting;
    return isWaiting;
  };
  return { balancer, acquire, waits, signal };
}

describe("load balancing", () => {
  test("gives each request to the server with the fewest in flight, then to the fastest", async () => {
    const { acquire } = balancerOf(["slow", "fast"]);
    const [first, second] = [await acquire(), await acquire()];
    expect([first.server, second.server]).toEqual(["slow", "fast"]);
    await advance(100);
    second.succeeded(10);
    await advance(900);
    first.succeeded(10);
    const [third, fourth, fifth] = [await acquire(), await acquire(), await acquire()];
    expect([third.server, fourth.server, fifth.server]).toEqual(["fast", "slow", "fast"]);
  });

  test("gives no server more than it may have at a time", async () => {
    const { acquire, waits } = balancerOf(["one"], { concurrency: 2 });
    const [first] = [await acquire(), await acquire()];
    expect(await waits()).toBe(true);
    first!.succeeded(1);
    expect(await waits()).toBe(false);
  });

  test("lets a failing server rest, longer each time, and tries it again with one request", async () => {
    const { acquire, waits } = balancerOf(["one"]);
    for (const restMs of [1_000, 2_000, 4_000, 8_000, 8_000]) {
      (await acquire()).failed(null);
      await advance(restMs - 1);
      expect(await waits()).toBe(true);
      await advance(1);
      expect(await waits()).toBe(false);
      const trial = await acquire();
      expect(await waits()).toBe(true);
      trial.release();
    }
    (await acquire()).succeeded(1);
    await acquire();
    expect(await waits()).toBe(false);
  });

  test("counts requests that failed side by side once", async () => {
    const { acquire, waits } = balancerOf(["one"], { concurrency: 4 });
    const slots = [await acquire(), await acquire(), await acquire(), await acquire()];
    await advance(10);
    for (const one of slots) one.failed(null);
    await advance(1_000);
    expect(await waits()).toBe(false);
  });

  test("lets a server rest for as long as it asks to", async () => {
    const { acquire, waits } = balancerOf(["one"]);
    (await acquire()).failed(30_000);
    await advance(29_999);
    expect(await waits()).toBe(true);
    await advance(1);
    expect(await waits()).toBe(false);
  });

  test("asks a server that wants to rest for years again after a quarter of an hour", async () => {
    const { acquire, waits } = balancerOf(["one"], { retryTimeoutMs: Number.POSITIVE_INFINITY });
    (await acquire()).failed(1e12);
    await advance(15 * 60_000 - 1);
    expect(await waits()).toBe(true);
    await advance(1);
    expect(await waits()).toBe(false);
  });

  test("gives a request that failed at one server to another, and back if that one rests", async () => {
    const { balancer, signal } = balancerOf(["one", "two"], { concurrency: 1 });
    const request = balancer.request();
    request.avoided.add("one");
    const given = await balancer.acquire(request, signal);
    expect(given?.server).toBe("two");
    given?.failed(null);
    expect((await balancer.acquire(request, signal))?.server).toBe("one");
    request.excluded.add("one");
    expect(
      (await Promise.race([balancer.acquire(request, signal), settled().then(() => "waits")])) as unknown,
    ).toBe("waits");
  });

  test("serves an older request first, also if it comes back", async () => {
    const { balancer, acquire, signal } = balancerOf(["one"], { concurrency: 1 });
    const older = balancer.request();
    const busy = await acquire();
    const served: string[] = [];
    const ask = (request: ReturnType<typeof balancer.request>, name: string) =>
      balancer.acquire(request, signal).then((given) => {
        served.push(name);
        given?.release();
      });
    const all = [ask(balancer.request(), "newer"), ask(older, "older")];
    busy.release();
    await Promise.all(all);
    expect(served).toEqual(["older", "newer"]);
  });

  test("gives up at once where every server asks for more patience than there is", async () => {
    const { balancer, acquire, signal } = balancerOf(["one", "two"]);
    const waiting = [await acquire(), await acquire()];
    for (const one of waiting) one.failed(100_000);
    expect(await balancer.acquire(balancer.request(), signal)).toBeNull();
  });

  test("gives up a request that has failed before when its time is over", async () => {
    const { balancer, acquire, signal } = balancerOf(["one"], { concurrency: 1 });
    await acquire();
    const request = balancer.request();
    request.deadline = 5_000;
    const waiting = balancer.acquire(request, signal);
    await advance(5_000);
    expect(await waiting).toBeNull();
  });

  test("rejects a waiting request with the reason of its abort", async () => {
    const { balancer, acquire, waits } = balancerOf(["one"], { concurrency: 1 });
    const busy = await acquire();
    const abort = new AbortController();
    const waiting = balancer.acquire(balancer.request(), abort.signal);
    abort.abort(new Error("given up"));
    await expect(waiting).rejects.toThrow("given up");
    busy.release();
    expect(await waits()).toBe(false);
  });

  test("never gives a server more than it may have, and serves every request, whatever fails", async () => {
    const act = fc.constantFrom("succeeded", "failed", "release") as fc.Arbitrary<
      "succeeded" | "failed" | "release"
    >;
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.array(act, { maxLength: 30 }),
        async (servers, acts) => {
          const names = Array.from({ length: servers }, (_, index) => `${index}`);
          const { balancer, signal } = balancerOf(names);
          const inFlight = new Map(names.map((name) => [name, 0]));
          let served = 0;
          const requests = acts.map(async (how) => {
            const slot = (await balancer.acquire(balancer.request(), signal))!;
            const now = inFlight.get(slot.server)! + 1;
            inFlight.set(slot.server, now);
            expect(now).toBeLessThanOrEqual(2);
            await settled();
            inFlight.set(slot.server, inFlight.get(slot.server)! - 1);
            if (how === "succeeded") slot.succeeded(1);
            else if (how === "failed") slot.failed(null);
            else slot.release();
            served++;
          });
          for (let turn = 0; served < acts.length && turn < 500; turn++) await advance(1_000);
          await Promise.all(requests);
          expect(served).toBe(acts.length);
        },
      ),
      { numRuns: 30 },
    );
  });
});
