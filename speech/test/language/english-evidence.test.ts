import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Engine, RecognitionResult } from "../../src/engines/engine.ts";
import { readMoonshine } from "../../src/engines/moonshine/model.ts";
import { openMoonshine } from "../../src/engines/moonshine/moonshine.ts";
import {
  EnglishEvidence,
  englishScore,
  type SoundEvidence,
  soundEvidence,
} from "../../src/language/english-evidence.ts";
import { ENGLISH, spoken } from "../support/spoken.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await openMoonshine({ model: await readMoonshine(), threads: 2 });
});
afterAll(() => engine.close());

async function evidenceOf(names: readonly string[]): Promise<EnglishEvidence> {
  const utterances = names.map((name) => ({ samples: spoken(name).samples, start: 0 }));
  const evidence = new EnglishEvidence();
  const results = await engine.recognize(utterances, { signal: new AbortController().signal });
  for (const [index, result] of results.entries()) {
    const { samples } = utterances[index]!;
    const speech = [{ start: 0, end: samples.length / 16_000, probability: 0.95 }];
    evidence.add(result, soundEvidence({ samples, speech }));
  }
  return evidence;
}

test("English is classified as English", async () => {
  expect((await evidenceOf(ENGLISH)).classify()).toBe("english");
});

test.each(["es", "de", "fr"])("%s is classified as another language", async (name) => {
  expect((await evidenceOf([name])).classify()).toBe("other");
});

function result(text: string, confidence: number, truncated = false): RecognitionResult {
  const words = text
    .split(" ")
    .filter((word) => word !== "")
    .map((word, index) => ({ word, start: index, end: index + 1, confidence }));
  return {
    words,
    language: null,
    noSpeechProbability: null,
    meanLogProbability: Math.log(confidence),
    compressionRatio: 1,
    truncated,
  };
}
/** As of speech without noise. */
function sound(seconds: number, unlike: Partial<SoundEvidence> = {}): SoundEvidence {
  return { seconds, certainSeconds: seconds, loudnessRange: 40, ...unlike };
}
const clear = result("we will talk about the plan for the next week and then go home", 0.9);
const guessed = result("the city is on the ground of a new seniority for all of us here", 0.3);

test("nothing recognized, or two unsure seconds, report nothing", () => {
  const evidence = new EnglishEvidence();
  expect(evidence.classify()).toBe("unknown");
  evidence.add(guessed, sound(2));
  expect(evidence.classify()).toBe("unknown");
});

test("English between songs and noise is still English", () => {
  const evidence = new EnglishEvidence();
  for (let i = 0; i < 10; i++) {
    evidence.add(clear, sound(5));
    evidence.add(result("", 1), sound(5));
  }
  expect(evidence.classify()).toBe("english");
});

test("a few English words do not make a foreign recording English", () => {
  const evidence = new EnglishEvidence();
  for (let i = 0; i < 8; i++) evidence.add(guessed, sound(5));
  for (let i = 0; i < 2; i++) evidence.add(clear, sound(5));
  expect(evidence.classify()).toBe("other");
});

test("a long foreign recording is given up after two minutes, an English one never", () => {
  const foreign = new EnglishEvidence();
  const english = new EnglishEvidence();
  for (let second = 0; second < 115; second += 5) foreign.add(guessed, sound(5));
  expect(foreign.isCertainlyOther()).toBe(false);
  foreign.add(guessed, sound(5));
  expect(foreign.isCertainlyOther()).toBe(true);
  for (let i = 0; i < 100; i++) english.add(clear, sound(5));
  expect(english.isCertainlyOther()).toBe(false);
});

describe("if nothing is transcribed", () => {
  const nothing = result("", 1);
  const evidenceAfter = (seconds: number, unlike: Partial<SoundEvidence> = {}) => {
    const evidence = new EnglishEvidence();
    for (let added = 0; added < seconds; added += 4) evidence.add(nothing, sound(4, unlike));
    return evidence;
  };

  test("although people surely speak, it is another language", () => {
    expect(evidenceAfter(12).classify()).toBe("other");
    expect(evidenceAfter(12).hasSpeech).toBe(true);
    expect(evidenceAfter(4).classify()).toBe("unknown");
  });

  test("in noise, people speak, who knows what", () => {
    const asAtThirteenDecibels = { loudnessRange: 18.5 };
    expect(evidenceAfter(12, asAtThirteenDecibels).classify()).toBe("unknown");
    expect(evidenceAfter(12, asAtThirteenDecibels).hasSpeech).toBe(true);
    expect(evidenceAfter(200, asAtThirteenDecibels).isCertainlyOther()).toBe(false);
  });

  test("in little noise, it is another language", () => {
    expect(evidenceAfter(12, { loudnessRange: 22.5 }).classify()).toBe("other");
  });

  test("and voice activity is not sure either, nobody speaks", () => {
    expect(evidenceAfter(200, { certainSeconds: 1 }).classify()).toBe("unknown");
    expect(evidenceAfter(200, { certainSeconds: 1 }).hasSpeech).toBe(false);
    expect(evidenceAfter(200, { certainSeconds: 1 }).isCertainlyOther()).toBe(false);
  });
});

describe("certain speech", () => {
  const confidenceOf = (...speech: [seconds: number, probability: number][]) =>
    soundEvidence({
      samples: new Float32Array(16_000),
      speech: speech.map(([end, probability]) => ({ start: 0, end, probability })),
    });

  test("long, likely spans are certain, doubtful or short ones such as laughter and crowds are not", () => {
    expect(confidenceOf([3, 0.95], [16, 0.84], [0.5, 0.9])).toMatchObject({
      seconds: 19.5,
      certainSeconds: 3,
    });
  });
});

test("transcribing next to nothing counts against English", () => {
  expect(englishScore(clear, 5)).toBeGreaterThan(-0.2);
  expect(englishScore(clear, 60)).toBeLessThanOrEqual(-1);
});

describe("a phrase said again and again", () => {
  const phrase = "the first is the number and ";
  const repeated = (confidence: number, truncated = false) =>
    result(phrase.repeat(4).trim(), confidence, truncated);

  test("counts against English if its words are unsure, as in loops over other languages", () => {
    expect(englishScore(repeated(0.55), 8)).toBeLessThan(-1);
    expect(englishScore(repeated(0.5, true), 8)).toBeLessThanOrEqual(-1);
  });

  test("is English if its words are clear, for people repeat sentences too", () => {
    expect(englishScore(repeated(0.9), 8)).toBeGreaterThan(-0.2);
    expect(englishScore(repeated(0.9, true), 8)).toBeGreaterThan(-0.2);
  });
});

test("the surer an engine is, the more like English it scores", () => {
  const texts = fc.array(fc.constantFrom("one", "two", "three", "four"), { minLength: 1, maxLength: 30 });
  const sure = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(texts, sure, sure, fc.boolean(), (words, a, b, truncated) => {
      const score = (confidence: number) => englishScore(result(words.join(" "), confidence, truncated), 10);
      expect(score(Math.max(a, b))).toBeGreaterThanOrEqual(score(Math.min(a, b)) - 1e-9);
      expect(score(a)).toBeLessThanOrEqual(0);
    }),
  );
});
