import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { alignCharacters } from "../../../src/engines/openai/character-alignment.ts";
import { recognitionResult } from "../../../src/engines/openai/recognition.ts";
import { parseResponse } from "../../../src/engines/openai/response.ts";
import { splitWords } from "../../../src/engines/openai/text-words.ts";
import { SpeechError } from "../../../src/errors.ts";
import { ENGLISH_WORDS, SPANISH_WORDS } from "../../support/tone-words.ts";
import { localAi, openAi, speaches, vllm, whisperCpp } from "../../support/transcription-server-formats.ts";

const SECONDS = 6;
const START = 40;
const utterance = { samples: new Float32Array(SECONDS * 16_000), start: START };
const request = {
  path: "",
  authorization: undefined,
  model: null,
  language: "auto",
  responseFormat: "verbose_json",
  prompt: null,
  granularities: ["word", "segment"],
  fields: [],
  audioBytes: 0,
};

const answers = [openAi, speaches, whisperCpp, vllm, localAi].flatMap((responder) =>
  ([ENGLISH_WORDS, SPANISH_WORDS] as const).map((vocabulary) => {
    const words = vocabulary.map((word, index) => ({ word, start: 0.6 * index, end: 0.6 * index + 0.5 }));
    const speech = { words, seconds: SECONDS, language: "english" } as const;
    return responder(speech, responder === openAi ? { ...request, language: null } : request);
  }),
);

function recognizedIn(answer: unknown, language: string | null = null) {
  return recognitionResult(parseResponse(JSON.stringify(answer), SECONDS), utterance, language);
}

function expectSensible({ words, ...result }: ReturnType<typeof recognitionResult>): void {
  let free = START;
  for (const { word, start, end, confidence } of words) {
    expect(word).toMatch(/^\S+$/u);
    expect(start).toBeGreaterThanOrEqual(free - 1e-9);
    expect(end).toBeGreaterThanOrEqual(start);
    expect(confidence).toBeGreaterThan(0);
    expect(confidence).toBeLessThanOrEqual(1);
    free = end;
  }
  expect(free).toBeLessThanOrEqual(START + SECONDS + 1e-9);
  expect(result.meanLogProbability).toBeLessThanOrEqual(0);
  expect(Number.isFinite(result.meanLogProbability)).toBe(true);
  expect(result.compressionRatio).toBeGreaterThan(0);
  if (result.noSpeechProbability !== null)
    expect(Math.abs(result.noSpeechProbability - 0.5)).toBeLessThanOrEqual(0.5);
  if (result.language !== null) expect(result.language).toMatch(/^[a-z]{2,3}$/);
}

/** Words in order inside the utterance, or an error with a code: never anything else. */
function expectSensibleOrRefused(answer: unknown): void {
  try {
    expectSensible(recognizedIn(answer));
  } catch (error) {
    if (!(error instanceof SpeechError)) throw error;
    expect(error.code).toBe("engine_answer_invalid");
  }
}

const junk = fc.oneof(
  fc.constantFrom(null, true, "", "NaN", "1.25", "-3", "ja", "♪", [], {}, -1, 1e12, 1e-9, -0),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("so it goes ".repeat(40), "今日は天気がいい", "a".repeat(500), " , . ! "),
);

/** The same with one to five of its parts replaced, left out, moved or doubled. */
function mutated(answer: unknown): fc.Arbitrary<unknown> {
  return fc.array(fc.tuple(fc.nat(), fc.nat(4), junk), { minLength: 1, maxLength: 5 }).map((mutations) => {
    const copy = structuredClone(answer);
    for (const [at, how, value] of mutations) {
      const places = [...placesIn(copy)];
      const place = places[at % Math.max(1, places.length)];
      if (place === undefined) continue;
      const { parent, key } = place;
      if (how === 0) delete parent[key];
      else if (Array.isArray(parent) && how === 1) parent.reverse();
      else if (Array.isArray(parent) && how === 2) parent.push(parent[Number(key)]);
      else parent[key] = value;
    }
    return copy;
  });
}

function* placesIn(value: unknown): Generator<{ parent: Record<string, unknown>; key: string }> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, child] of Object.entries(value)) {
    yield { parent: value as Record<string, unknown>, key };
    yield* placesIn(child);
  }
}

describe("whatever a server answers, words are in order inside the utterance, or an error has a code", () => {
  test("for answers of real servers", () => {
    for (const answer of answers) {
      const result = recognizedIn(answer);
      expectSensible(result);
      expect(result.words.length).toBeGreaterThan(5);
    }
  });

  test("for such answers with anything wrong in them", () => {
    const anyMutated = fc.nat(answers.length - 1).chain((index) => mutated(answers[index]));
    fc.assert(fc.property(anyMutated, expectSensibleOrRefused), { numRuns: 500 });
  });

  test("for any words with any times", () => {
    const piece = fc.record({ word: junk, start: junk, end: junk, probability: junk });
    const answer = fc.record({
      text: fc.constantFrom("The weather, today: fine!", ""),
      words: fc.array(piece),
      segments: fc.array(fc.record({ text: junk, start: junk, end: junk, avg_logprob: junk })),
    });
    fc.assert(fc.property(answer, expectSensibleOrRefused), { numRuns: 300 });
  });

  test("for any JSON at all", () => {
    fc.assert(fc.property(fc.jsonValue(), expectSensibleOrRefused));
  });

  for (const body of [
    "",
    "null",
    "[]",
    "[1]",
    "3",
    '"text"',
    "{",
    "{}",
    '{"error": "x"}',
    '{"segments": [7]}',
  ]) {
    test(`${body === "" ? "nothing" : body} is no transcript`, () => {
      expect(() => parseResponse(body, SECONDS)).toThrow(SpeechError);
    });
  }
});

describe("times that cannot be are made right", () => {
  const text = "One two three four";
  const recognizedTimes = (words: { word: string; start: unknown; end: unknown }[]) =>
    recognizedIn({ text, words }).words.map(({ word, start, end }) => [word, start - START, end - START]);
  const right = [
    { word: "One", start: 1, end: 1.5 },
    { word: "two", start: 2, end: 2.5 },
    { word: "three", start: 3, end: 3.5 },
    { word: "four", start: 4, end: 4.5 },
  ];
  const close = (seconds: number) => expect.closeTo(seconds, 5);
  const rightTimes = right.map(({ word, start, end }) => [word, close(start), close(end)]);

  test("numbers as text", () => {
    const words = right.map(({ word, start, end }) => ({ word, start: `${start}`, end: `${end}` }));
    expect(recognizedTimes(words)).toEqual(rightTimes);
  });

  for (const unit of [1e3, 1e9]) {
    test(`units of which a second has ${unit}`, () => {
      const words = right.map(({ word, start, end }) => ({ word, start: start * unit, end: end * unit }));
      expect(recognizedTimes(words)).toEqual(rightTimes);
    });
  }

  for (const [name, start] of [
    ["far too late", 5.9],
    ["before the one before it", 0.2],
    ["outside of the utterance", 500],
    ["missing", null],
  ] as const) {
    test(`one that is ${name} does not move the others`, () => {
      const words = right.with(2, { word: "three", start: start as number, end: 3.5 });
      const [one, two, three, four] = recognizedTimes(words);
      expect([one, two, four]).toEqual([rightTimes[0], rightTimes[1], rightTimes[3]]);
      expect(three![1]).toBeGreaterThanOrEqual(2.5);
      expect(three![2]).toBeLessThanOrEqual(4);
    });
  }

  test("words of no length have one, and words over one another do not overlap", () => {
    const words = [
      right[0]!,
      { word: "two", start: 2, end: 3.9 },
      right[2]!,
      { word: "four", start: 4, end: 4 },
    ];
    const times = recognizedTimes(words);
    expect(times[1]).toEqual(["two", close(2), close(3)]);
    expect(times[3]![2]).toBeGreaterThan(times[3]![1] as number);
  });

  test("a word without a time is placed between its neighbors", () => {
    const [, two] = recognizedTimes([right[0]!, right[2]!, right[3]!]);
    expect(two).toEqual(["two", close(1.5), close(1.86)]);
  });

  test("the time of a mark behind a word is not the word's, that of one before it is", () => {
    const pieces = [
      { word: " ¿", start: 0.9, end: 1 },
      { word: "Qué", start: 1, end: 1.5 },
      { word: "?", start: 1.5, end: 2.4 },
      { word: " Sí", start: 2.5, end: 3 },
    ];
    const { words } = recognizedIn({ text: "¿Qué? Sí", words: pieces });
    expect(words.map(({ word, start, end }) => [word, start - START, end - START])).toEqual([
      ["¿Qué?", close(0.9), close(1.5)],
      ["Sí", close(2.5), close(3)],
    ]);
  });

  test("figures that were said as words, and words that were written as figures, keep their times", () => {
    const words = [right[0]!, { word: "2", start: 2, end: 2.5 }, right[2]!, right[3]!];
    expect(recognizedTimes(words)).toEqual(rightTimes);
  });
});

describe("the words of a text", () => {
  const words = (text: string, language: string | null = null) =>
    splitWords(text, language).map((word) => word.text);

  for (const [text, expected] of [
    [" Hello,  world - yes !", ["Hello,", "world-", "yes!"]],
    ["« Bonjour » dit-elle", ["«Bonjour»", "dit-elle"]],
    ["¿ Qué ?", ["¿Qué?"]],
    ["5 % & more", ["5", "%", "&", "more"]],
    ["♪ la la ♪", ["la", "la"]],
    ["a 90° turn at 20 °C", ["a", "90°", "turn", "at", "20", "°C"]],
    ["- ...", []],
  ] as const) {
    test(`"${text}"`, () => expect(words(text)).toEqual(expected));
  }

  test("in scripts without spaces, stand side by side", () => {
    expect(words("今日は天気。", "ja")).toEqual(["今日", "は", "天気。"]);
    expect(words("สวัสดีครับ", "th").length).toBeGreaterThan(1);
  });

  test("hold every letter of it once, in order, each at its place", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."aé7 ,.(«»今は ") }), (text) => {
        const letters = (written: string) => written.replace(/[^\p{L}\p{N}]/gu, "");
        const written = splitWords(text, null);
        expect(letters(written.map((word) => word.text).join(""))).toBe(letters(text));
        for (const { text: word, at } of written) expect(text[at]).toBe(word[0]);
      }),
    );
  });
});

describe("text laid on text", () => {
  const characters = fc.array(
    fc.record({ character: fc.constantFrom(..."abcÉé,."), startsWord: fc.boolean() }),
    { maxLength: 30 },
  );

  test("never goes back, and lays equal texts on each other", () => {
    fc.assert(
      fc.property(characters, characters, (first, second) => {
        const matched = [...alignCharacters(first, second)].filter((place) => place !== -1);
        expect(matched).toEqual(matched.toSorted((a, b) => a - b));
        expect(new Set(matched).size).toBe(matched.length);
        expect([...alignCharacters(first, first)]).toEqual(first.map((_, index) => index));
      }),
    );
  });

  test("finds the letters again where only marks are missing", () => {
    fc.assert(
      fc.property(characters, (text) => {
        const bare = text.filter(({ character }) => /\p{L}/u.test(character));
        const places = alignCharacters(text, bare);
        const found = [...places].flatMap((place, index) => (place === -1 ? [] : [text[index]]));
        expect(found.map((letter) => letter?.character)).toEqual(bare.map(({ character }) => character));
      }),
    );
  });

  test("leaves out whole words, on either side", () => {
    const text = (words: string) =>
      words
        .split(" ")
        .flatMap((word) => [...word].map((character, at) => ({ character, startsWord: at === 0 })));
    const [long, short] = [text("one two three"), text("one three")];
    expect([...alignCharacters(long, short)]).toEqual([0, 1, 2, -1, -1, -1, 3, 4, 5, 6, 7]);
    expect([...alignCharacters(short, long)]).toEqual([0, 1, 2, 6, 7, 8, 9, 10]);
  });

  test("of any length does not take all memory", () => {
    const long = Array.from({ length: 40_000 }, (_, index) => ({
      character: index % 2 === 0 ? "a" : "b",
      startsWord: index % 5 === 0,
    }));
    const places = alignCharacters(long, long.toReversed());
    expect(places.at(-1)).toBeGreaterThan(39_000);
  });
});
