import { describe, expect, test } from "vitest";
import { recognitionResult } from "../../src/engines/openai/recognition.ts";
import { parseResponse } from "../../src/engines/openai/response.ts";
import { compressionRatio, MAX_COMPRESSION_RATIO } from "../../src/engines/recognition-result.ts";
import { decodeWithFallback } from "../../src/engines/whisper/temperature-fallback.ts";
import { wordsOfTokens } from "../../src/engines/whisper/words-of-tokens.ts";
import type { DecodedSequence } from "../../src/onnx/decode-sequences.ts";
import { isHallucination } from "../../src/recognition/hallucinations.ts";
import { PROSE } from "../support/prose.ts";
import { WhisperVocabulary } from "../support/whisper-vocabulary.ts";

/** About how many characters of a long text people say per second. */
const CHARACTERS_PER_SECOND = { Han: 4, Japanese: 6, Hangul: 6, other: 12 };
const LOG_PROBABILITY = -0.3;

const samples = Object.entries(PROSE).flatMap(([language, { script, text }]) => {
  const rate =
    CHARACTERS_PER_SECOND[script as keyof typeof CHARACTERS_PER_SECOND] ?? CHARACTERS_PER_SECOND.other;
  const short = [...text].slice(0, 40).join("");
  return [text, short].map((said) => ({ language, script, text: said, seconds: [...said].length / rate }));
});
const letters = (text: string) => text.replace(/\s/g, "");

describe("ordinary prose", () => {
  test("covers at least 30 languages and 15 scripts", () => {
    expect(Object.keys(PROSE).length).toBeGreaterThanOrEqual(30);
    expect(new Set(Object.values(PROSE).map(({ script }) => script)).size).toBeGreaterThanOrEqual(15);
  });

  test.each(samples)("in $language repeats itself no more than any other: $text", ({ text }) => {
    expect(compressionRatio(text)).toBeLessThan(0.75 * MAX_COMPRESSION_RATIO);
  });

  test.each(samples)("in $language is preserved from a server: $text", ({ language, text, seconds }) => {
    const result = answerOf(language, text, seconds);
    expect(letters(result.words.map(({ word }) => word).join(""))).toBe(letters(text));
    expect(isHallucination(result, seconds)).toBe(false);
  });

  const vocabulary = new WhisperVocabulary();
  test.each(samples)(
    "in $language is preserved from Whisper's tokens: $text",
    async ({ language, text, seconds }) => {
      const tokens = vocabulary.encode(` ${text}`);
      const temperatures: number[] = [];
      const decode = async (_: readonly number[], temperature: number) => {
        temperatures.push(temperature);
        return [sequenceOf(tokens)];
      };
      const [attempt] = await decodeWithFallback(1, decode, (chosen) => textOf(vocabulary, chosen));
      expect(temperatures).toEqual([0]);
      const words = wordsOfTokens(attempt!.sequence.tokens, vocabulary.tokenBytes, language);
      expect(letters(words.map((word) => word.text).join(""))).toBe(letters(text));
      const evidence = { ...attempt!, noSpeechProbability: 0.02, truncated: false };
      expect(
        isHallucination({ ...evidence, words: words.map((word) => ({ word: word.text })) }, seconds),
      ).toBe(false);
    },
  );
});

describe("a repetition loop", () => {
  test.each(Object.entries(PROSE))("in %s is dropped from a server's answer", (language, { text }) => {
    const phrase = `${[...text].slice(0, 25).join("").trim()} `;
    const looped = phrase.repeat(20);
    expect(isHallucination(answerOf(language, looped, 30), 30)).toBe(true);
  });
});

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

function sequenceOf(tokens: number[]): DecodedSequence {
  return {
    tokens,
    logProbabilities: tokens.map(() => LOG_PROBABILITY),
    endLogProbability: LOG_PROBABILITY,
    noSpeechProbability: 0.02,
    stop: "end",
    attention: new Float32Array(0),
    steps: tokens.length + 1,
    frames: 0,
  };
}

function textOf({ tokenBytes }: WhisperVocabulary, tokens: readonly number[]): string {
  return Buffer.concat(tokens.map((token) => tokenBytes[token]!)).toString();
}
