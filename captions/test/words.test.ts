import { normalizeWords, type Word } from "@subtext/captions/words";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { brokenSpeech, plausibleSpeech, speak, speech } from "./speech.ts";

function word(text: string, start: number, end: number): Word {
  return { word: text, start, end };
}

function texts(words: readonly Word[]): string[] {
  return words.map((entry) => entry.word);
}

describe("words of any engine", () => {
  const duration = fc.oneof(
    fc.double({ min: 0, max: 300, noNaN: true }),
    fc.constantFrom(0, 10.0004, 10.9996),
  );

  test("times are whole milliseconds within the media, in order and without overlap", () => {
    fc.assert(
      fc.property(fc.oneof(brokenSpeech, speech), duration, (words, seconds) => {
        let previousEnd = 0;
        for (const { start, end } of normalizeWords(words, seconds)) {
          expect(start).toBeGreaterThanOrEqual(previousEnd);
          expect(end).toBeGreaterThanOrEqual(start);
          expect(end).toBeLessThanOrEqual(seconds);
          expect(start).toBe(Number(start.toFixed(3)));
          expect(end).toBe(Number(end.toFixed(3)));
          previousEnd = end;
        }
      }),
    );
  });

  test("text is non-empty, trimmed, well-formed NFC without control characters and breaking spaces", () => {
    fc.assert(
      fc.property(brokenSpeech, (words) => {
        for (const { word: text } of normalizeWords(words, 100)) {
          expect(text).toBe(text.normalize("NFC"));
          expect(text.trim()).toBe(text);
          expect(text.isWellFormed()).toBe(true);
          expect(text).toMatch(/[^\p{Z}\p{C}\p{M}]|\p{Cn}|\p{Co}/u);
          expect(text).not.toMatch(/[\p{Cc} \u3000\u2028\u2029\u200b\ufeff\u202a-\u202e]/u);
        }
      }),
    );
  });

  test("words have only a word, a start, an end, and a confidence if the engine returned one", () => {
    fc.assert(
      fc.property(brokenSpeech, (words) => {
        const given = words.map((entry) => entry.confidence);
        for (const entry of normalizeWords(words, 100)) {
          expect(Object.keys(entry)).toEqual(["word", "start", "end", "confidence"]);
          expect(given.some((one) => Object.is(one, entry.confidence))).toBe(true);
        }
        const unsure = words.map(({ confidence: _, ...entry }) => entry);
        for (const entry of normalizeWords(unsure, 100))
          expect(Object.keys(entry)).toEqual(["word", "start", "end"]);
      }),
    );
  });

  test("words keep their channel, and fragments of different channels are not joined", () => {
    const spoken = [
      { word: "yes", start: 0, end: 1, channel: 1 },
      { word: "?", start: 1, end: 1, channel: 1 },
      { word: "no no", start: 1, end: 2, channel: 2 },
    ];
    expect(normalizeWords(spoken, 10).map(({ word, channel }) => [word, channel])).toEqual([
      ["yes?", 1],
      ["no", 2],
      ["no", 2],
    ]);
    const characters = [
      { word: "東", start: 0, end: 1, channel: 1 },
      { word: "京", start: 1, end: 2, channel: 2 },
    ];
    expect(normalizeWords(characters, 10).map(({ word }) => word)).toEqual(["東", "京"]);
  });

  test("a word that is joined from fragments has their lowest confidence", () => {
    const pieces = [
      { ...word("東", 0, 0.2), confidence: 0.9 },
      { ...word("京", 0.2, 0.4), confidence: 0.5 },
      { ...word("Hello", 2, 3), confidence: 0.8 },
    ];
    expect(normalizeWords(pieces, 10).map((entry) => [entry.word, entry.confidence])).toEqual([
      ["東京", 0.5],
      ["Hello", 0.8],
    ]);
  });

  test("normalization is idempotent", () => {
    fc.assert(
      fc.property(plausibleSpeech, (words) => {
        const once = normalizeWords(words, 400_000);
        expect(normalizeWords(once, 400_000)).toEqual(once);
      }),
    );
  });

  test("letters, digits and symbols stay complete and in order", () => {
    const visible = (text: string) => text.normalize("NFC").replace(/[\p{Z}\p{C}]/gu, "");
    fc.assert(
      fc.property(speech, (words) => {
        const before = visible(words.map((entry) => entry.word.trim()).join(""));
        expect(visible(texts(normalizeWords(words, 400_000)).join(""))).toBe(before);
      }),
    );
  });
});

describe("times", () => {
  test("valid times stay unchanged", () => {
    const words = speak(["I am sitting in a room", 1.5, "different from the one you are in now."]);
    expect(normalizeWords(words, 60)).toEqual(words);
  });

  test("a word that overlaps the next one ends at its start", () => {
    expect(normalizeWords([word("one", 1, 2.5), word("two", 2, 3)], 10)).toEqual([
      word("one", 1, 2),
      word("two", 2, 3),
    ]);
  });

  test("a word without times is placed between its neighbors", () => {
    const words = [word("in", 1, 1.2), word("2014", Number.NaN, Number.NaN), word("we", 1.6, 1.8)];
    expect(normalizeWords(words, 10)[1]).toEqual(word("2014", 1.2, 1.6));
  });

  test("words without times at the beginning directly precede the first word with times", () => {
    const words = [word("oh", Number.NaN, Number.NaN), word("well", 30, 30.4)];
    expect(normalizeWords(words, 60)).toEqual([word("oh", 29.5, 30), word("well", 30, 30.4)]);
  });

  test("a single wrong time does not shift the words after it", () => {
    const words = [word("a", 1, 1.2), word("b", 58, 59), word("c", 1.5, 1.8), word("d", 2, 2.2)];
    expect(normalizeWords(words, 60)).toEqual([
      word("a", 1, 1.2),
      word("b", 1.2, 1.5),
      word("c", 1.5, 1.8),
      word("d", 2, 2.2),
    ]);
  });

  test("an end before the start becomes the start", () => {
    expect(normalizeWords([word("a", 2, 1)], 10)).toEqual([word("a", 2, 2)]);
  });

  test("times after the end of the media are clamped to it, even if its duration is not in whole milliseconds", () => {
    expect(normalizeWords([word("late", 9.9, 12)], 10.0006)).toEqual([word("late", 9.9, 10)]);
    expect(normalizeWords([word("late", 1, 12)], 1.001)).toEqual([word("late", 1, 1.001)]);
  });

  test("times are not clamped if the duration is unknown", () => {
    expect(normalizeWords([word("late", 99_999, 99_999.5)], Number.NaN)).toEqual([
      word("late", 99_999, 99_999.5),
    ]);
  });
});

describe("words", () => {
  test("a phrase in one word is split at its spaces", () => {
    expect(normalizeWords([word(" Hello big\nworld ", 0, 1.3)], 10)).toEqual([
      word("Hello", 0, 0.5),
      word("big", 0.5, 0.8),
      word("world", 0.8, 1.3),
    ]);
  });

  test("standalone punctuation joins the word that it belongs to", () => {
    const words = speak(["Well , “ yes ” . ( Or no ? )"]);
    expect(texts(normalizeWords(words, 60))).toEqual(["Well,", "“yes”.", "(Or", "no?)"]);
  });

  test("a French word keeps the space before its punctuation", () => {
    expect(texts(normalizeWords([word("Bonjour !", 0, 1), word("1\u202f000", 1, 2)], 10))).toEqual([
      "Bonjour\u00a0!",
      "1\u202f000",
    ]);
  });

  test("a Japanese sentence is split into words, with punctuation on the previous word and opening brackets on the next", () => {
    const words = normalizeWords([word("東京に行きました。「今日」は、暑い！", 0, 3)], 10);
    expect(texts(words)).toEqual(["東京", "に", "行き", "ま", "した。", "「今日」", "は、", "暑い！"]);
    expect(words[0]).toEqual(word("東京", 0, 0.462));
    expect(words.at(-1)!.end).toBe(3);
  });

  test("single Japanese characters are joined to words", () => {
    const words = normalizeWords(
      ["東", "京", "に", "行", "き", "ま", "す", "。"].map((text, i) => word(text, i / 10, (i + 1) / 10)),
      10,
    );
    expect(texts(words)).toEqual(["東京", "に", "行き", "ます。"]);
    expect(words.at(-1)).toEqual(word("ます。", 0.5, 0.7));
  });

  test("a pause separates Chinese words even within a dictionary word", () => {
    expect(texts(normalizeWords([word("北", 0, 0.3), word("京", 0.8, 1)], 10))).toEqual(["北", "京"]);
    expect(texts(normalizeWords([word("北", 0, 0.3), word("京", 0.7, 1)], 10))).toEqual(["北京"]);
  });

  test.each([
    ["Chinese", "我们今天去北京大学。", ["我们", "今天", "去", "北京", "大学。"]],
    ["Thai", "สวัสดีครับวันนี้อากาศดี", ["สวัสดี", "ครับ", "วัน", "นี้", "อากาศ", "ดี"]],
    ["Lao", "ສະບາຍດີເຈົ້າເປັນແນວໃດ", ["ສະບາຍດີ", "ເຈົ້າ", "ເປັນ", "ແນວ", "ໃດ"]],
    ["Khmer", "សួស្តីពិភពលោក", ["សួស្តី", "ពិភពលោក"]],
    ["Burmese", "မင်္ဂလာပါကမ္ဘာ", ["မင်္ဂလာ", "ပါ", "ကမ္ဘာ"]],
  ])("%s without spaces is split into words", (_, text, expected) => {
    expect(texts(normalizeWords([word(text, 0, 4)], 10))).toEqual(expected);
  });

  test("Thai fragments that begin inside a character are joined", () => {
    const words = ["น", "้", "ำ", "ดี"].map((text, i) => word(text, i / 10, (i + 1) / 10));
    expect(texts(normalizeWords(words, 10)).join("")).toBe("น้ำดี");
    expect(texts(normalizeWords(words, 10))[0]).toMatch(/^น้ำ/);
  });

  test("Latin words inside Japanese text are not split", () => {
    expect(texts(normalizeWords([word("私はWi-Fiが好き", 0, 2)], 10))).toEqual([
      "私",
      "は",
      "Wi-Fi",
      "が",
      "好き",
    ]);
  });

  test.each([
    ["Korean", "안녕하세요."],
    ["German", "Donaudampfschifffahrtsgesellschaft"],
    ["Hindi", "क्षत्रिय।"],
    ["Arabic", "السلام"],
    ["emoji", "👩‍👩‍👧‍👦"],
    ["Catalan", "col·lecció"],
  ])("a word in a script with spaces is not split (%s)", (_, text) => {
    expect(texts(normalizeWords([word(text, 0, 1)], 10))).toEqual([text]);
  });

  test("characters that change the direction of the following text are removed", () => {
    expect(texts(normalizeWords([word("\u202eevil\u2066", 0, 1)], 10))).toEqual(["evil"]);
  });

  test("a word of only invisible characters is dropped", () => {
    const words = ["", " ", "\0", "\u200b\u200d", "\u0301", "ok"].map((text, i) => word(text, i, i + 1));
    expect(texts(normalizeWords(words, 10))).toEqual(["ok"]);
  });
});
