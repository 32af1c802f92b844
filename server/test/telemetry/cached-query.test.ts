import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { CachedQuery } from "../../src/telemetry/metrics/cached-query.ts";

const TIMES = { cacheMs: 0, timeoutMs: 20, staleMs: 60_000 };

/** Queries that the test resolves. */
function newLooks() {
  const looks: PromiseWithResolvers<number>[] = [];
  const errors: unknown[] = [];
  const options = {
    query() {
      const look = Promise.withResolvers<number>();
      looks.push(look);
      return look.promise;
    },
    onError: (error: unknown) => errors.push(error),
  };
  return { looks, errors, options };
}

test("a query that hangs delays no caller, and no second query starts in the meantime", async () => {
  const { looks, options } = newLooks();
  const depth = new CachedQuery({ ...options, ...TIMES });
  expect(await Promise.all([depth.get(), depth.get()])).toEqual([
    { value: null, failing: true },
    { value: null, failing: true },
  ]);
  await depth.get();
  expect(looks).toHaveLength(1);
  looks[0]?.resolve(7);
  expect(await depth.get()).toEqual({ value: 7, failing: false });
});

test("while queries fail, the last value and the failure are reported", async () => {
  const { looks, errors, options } = newLooks();
  const depth = new CachedQuery({ ...options, ...TIMES });
  const first = depth.get();
  looks[0]?.resolve(7);
  expect(await first).toEqual({ value: 7, failing: false });
  await delay(5);
  const second = depth.get();
  looks[1]?.reject(new Error("no database"));
  expect(await second).toEqual({ value: 7, failing: true });
  expect(errors).toHaveLength(1);
});

test("a stale value is no longer reported, and a query that takes as long is abandoned", async () => {
  const { looks, options } = newLooks();
  const depth = new CachedQuery({ ...options, cacheMs: 0, timeoutMs: 5, staleMs: 30 });
  const first = depth.get();
  looks[0]?.resolve(7);
  await first;
  await delay(40);
  expect(await depth.get()).toEqual({ value: null, failing: true });
  await delay(40);
  const after = depth.get();
  expect(looks).toHaveLength(3);
  looks[2]?.resolve(8);
  expect(await after).toEqual({ value: 8, failing: false });
});

test("a value is not queried again while it is fresh", async () => {
  const { looks, options } = newLooks();
  const depth = new CachedQuery({ ...options, ...TIMES, cacheMs: 60_000 });
  const first = depth.get();
  looks[0]?.resolve(7);
  await first;
  expect(await depth.get()).toEqual({ value: 7, failing: false });
  expect(looks).toHaveLength(1);
});
