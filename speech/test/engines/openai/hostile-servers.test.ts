import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { recognitionResult } from "../../../src/engines/openai/recognition.ts";
import { parseResponse } from "../../../src/engines/openai/response.ts";
import { byLoudness, evenly, lastAtMost } from "../../../src/engines/openai/speech-time.ts";
import { wordSpans } from "../../../src/engines/openai/word-spans.ts";
import { failure, saying, serversAndEngines } from "../../support/openai-engines.ts";

const { started, engineOf } = serversAndEngines();
const { signal } = new AbortController();
const SECONDS = 29;
const utterance = { samples: new Float32Array(SECONDS * 16_000).fill(0.1), start: 0 };

/** So much that work which grows with the square of it would take hours. */
const MANY = 100_000;
const rising = (index: number) => (index * SECONDS) / MANY;
const many = <T>(make: (index: number) => T): T[] => Array.from({ length: MANY }, (_, index) => make(index));

describe("the longest answers that a server may give are read in time that grows with their length:", () => {
  test.each<[string, () => object]>([
    ["segments of one word", () => ({ segments: many((index) => ({ text: " a", start: rising(index) })) })],
    ["segments without spaces", () => ({ segments: many((index) => ({ text: "a", start: rising(index) })) })],
    [
      "words in order",
      () => ({ text: "a ".repeat(MANY), words: many((at) => ({ word: "a", start: rising(at) })) }),
    ],
    [
      "words that go back in time",
      () => ({ text: "a ".repeat(MANY), words: many((at) => ({ word: "a", start: SECONDS - rising(at) })) }),
    ],
    [
      "every other word without a time",
      () => ({ text: "a € ".repeat(MANY / 2), words: many((at) => ({ word: "a", start: rising(at) })) }),
    ],
    ["words that no time belongs to", () => ({ text: "a ".repeat(MANY), words: [{ word: "x", start: 1 }] })],
    ["nothing but text", () => ({ text: "a ".repeat(MANY) })],
    ["characters that are words", () => ({ text: "字 ".repeat(MANY) })],
    ["one word", () => ({ text: "a".repeat(MANY) })],
    ["marks", () => ({ text: "( ! ".repeat(MANY) })],
  ])("%s", (_, make) => {
    const { words } = recognitionResult(parseResponse(JSON.stringify(make()), SECONDS), utterance, "en");
    expect(words.every(({ start, end }) => start <= end && end <= SECONDS)).toBe(true);
  });
});

test("a limit's place is found as by looking at every value", () => {
  const values = fc.array(fc.integer({ min: -9, max: 9 })).map((list) => list.toSorted((a, b) => a - b));
  fc.assert(
    fc.property(values, fc.integer({ min: -10, max: 10 }), (sorted, limit) => {
      expect(lastAtMost(sorted, limit)).toBe(sorted.findLastIndex((value) => value <= limit));
    }),
  );
});

test("a share of loud time is over where as much of it is loud before", () => {
  const loud = fc.array(fc.boolean(), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(loud, fc.double({ min: 0, max: 1, noNaN: true }), (tenths, share) => {
      const samples = Float32Array.from({ length: tenths.length * 1_600 }, (_, at) =>
        tenths[Math.floor(at / 1_600)] ? Math.sin(at) : 0,
      );
      const seconds = tenths.length / 10;
      const timeOfShare = byLoudness(samples);
      const at = timeOfShare(0, seconds, share);
      expect(at).toBeGreaterThanOrEqual(timeOfShare(0, seconds, share / 2));
      expect(at).toBeLessThanOrEqual(seconds);
      // The audio before it has its full share.
      if (share > 0) expect(timeOfShare(0, at, 1)).toBeCloseTo(at, 1);
    }),
  );
});

test("the longest ordered run of words keeps its start times", () => {
  const starts = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(starts, (given) => {
      const pieces = given.map((start, index) => ({
        text: `w${index}`,
        start,
        end: start,
        probability: null,
      }));
      const spans = wordSpans(
        pieces.map(({ text }) => text),
        pieces,
        10,
        evenly,
      );
      const unchanged = spans.filter(({ start, end }, index) => start === given[index] && end === start);
      expect(unchanged.length).toBeGreaterThanOrEqual(longestOrderedRun(given));
      expect(spans.map(({ start }) => start)).toEqual(
        spans.map(({ start }) => start).toSorted((a, b) => a - b),
      );
    }),
  );
});

/** By brute force. */
function longestOrderedRun(values: readonly number[]): number {
  let longest = 0;
  for (let choice = 0; choice < 2 ** values.length; choice++) {
    const chosen = values.filter((_, index) => (choice >> index) & 1);
    if (chosen.every((value, index) => index === 0 || chosen[index - 1]! <= value)) {
      longest = Math.max(longest, chosen.length);
    }
  }
  return longest;
}

test("an error that is nested without end is reported as an answer that is none", async () => {
  const server = await started();
  server.fault = { status: 200, body: `{"error":${"[".repeat(500_000)}${"]".repeat(500_000)}}` };
  const error = await failure(
    (await engineOf([server.origin], { maxAttempts: 1 })).recognize([saying(["The"])], { signal }),
  );
  expect([error.code, error.message]).toEqual([
    "engine_answer_invalid",
    expect.stringContaining("The response has no text, but an error"),
  ]);
});
