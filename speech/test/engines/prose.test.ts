import { describe, expect, test } from "vitest";
import { recognitionResult } from "../../src/engines/openai/recognition.ts";
import { parseResponse } from "../../src/engines/openai/response.ts";
import { compressionRatio, MAX_COMPRESSION_RATIO } from "../../src/engines/recognition-result.ts";
import { isHallucination } from "../../src/recognition/hallucinations.ts";
import { PROSE, PROSE_LOOPS, PROSE_SAMPLES, proseLetters } from "../support/prose.ts";

const LOG_PROBABILITY = -0.3;

describe("ordinary prose", () => {
  const samples = PROSE_SAMPLES.flatMap(({ long, name, numbers }) => [long, name, numbers]);

  test("covers at least 30 languages and 15 scripts, about half a minute of each, with numbers", () => {
    expect(Object.keys(PROSE).length).toBeGreaterThanOrEqual(30);
    expect(new Set(Object.values(PROSE).map(({ script }) => script)).size).toBeGreaterThanOrEqual(15);
    for (const { long, numbers } of PROSE_SAMPLES) {
      expect(long.seconds).toBeGreaterThanOrEqual(15);
      expect(long.seconds).toBeLessThanOrEqual(35);
      expect(numbers.text).toContain("2019");
    }
  });

  test.each(samples)("in $language repeats itself no more than any other: $text", ({ text }) => {
    expect(compressionRatio(text)).toBeLessThan(0.75 * MAX_COMPRESSION_RATIO);
  });

  test.each(samples)("in $language is preserved from a server: $text", ({ language, text, seconds }) => {
    const result = answerOf(language, text, seconds);
    expect(proseLetters(result.words.map(({ word }) => word).join(""))).toBe(proseLetters(text));
    expect(isHallucination(result, seconds)).toBe(false);
  });
});

test.each(PROSE_LOOPS)(
  "a repetition loop in $language is dropped from a server's answer",
  ({ language, text, seconds }) => {
    expect(isHallucination(answerOf(language, text, seconds), seconds)).toBe(true);
  },
);

/** The words of a server's answer that also reports its own compression ratio, over bytes. */
function answerOf(language: string, text: string, seconds: number) {
  const segment = {
    start: 0,
    end: seconds,
    text,
    avg_logprob: LOG_PROBABILITY,
    no_speech_prob: 0.02,
    compression_ratio: 2.9,
  };
  const utterance = { samples: new Float32Array(Math.round(seconds * 16_000)), start: 0 };
  return recognitionResult(
    parseResponse(JSON.stringify({ text, language, segments: [segment] }), seconds),
    utterance,
    null,
  );
}
