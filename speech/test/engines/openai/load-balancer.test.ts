import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Clock } from "../../../src/engines/openai/load-balancer.ts";
import { Fleet, type FleetOptions, type Place } from "../../../src/engines/openai/load-balancer.ts";
import { retryAfterMs } from "../../../src/engines/openai/server-failure.ts";

/** A clock that advances only on request. */
class HandClock implements Clock {
  #now = 0;
  #sleepers: { until: number; wake: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  date(): number {
    return this.#now;
  }

  sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
    return new Promise((wake) => {
      signal.addEventListener("abort", () => wake());
      this.#sleepers.push({ until: this.#now + milliseconds, wake });
    });
  }

  async advance(milliseconds: number): Promise<void> {
    this.#now += milliseconds;
    for (const { wake } of this.#sleepers.filter(({ until }) => until <= this.#now)) wake();
    await settled();
  }
}

/** All that can go on without the clock has gone on. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function fleetOf(servers: string[], options: Partial<FleetOptions> = {}) {
  const clock = new HandClock();
  const fleet = new Fleet(servers, {
    concurrency: 2,
    firstRestMs: 1_000,
    longestRestMs: 8_000,
    patienceMs: 60_000,
    clock,
    random: () => 1,
    ...options,
  });
  const { signal } = new AbortController();
  const place = async (): Promise<Place<string>> => (await fleet.place(fleet.request(), signal))!;
  /** Whether a request waits rather than being served. */
  const waits = async () => {
    const abort = new AbortController();
    const waiting = fleet.place(fleet.request(), abort.signal).then(
      (given) => given?.left(),
      () => {},
    );
    await settled();
    const isWaiting = !(await Promise.race([waiting.then(() => true), settled().then(() => false)]));
    abort.abort();
    await waiting;
    return isWaiting;
  };
  return { clock, fleet, place, waits, signal };
}

describe("a fleet of servers", () => {
  test("gives each request to the server with the fewest in flight, then to the fastest", async () => {
    const { clock, place } = fleetOf(["slow", "fast"]);
    const [first, second] = [await place(), await place()];
    expect([first.server, second.server]).toEqual(["slow", "fast"]);
    await clock.advance(100);
    second.succeeded(10);
    await clock.advance(900);
    first.succeeded(10);
    const [third, fourth, fifth] = [await place(), await place(), await place()];
    expect([third.server, fourth.server, fifth.server]).toEqual(["fast", "slow", "fast"]);
  });

  test("gives no server more than it may have at a time", async () => {
    const { place, waits } = fleetOf(["one"], { concurrency: 2 });
    const [first] = [await place(), await place()];
    expect(await waits()).toBe(true);
    first!.succeeded(1);
    expect(await waits()).toBe(false);
  });

  test("lets a failing server rest, longer each time, and tries it again with one request", async () => {
    const { clock, place, waits } = fleetOf(["one"]);
    for (const restMs of [1_000, 2_000, 4_000, 8_000, 8_000]) {
      (await place()).failed(null);
      await clock.advance(restMs - 1);
      expect(await waits()).toBe(true);
      await clock.advance(1);
      expect(await waits()).toBe(false);
      const trial = await place();
      expect(await waits()).toBe(true);
      trial.left();
    }
    (await place()).succeeded(1);
    await place();
    expect(await waits()).toBe(false);
  });

  test("counts requests that failed side by side once", async () => {
    const { clock, place, waits } = fleetOf(["one"], { concurrency: 4 });
    const places = [await place(), await place(), await place(), await place()];
    await clock.advance(10);
    for (const one of places) one.failed(null);
    await clock.advance(1_000);
    expect(await waits()).toBe(false);
  });

  test("lets a server rest for as long as it asks to", async () => {
    const { clock, place, waits } = fleetOf(["one"]);
    (await place()).failed(30_000);
    await clock.advance(29_999);
    expect(await waits()).toBe(true);
    await clock.advance(1);
    expect(await waits()).toBe(false);
  });

  test("asks a server that wants to rest for years again after a quarter of an hour", async () => {
    const { clock, place, waits } = fleetOf(["one"], { patienceMs: Number.POSITIVE_INFINITY });
    (await place()).failed(1e12);
    await clock.advance(15 * 60_000 - 1);
    expect(await waits()).toBe(true);
    await clock.advance(1);
    expect(await waits()).toBe(false);
  });

  test("gives a request that failed at one server to another, and back if that one rests", async () => {
    const { fleet, signal } = fleetOf(["one", "two"], { concurrency: 1 });
    const request = fleet.request();
    request.ratherNot.add("one");
    const given = await fleet.place(request, signal);
    expect(given?.server).toBe("two");
    given?.failed(null);
    expect((await fleet.place(request, signal))?.server).toBe("one");
    request.never.add("one");
    expect(
      (await Promise.race([fleet.place(request, signal), settled().then(() => "waits")])) as unknown,
    ).toBe("waits");
  });

  test("serves an older request first, also if it comes back", async () => {
    const { fleet, place, signal } = fleetOf(["one"], { concurrency: 1 });
    const older = fleet.request();
    const busy = await place();
    const served: string[] = [];
    const ask = (request: ReturnType<typeof fleet.request>, name: string) =>
      fleet.place(request, signal).then((given) => {
        served.push(name);
        given?.left();
      });
    const all = [ask(fleet.request(), "newer"), ask(older, "older")];
    busy.left();
    await Promise.all(all);
    expect(served).toEqual(["older", "newer"]);
  });

  test("gives up at once where every server asks for more patience than there is", async () => {
    const { fleet, place, signal } = fleetOf(["one", "two"]);
    const waiting = [await place(), await place()];
    for (const one of waiting) one.failed(100_000);
    expect(await fleet.place(fleet.request(), signal)).toBeNull();
  });

  test("gives up a request that has failed before when its time is over", async () => {
    const { clock, fleet, place, signal } = fleetOf(["one"], { concurrency: 1 });
    await place();
    const request = fleet.request();
    request.deadline = 5_000;
    const waiting = fleet.place(request, signal);
    await clock.advance(5_000);
    expect(await waiting).toBeNull();
  });

  test("rejects a waiting request with the reason of its abort", async () => {
    const { fleet, place, waits } = fleetOf(["one"], { concurrency: 1 });
    const busy = await place();
    const abort = new AbortController();
    const waiting = fleet.place(fleet.request(), abort.signal);
    abort.abort(new Error("given up"));
    await expect(waiting).rejects.toThrow("given up");
    busy.left();
    expect(await waits()).toBe(false);
  });

  test("never gives a server more than it may have, and serves every request, whatever fails", async () => {
    const act = fc.constantFrom("succeeded", "failed", "left") as fc.Arbitrary<
      "succeeded" | "failed" | "left"
    >;
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.array(act, { maxLength: 30 }),
        async (servers, acts) => {
          const names = Array.from({ length: servers }, (_, index) => `${index}`);
          const { clock, fleet, signal } = fleetOf(names);
          const inFlight = new Map(names.map((name) => [name, 0]));
          let served = 0;
          const requests = acts.map(async (how) => {
            const place = (await fleet.place(fleet.request(), signal))!;
            const now = inFlight.get(place.server)! + 1;
            inFlight.set(place.server, now);
            expect(now).toBeLessThanOrEqual(2);
            await settled();
            inFlight.set(place.server, inFlight.get(place.server)! - 1);
            if (how === "succeeded") place.succeeded(1);
            else if (how === "failed") place.failed(null);
            else place.left();
            served++;
          });
          for (let turn = 0; served < acts.length && turn < 500; turn++) await clock.advance(1_000);
          await Promise.all(requests);
          expect(served).toBe(acts.length);
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe("Retry-After", () => {
  for (const [value, milliseconds] of [
    ["120", 120_000],
    ["0", 0],
    ["1.5", 1_500],
    ["Fri, 31 Dec 1999 23:59:59 GMT", 59_000],
    ["Fri, 31 Dec 1999 23:00:00 GMT", 0],
    ["soon", null],
    ["", null],
    [undefined, null],
  ] as const) {
    test(`"${value}" is ${milliseconds} ms`, () => {
      const headers = value === undefined ? {} : { "retry-after": value };
      expect(retryAfterMs(headers, Date.UTC(1999, 11, 31, 23, 59, 0))).toBe(milliseconds);
    });
  }
});
