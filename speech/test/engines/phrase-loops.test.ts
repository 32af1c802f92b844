import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findPhraseLoop, withoutPhraseLoops } from "../../src/engines/phrase-loops.ts";
import type { TimedWord } from "../../src/transcript.ts";

/** Words that share the time evenly. */
function said(text: string, seconds: number, start = 0): TimedWord[] {
  const words = text.split(" ");
  const each = seconds / words.length;
  return words.map((word, index) => ({
    word,
    start: start + index * each,
    end: start + (index + 1) * each,
    confidence: 0.9,
  }));
}

/** A text that came to an end by itself. */
const ended = (words: TimedWord[]) => ({ words, truncated: false });
const textOf = (words: readonly TimedWord[]) => words.map(({ word }) => word).join(" ");
const PHRASE = "Please leave your message after the tone,";

describe("a phrase that is repeated faster than anyone speaks is kept once", () => {
  test("three and a half times in four seconds", () => {
    const looped = said(`${PHRASE} ${PHRASE} ${PHRASE} please leave your`, 4);
    expect(looped).toHaveLength(24);
    expect(textOf(withoutPhraseLoops(ended(looped)))).toBe(PHRASE);
  });

  test("whatever comes before and after it", () => {
    const words = [
      ...said("Welcome.", 1),
      ...said(`${PHRASE} ${PHRASE} ${PHRASE}`, 3, 1),
      ...said("Thank you.", 1, 4),
    ];
    expect(textOf(withoutPhraseLoops(ended(words)))).toBe(`Welcome. ${PHRASE} Thank you.`);
  });

  test("if only the first occurrence has taken time", () => {
    const words = [...said(PHRASE, 3), ...said(Array(5).fill(PHRASE).join(" "), 1.5, 3)];
    expect(textOf(withoutPhraseLoops(ended(words)))).toBe(PHRASE);
  });

  test("at any speed if it had to be stopped", () => {
    const text = `It is clear. ${PHRASE} ${PHRASE} please leave your message`;
    expect(textOf(withoutPhraseLoops({ words: said(text, 9), truncated: true }))).toBe(
      `It is clear. ${PHRASE}`,
    );
    expect(textOf(withoutPhraseLoops(ended(said(text, 9))))).toBe(text);
  });

  test.each([
    ["Han", "今天天气很好", 4],
    ["Kana", "ありがとうございます", 4],
    ["Hangul", "안녕하세요 여러분", 4],
    ["Devanagari", "आज मौसम बहुत अच्छा है", 4],
    ["Ethiopic", "እንደምን አደራችሁ ሁላችሁ", 4],
    ["Burmese", "နေကောင်းလား ကျေးဇူးတင်ပါတယ်", 4],
  ])("in %s", (_, phrase, seconds) => {
    const looped = said(Array(9).fill(phrase).join(" "), seconds);
    expect(textOf(withoutPhraseLoops(ended(looped)))).toBe(phrase);
  });
});

describe("what people repeat is preserved", () => {
  test.each<[string, string, number]>([
    ["a phrase three times", `${PHRASE} ${PHRASE} ${PHRASE}`, 8],
    ["a phrase twice, quickly", `${PHRASE} ${PHRASE}`, 2],
    ["a syllable", Array(12).fill("no").join(" "), 2.4],
    ["a chorus", Array(16).fill("la").join(" "), 3],
    ["a refrain in Chinese", Array(4).fill("今天天气很好").join(" "), 5],
    ["a number", "nine nine nine nine nine", 1.6],
    ["fast speech", "and so we went on to see what had been said about it by the others in the room", 3],
  ])("%s", (_, text, seconds) => {
    expect(textOf(withoutPhraseLoops(ended(said(text, seconds))))).toBe(text);
  });
});

test("words of no loop are never removed, and those that remain are in order", () => {
  const word = fc.constantFrom("a", "no", "yes", "maybe,", "message", "…");
  fc.assert(
    fc.property(
      fc.array(word, { maxLength: 40 }),
      fc.double({ min: 0.5, max: 20, noNaN: true }),
      (texts, seconds) => {
        const words = texts.length === 0 ? [] : said(texts.join(" "), seconds);
        const kept = withoutPhraseLoops(ended(words));
        expect(kept).toEqual(words.filter((each) => kept.includes(each)));
        if (findPhraseLoop(ended(words)) === null) expect(kept).toEqual(words);
        // What was removed had been said before.
        const vocabulary = new Set(kept.map((each) => each.word.replace(",", "")));
        for (const each of words)
          if (each.word !== "…") expect(vocabulary).toContain(each.word.replace(",", ""));
      },
    ),
  );
});
