import { expect, test } from "vitest";
import type { Engine, RecognitionResult } from "../../src/engines/engine.ts";
import { MultilingualRecognizer, partsToRetry } from "../../src/recognition/multilingual-recognizer.ts";
import type { TimedWord } from "../../src/transcript.ts";

/** Two sentences with a pause between them, of two seconds each. */
const UTTERANCE = {
  samples: new Float32Array(16_000 * 6),
  start: 10,
  speech: [
    { start: 10.5, end: 12.5, probability: 1 },
    { start: 13.5, end: 15.5, probability: 1 },
  ],
};

function words(...starts: number[]): TimedWord[] {
  // All different: a repeated word is a loop.
  const nameOf = (start: number) => `word${String.fromCharCode(97 + (Math.round(start * 10) % 26))}`;
  return starts.map((start) => ({ word: nameOf(start), start, end: start + 0.3, confidence: 1 }));
}

const partsOf = (recognized: TimedWord[]) =>
  partsToRetry(UTTERANCE, recognized).map(({ speech }) => speech.map(({ start }) => start));

test("an utterance whose every segment has its words is not recognized again", () => {
  expect(partsOf(words(10.6, 11, 11.5, 12, 13.6, 14, 14.5, 15))).toEqual([]);
});

test("an engine that stopped after the first sentence transcribes the second one by itself", () => {
  expect(partsOf(words(10.6, 11, 11.5, 12))).toEqual([[10.5], [13.5]]);
});

test("a sentence over which one word of another was drawn out counts as left out", () => {
  const drawnOut = [...words(10.6, 11, 11.5), { word: "brother.", start: 13.6, end: 15.4, confidence: 1 }];
  expect(partsOf(drawnOut)).toEqual([[10.5], [13.5]]);
});

test("a slow single word is a sentence", () => {
  const speech = [
    { start: 10.5, end: 12.5, probability: 1 },
    { start: 13.5, end: 15, probability: 1 },
  ];
  const slow = [...words(10.6, 11, 11.5, 12), { word: "Whyyy?", start: 13.5, end: 15, confidence: 1 }];
  expect(partsToRetry({ ...UTTERANCE, speech }, slow)).toEqual([]);
});

test("if nothing was transcribed at all, there is nothing to transcribe again", () => {
  expect(partsOf([])).toEqual([]);
});

const DOUBTFUL = { meanLogProbability: -1.3, compressionRatio: 3, truncated: true };
const CERTAIN = { meanLogProbability: -0.2, compressionRatio: 1.2, truncated: false };

test.each([
  ["certain", CERTAIN, CERTAIN],
  // Each has one doubt, which is not enough; both together would have two.
  [
    "doubtful, each for another reason",
    { ...CERTAIN, truncated: true },
    { ...CERTAIN, meanLogProbability: -1.1 },
  ],
])("parts that are recognized again are evaluated by their own statistics: %s", async (_, first, second) => {
  const result = (start: number, count: number, statistics: typeof CERTAIN): RecognitionResult => ({
    words: words(...Array.from({ length: count }, (_, index) => start + 0.1 + 0.4 * index)),
    language: "en",
    noSpeechProbability: 0.02,
    ...statistics,
  });
  const engine: Engine = {
    name: "fake",
    languages: ["en", "es"],
    maxUtteranceSeconds: 30,
    recognize: async (utterances) =>
      utterances.map((utterance) =>
        utterance === UTTERANCE
          ? result(10.5, 4, DOUBTFUL)
          : utterance.start === 10
            ? result(10.5, 4, first)
            : result(13.5, 4, second),
      ),
    detectLanguages: async (utterances) => utterances.map(() => new Map([["en", 0.99]])),
    close: async () => {},
  };
  const recognizer = new MultilingualRecognizer(engine, null);
  const options = { signal: new AbortController().signal, onSettled: () => {} };
  await recognizer.recognize([UTTERANCE], options);
  const { words: recognized } = await recognizer.finish(20, options);
  expect(recognized).toHaveLength(8);
});
