import { normalizeWords } from "@subtext/captions/words";
import fc from "fast-check";
import { expect, test } from "vitest";
import { cutPassages } from "../../src/search/index-transcript.ts";
import { type Lexemes, renderVector } from "../../src/search/lexemes.ts";
import { createMatcher, findMarks } from "../../src/search/match.ts";
import { countTerms, parseQuery } from "../../src/search/query.ts";
import { fold, type Token, tokenize } from "../../src/search/tokens.ts";

const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: "grapheme" }),
  fc
    .array(
      fc.constantFrom(
        ...[
          "Ça",
          "l'été",
          "don't",
          "3.14",
          "東京都",
          "に",
          "สวัสดี",
          "한국어",
          "שָׁלוֹם",
          "كِتَاب",
          "می‌خواهم",
          "हिन्दी",
        ],
        ...[
          "ﬁn",
          "Straße",
          "İ",
          "👩‍👩‍👧",
          '"',
          "-",
          "OR",
          "&",
          "|",
          "!",
          "(",
          ":*",
          "<->",
          "\\",
          "'",
          "\0",
          "\ud800",
          " ",
        ],
      ),
    )
    .map((pieces) => pieces.join(" ")),
);

/** Like a dictionary without stems and stop words. */
function lookUpPlainly(tokens: readonly Token[]): Lexemes {
  const words = tokens.filter(({ kind }) => kind === "word");
  return new Map(words.map(({ text }) => [text, { lexemes: [fold(text)], isStopWord: false }]));
}

test("words of any text keep their order, have consecutive positions, and contain only letters and digits", () => {
  fc.assert(
    fc.property(text, (any) => {
      const tokens = tokenize(any);
      tokens.forEach((token, index) => {
        expect(token.position).toBe(index + 1);
        expect(token.start).toBeGreaterThanOrEqual(tokens[index - 1]?.headEnd ?? 0);
        expect(token.start).toBeLessThan(token.headEnd);
        expect(token.headEnd).toBeLessThanOrEqual(token.end);
        expect(token.end).toBeLessThanOrEqual(any.length);
        expect(token.text).toMatch(/^[\p{L}\p{M}\p{N}]+$/u);
        expect([...token.text].length).toBeLessThanOrEqual(200);
      });
    }),
  );
});

test("every text is a valid query, which has no more words than the text", () => {
  fc.assert(
    fc.property(text, (any) => {
      const query = parseQuery(any);
      expect(countTerms(query)).toBeLessThanOrEqual(any.length);
      expect(query.alternatives.length === 0).toBe(query.emptyReason !== null);
      for (const { required } of query.alternatives) expect(required.length).toBeGreaterThan(0);
    }),
  );
});

test("any text is found by its own quoted phrase, with all words marked", () => {
  fc.assert(
    fc.property(text, (any) => {
      const asked = any.replaceAll(/["“”„«»]/g, " ");
      const query = parseQuery(`"${asked}"`);
      const tokens = tokenize(asked);
      fc.pre(tokens.length > 0);
      const lexemes = lookUpPlainly(tokens);
      const matcher = createMatcher(query, lexemes)!;
      const marks = findMarks(tokens, lexemes, matcher.terms);
      for (const { start, headEnd } of tokens) {
        expect(marks.some(([from, to]) => from <= start && headEnd <= to)).toBe(true);
      }
      marks.forEach(([start, end], index) => {
        expect(start).toBeGreaterThan(marks[index - 1]?.[1] ?? -1);
        expect(end).toBeLessThanOrEqual(asked.length);
      });
    }),
  );
});

test("every lexeme for the index is quoted", () => {
  fc.assert(
    fc.property(text, (any) => {
      const tokens = tokenize(any);
      const vector = renderVector(tokens, lookUpPlainly(tokens), 7);
      expect(vector).toMatch(/^'#7'( '[\p{L}\p{M}\p{N}]+':\d+(,\d+)*)*$/u);
    }),
  );
});

test("passages contain every word once, in order, between their own times", () => {
  const words = fc.array(
    fc.record({
      word: fc.constantFrom("Yes.", "and", "so,", "「はい」", "東京", "x".repeat(300), "什么？", "ไป"),
      pause: fc.constantFrom(0, 0.1, 3),
      length: fc.constantFrom(0, 0.3, 1),
    }),
    { maxLength: 200 },
  );
  fc.assert(
    fc.property(words, (made) => {
      let at = 0;
      const timed = made.map(({ word, pause, length }) => {
        const start = at + pause;
        at = start + length;
        return { word, start, end: at };
      });
      const normal = normalizeWords(timed, at + 1);
      const passages = cutPassages(normal);
      const squeeze = (parts: string[]) => parts.join("").replaceAll(" ", "");
      expect(squeeze(passages.map((passage) => passage.text))).toBe(squeeze(normal.map(({ word }) => word)));
      passages.forEach((passage, index) => {
        expect(passage.endMs).toBeGreaterThanOrEqual(passage.startMs);
        expect(passage.startMs).toBeGreaterThanOrEqual(passages[index - 1]?.endMs ?? 0);
        if (passage.text.length > 300) expect(passage.text).toMatch(/x{300}/);
      });
    }),
  );
});
