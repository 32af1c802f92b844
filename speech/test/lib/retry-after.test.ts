import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseRetryAfter } from "../../src/lib/retry-after.ts";

const NOW = Date.parse("1994-11-06T08:49:00.000Z");

test("a number of seconds is accepted", () => {
  expect(parseRetryAfter("120", NOW)).toBe(120_000);
  expect(parseRetryAfter("1.5", NOW)).toBe(1_500);
  expect(parseRetryAfter(" 0 ", NOW)).toBe(0);
  expect(parseRetryAfter("9".repeat(400), NOW)).toBe(Number.MAX_SAFE_INTEGER);
});

test("a date in any of the three HTTP formats is accepted", () => {
  for (const date of [
    "Sun, 06 Nov 1994 08:49:37 GMT",
    "Sunday, 06-Nov-94 08:49:37 GMT",
    "Sun Nov  6 08:49:37 1994",
  ]) {
    expect(parseRetryAfter(date, NOW)).toBe(37_000);
  }
  expect(parseRetryAfter("Sun, 06 Nov 1994 08:48:00 GMT", NOW)).toBe(0);
});

test("a header that is neither is ignored", () => {
  for (const text of [
    undefined,
    null,
    "",
    "-5",
    "1e3",
    "soon",
    "2030-01-01",
    "Sun, 99 Foo 1994 08:49:37 GMT",
  ]) {
    expect(parseRetryAfter(text, NOW)).toBeNull();
  }
});

test("any text parses to null or a non-negative number", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const milliseconds = parseRetryAfter(text, NOW);
      expect(milliseconds === null || (milliseconds >= 0 && Number.isFinite(milliseconds))).toBe(true);
    }),
  );
});
