import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CheckpointCache } from "../../src/checkpoints/checkpoint-cache.ts";
import type { Engine, RecognitionResult } from "../../src/engines/engine.ts";
import {
  areSpellingsOfSame,
  chooseSpelling,
  isDoubtful,
  mayBeEcho,
  vocabularyPrompt,
  withVocabulary,
} from "../../src/engines/vocabulary.ts";
import { TextTokenizer } from "../../src/engines/whisper/tokens-of-text.ts";
import { openWhisper } from "../../src/engines/whisper/whisper.ts";
import { seededRandom } from "../../src/onnx/token-selection.ts";
import type { Utterance } from "../../src/vad/utterances.ts";
import { fakeMultilingual, fakeRecording } from "../support/fake-engines.ts";
import { tinyWhisperModel } from "../support/language-recordings.ts";
import { WhisperVocabulary } from "../support/whisper-vocabulary.ts";

const { signal } = new AbortController();
const TERMS = ["Subtext", "PostgreSQL", "Anna Weber"];

function resultOf(text: string, meanLogProbability = -0.2): RecognitionResult {
  const words = text.split(" ").filter((word) => word !== "");
  return {
    words: words.map((word, index) => ({ word, start: index, end: index + 0.5, confidence: 0.9 })),
    language: "en",
    meanLogProbability,
    compressionRatio: 1,
    noSpeechProbability: 0,
    truncated: false,
  };
}

const textOf = ({ words }: RecognitionResult) => words.map(({ word }) => word).join(" ");

describe("a vocabulary", () => {
  test.each([
    ["corrects a term", "Welcome to sub text.", "Welcome to Subtext."],
    ["corrects several", "Sub text, post gray SQL.", "Subtext, PostgreSQL."],
    ["corrects a term of two words", "I am Anna Vaber.", "I am Anna Weber."],
  ])("%s", (_, plain, prompted) => {
    expect(textOf(chooseSpelling(resultOf(plain), resultOf(prompted), TERMS))).toBe(prompted);
  });

  test.each([
    ["where nobody speaks", "", "Subtext, PostgreSQL, Anna Weber."],
    ["after what is said", "Good night.", "Good night. Subtext, PostgreSQL, Anna Weber."],
    ["for the words before it", "Where is the train? It is late. Subtexts.", "Subtext."],
    ["that it does not contain", "Good morning.", "Good evening."],
    ["that were recognized before", "Subtext is good.", "Subtext is wood."],
  ])("adds or removes no words %s", (_, plain, prompted) => {
    expect(textOf(chooseSpelling(resultOf(plain), resultOf(prompted), TERMS))).toBe(plain);
  });

  test("is not used if its spelling is clearly less probable", () => {
    const plain = resultOf("Welcome to sub text.");
    const prompted = resultOf("Welcome to Subtext.", plain.meanLogProbability - 0.2);
    expect(chooseSpelling(plain, prompted, TERMS)).toBe(plain);
  });

  test("makes results doubtful that are empty, improbable, only terms, or a part of the list", () => {
    const isDoubted = (text: string, probability?: number) => isDoubtful(resultOf(text, probability), TERMS);
    expect(isDoubted("")).toBe(true);
    expect(isDoubted("Hello there.", -0.8)).toBe(true);
    for (const text of ["Subtext.", "subtext Subtext", "Anna Weber, Subtext!"])
      expect(isDoubted(text)).toBe(true);
    expect(isDoubted("We use Subtext, PostgreSQL")).toBe(true);
    for (const text of ["Hello there.", "Hello Subtext.", "Anna", "PostgreSQL and Subtext", "Subtexts"]) {
      expect(isDoubted(text)).toBe(false);
    }
  });

  test("may be the whole result only for sounds that are clearly speech", () => {
    const suspects = (text: string, ...probabilities: number[]) => {
      const speech = probabilities.map((probability, start) => ({ start, end: start + 1, probability }));
      return mayBeEcho(resultOf(text), TERMS, { samples: new Float32Array(), start: 0, speech });
    };
    for (const text of ["Subtext.", "The Subtext.", "Anna Weber, PostgreSQL"])
      expect(suspects(text, 0.6, 0.9)).toBe(true);
    for (const text of ["Hello Subtext.", "PostgreSQL and the others", "Subtexts", "Good night."])
      expect(suspects(text, 0.6, 0.9)).toBe(false);
    expect(suspects("Subtext.", 0.6, 0.97)).toBe(false);
    const unscored = { samples: new Float32Array(), start: 0 };
    expect(mayBeEcho(resultOf("Subtext."), TERMS, unscored)).toBe(false);
  });

  test.each([
    ["Sub text.", "Subtext.", true],
    ["Anna Vaber", "Anna Weber.", true],
    ["Post gray SQL!", "PostgreSQL", true],
    ["So next.", "Subtext.", true],
    ["Koober Nettys", "Kubernetes", true],
    ["Thank you.", "Subtext.", false],
    ["Bye bye.", "Anna Weber.", false],
    ["", "Subtext.", false],
    ["", "", false],
  ])("a misspelled term is distinguished from other words: %s, %s", (plain, prompted, expected) => {
    expect(areSpellingsOfSame(resultOf(plain), resultOf(prompted))).toBe(expected);
  });

  test("becomes a prompt of the first terms that fit", () => {
    expect(vocabularyPrompt(TERMS, () => true)).toBe("Subtext, PostgreSQL, Anna Weber.");
    expect(vocabularyPrompt(TERMS, ({ length }) => length <= 25)).toBe("Subtext, PostgreSQL.");
    expect(vocabularyPrompt(TERMS, () => false)).toBe("");
  });

  test("invalidates the checkpoints of another vocabulary", async () => {
    const utterances = (await fakeRecording([["es", 6]])).flatMap((group) => group.utterances);
    const engine = fakeMultilingual();
    const recognizeWith = async (vocabulary: string[], results: string[]) => {
      const checkpoints = results.map((each) => ({ settledSeconds: 6, results: each }));
      const cache = new CheckpointCache(checkpoints, { recordsNew: true });
      const selected = { bundled: null, multilingual: engine, bundledTakesEnglish: false, remedy: "" };
      const { multilingual } = cache.wrapEngines(selected);
      await withVocabulary(multilingual!, vocabulary).recognize(utterances, { signal });
      return cache.takeCheckpoint(6)?.results ?? null;
    };
    const saved = (await recognizeWith(TERMS, []))!;
    expect(await recognizeWith(TERMS, [saved])).toBeNull();
    for (const other of [[], TERMS.slice(1), TERMS.toReversed()]) {
      expect(await recognizeWith(other, [saved])).not.toBeNull();
    }
  });
});

describe("Whisper with a vocabulary", () => {
  const folder = fileURLToPath(new URL("../tiny-whisper/fixtures/", import.meta.url));
  const letters = [..."abcdefghij"];
  const hundred = letters.flatMap((a) => letters.map((b) => `term${a}${b}`));
  const vocabularies = [["cafe"], ["la lune", "madrid", "anna"], hundred];
  let engine: Engine;

  beforeAll(async () => {
    engine = await openWhisper({ folder: tinyWhisperModel, threads: 1 });
  });
  afterAll(() => engine.close());

  function clip(name: string): Utterance {
    const file = readFileSync(`${folder}${name}.wav`);
    const pcm = file.subarray(file.indexOf("data") + 8);
    const samples = Float32Array.from({ length: pcm.length >> 1 }, (_, i) => pcm.readInt16LE(2 * i) / 32_768);
    return { samples, start: 0 };
  }
  const names = readdirSync(folder)
    .filter((file) => file.endsWith(".wav"))
    .map((file) => file.slice(0, -".wav".length));

  test("writes the same words for speech that contains no term, although this model was trained without prompts", async () => {
    const spoken = names.filter((name) => !name.includes("None")).map(clip);
    const plain = await engine.recognize(spoken, { signal });
    for (const vocabulary of vocabularies) {
      expect(await engine.recognize(spoken, { signal, vocabulary })).toEqual(plain);
    }
  });

  test("writes no words where nobody speaks", async () => {
    const random = seededRandom(1);
    const sounds = [
      ...names.filter((name) => name.includes("None")).map((name) => clip(name).samples),
      ...[0, 1e-4, 1e-2, 0.3].map((level) => Float32Array.from({ length: 80_000 }, () => level * random())),
      ...[100, 440, 3_000].map((hertz) =>
        Float32Array.from({ length: 80_000 }, (_, index) => 0.3 * Math.sin((index * hertz) / 2_546)),
      ),
    ].map((samples): Utterance => ({ samples, start: 0 }));
    for (const vocabulary of vocabularies) {
      const results = await engine.recognize(sounds, { signal, vocabulary });
      expect(results.map(textOf)).toEqual(sounds.map(() => ""));
    }
  });
});

test("text becomes the tokens of OpenAI's tokenizer", () => {
  const vocabulary = new WhisperVocabulary();
  expect(
    vocabulary.encode(" Subtext, PostgreSQL, Anna Weber.").map((token) => vocabulary.textOf([token])),
  ).toEqual([" Sub", "text", ",", " Post", "gre", "SQL", ",", " Anna", " Weber", "."]);
  expect(new TextTokenizer([Buffer.from("a"), null, Buffer.from("c")]).encode("abc")).toEqual([0, 2]);
});
