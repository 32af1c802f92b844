import { expect, test } from "vitest";
import { RateLimiter } from "../../src/http/rate-limit.ts";

/** A limiter of ten requests per second after a burst of sixty, with a manual clock. */
function makeLimiter() {
  let nowMs = Date.parse("2026-06-01T00:00:00Z");
  const limiter = new RateLimiter({ perSecond: 10, burst: 60 }, { now: () => new Date(nowMs) });
  return {
    take: (key = "key") => limiter.take(key),
    advance: (milliseconds: number) => {
      nowMs += milliseconds;
    },
  };
}

const retryAfterOf = ({ headers }: { headers: Record<string, string> }) => Number(headers["retry-after"]);

test("requests that are refused together get staggered retry times", () => {
  const { take } = makeLimiter();
  const answers = Array.from({ length: 300 }, () => take());
  expect(answers.filter(({ allowed }) => allowed)).toHaveLength(60);
  const waits = answers.slice(60).map(retryAfterOf);
  expect(waits.slice(0, 10)).toEqual(Array(10).fill(1));
  expect(waits.slice(10, 20)).toEqual(Array(10).fill(2));
  expect(waits.at(-1)).toBe(24);
});

test("clients that wait for Retry-After are refused once", () => {
  const { take, advance } = makeLimiter();
  let waiting = Array.from({ length: 300 }, () => take())
    .filter(({ allowed }) => !allowed)
    .map(retryAfterOf);
  for (let second = 1; waiting.length > 0; second++) {
    advance(1_000);
    for (const _due of waiting.filter((wait) => wait === second)) expect(take().allowed).toBe(true);
    waiting = waiting.filter((wait) => wait !== second);
  }
});

test("a client that does not wait gets a Retry-After of at most a minute, and none after a pause", () => {
  const { take, advance } = makeLimiter();
  const answers = Array.from({ length: 5_000 }, () => take());
  expect(Math.max(...answers.slice(60).map(retryAfterOf))).toBe(60);
  expect(take("another").allowed).toBe(true);
  advance(6_000);
  for (let count = 0; count < 60; count++) expect(take().allowed).toBe(true);
});

test("new keys do not evict a bucket that is still filling", () => {
  const { take, advance } = makeLimiter();
  for (let count = 0; count < 61; count++) take("spent");
  for (let count = 0; count < 1_000; count++) take(`key ${count}`);
  expect(take("spent").allowed).toBe(false);
  advance(100);
  expect(take("spent").allowed).toBe(true);
  expect(take("spent").allowed).toBe(false);
});
