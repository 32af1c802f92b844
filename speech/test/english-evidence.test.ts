import { afterAll, beforeAll, expect, test } from "vitest";
import type { Engine, Hearing } from "../src/engine.ts";
import { openMoonshine } from "../src/engines/moonshine.ts";
import { EnglishEvidence, englishScore } from "../src/english-evidence.ts";
import { ENGLISH, spoken } from "./spoken.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await openMoonshine({ threads: 2 });
});
afterAll(() => engine.close());

async function evidenceOf(names: readonly string[]): Promise<EnglishEvidence> {
  const utterances = names.map((name) => ({ samples: spoken(name).samples, start: 0 }));
  const evidence = new EnglishEvidence();
  const hearings = await engine.hear(utterances, { signal: new AbortController().signal });
  for (const [index, hearing] of hearings.entries()) {
    evidence.add(hearing, (utterances[index]?.samples.length ?? 0) / 16_000);
  }
  return evidence;
}

test("English is told as English", async () => {
  expect((await evidenceOf(ENGLISH)).verdict()).toBe("english");
});

test.each(["es", "de", "fr"])("%s is told as another language", async (name) => {
  expect((await evidenceOf([name])).verdict()).toBe("other");
});

function hearing(text: string, confidence: number, cutOff = false): Hearing {
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
    cutOff,
  };
}
const clear = hearing("we will talk about the plan for the next week and then go home", 0.9);
const guessed = hearing("the city is on the ground of a new seniority for all of us here", 0.3);

test("nothing heard, or two unsure seconds, tell nothing", () => {
  const evidence = new EnglishEvidence();
  expect(evidence.verdict()).toBe("unknown");
  evidence.add(guessed, 2);
  expect(evidence.verdict()).toBe("unknown");
});

test("English between songs and noise is still English", () => {
  const evidence = new EnglishEvidence();
  for (let i = 0; i < 10; i++) {
    evidence.add(clear, 5);
    evidence.add(hearing("", 1), 5);
  }
  expect(evidence.verdict()).toBe("english");
});

test("a few English words do not make a foreign recording English", () => {
  const evidence = new EnglishEvidence();
  for (let i = 0; i < 8; i++) evidence.add(guessed, 5);
  for (let i = 0; i < 2; i++) evidence.add(clear, 5);
  expect(evidence.verdict()).toBe("other");
});

test("a long foreign recording is given up after two minutes, an English one never", () => {
  const foreign = new EnglishEvidence();
  const english = new EnglishEvidence();
  for (let second = 0; second < 115; second += 5) foreign.add(guessed, 5);
  expect(foreign.isHopeless()).toBe(false);
  foreign.add(guessed, 5);
  expect(foreign.isHopeless()).toBe(true);
  for (let i = 0; i < 100; i++) english.add(clear, 5);
  expect(english.isHopeless()).toBe(false);
});

test("repeating a phrase surely, stopping at the limit and hearing next to nothing count against English", () => {
  const repeated = hearing(
    "the first is the number and the first is the number and the first is the number",
    0.9,
  );
  expect(englishScore(clear, 5)).toBeGreaterThan(-0.2);
  expect(englishScore(repeated, 5)).toBeLessThan(-0.5);
  expect(englishScore({ ...clear, cutOff: true }, 5)).toBeLessThanOrEqual(-1);
  expect(englishScore(clear, 60)).toBeLessThanOrEqual(-1);
});
