import { expect, test } from "vitest";
import { TokenLimits } from "../../src/api-keys/token-limits.ts";
import { MovableClock } from "../support/service.ts";

const RATE = { perSecond: 10, burst: 60 };
const stoppedClock = { now: () => new Date("2026-06-01T00:00:00Z") };

/** Creates limits in front of a database that contains one key and counts its reads. */
function makeLimits(clock: { now(): Date } = stoppedClock) {
  const limits = new TokenLimits(RATE, clock);
  let reads = 0;
  const present = async (token: string, { address = "198.51.100.1", counted = true } = {}) => {
    try {
      const { key } = await limits.verify({ token, address, counted }, async () => {
        reads += 1;
        await new Promise((resolve) => setImmediate(resolve));
        return token.startsWith("good") ? token : undefined;
      });
      return key === undefined ? "unknown" : "known";
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  return { limits, present, reads: () => reads };
}

const countOf = (answers: string[], wanted: string) => answers.filter((answer) => answer === wanted).length;

test("a flood of invalid tokens is rejected before the database is read", async () => {
  const { present, reads } = makeLimits();
  const flood = await Promise.all(Array.from({ length: 5_000 }, (_, number) => present(`bad ${number}`)));
  expect([countOf(flood, "unknown"), countOf(flood, "rate_limited")]).toEqual([100, 4_900]);
  expect(reads()).toBe(100);
  expect(await present("bad again", { address: "198.51.100.2" })).toBe("unknown");
});

test("one invalid token from many addresses is rejected as well", async () => {
  const { present, reads } = makeLimits();
  const flood = await Promise.all(
    Array.from({ length: 1_000 }, (_, number) => present("bad", { address: `address ${number}` })),
  );
  expect(countOf(flood, "rate_limited")).toBe(980);
  expect(reads()).toBe(20);
});

test("a flood of unknown tokens does not block a verified key from the same address", async () => {
  const { present } = makeLimits();
  expect(await present("good")).toBe("known");
  for (let number = 0; number < 300; number++) await present(`bad ${number}`);
  expect(await present("good")).toBe("known");
  expect(await present("good but new")).toBe("rate_limited");
});

test("concurrent first requests of a key are all served", async () => {
  const { present } = makeLimits();
  const answers = await Promise.all(Array.from({ length: 300 }, () => present("good", { counted: false })));
  expect(countOf(answers, "known")).toBe(300);
});

test("a key that exceeds its rate limit is rejected before the database is read; uncounted requests are served", async () => {
  const { present, reads } = makeLimits();
  const answers: string[] = [];
  for (let count = 0; count < 100; count++) answers.push(await present("good"));
  expect([countOf(answers, "known"), reads()]).toEqual([60, 60]);
  expect(await present("good", { counted: false })).toBe("known");
});

test("a key that can no longer be verified is limited like any other token", async () => {
  const clock = new MovableClock();
  const limits = new TokenLimits(RATE, clock);
  let isGood = true;
  let reads = 0;
  const present = () =>
    limits.verify({ token: "revoked", address: "198.51.100.1", counted: false }, async () => {
      reads += 1;
      return isGood ? "key" : undefined;
    });
  await present();
  expect(limits.ownerOf("revoked", "198.51.100.1")).toMatch(/^key /);
  isGood = false;
  for (let count = 0; count < 100; count++) await present().catch(() => {});
  expect(limits.ownerOf("revoked", "198.51.100.1")).toBe("address 198.51.100.1");
  expect(reads).toBeLessThan(30);
});
