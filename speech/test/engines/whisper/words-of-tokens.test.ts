import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readWhisperModel } from "../../../src/engines/whisper/model-files.ts";
import { wordsOfTokens } from "../../../src/engines/whisper/words-of-tokens.ts";
import { tinyWhisperModel } from "../../support/language-recordings.ts";

/** Words of tokens that spell these texts or bytes; null is a special token. */
function wordsOf(pieces: readonly (string | number[] | null)[], language: string | null = null) {
  const bytes = pieces.map((piece) =>
    piece === null
      ? null
      : typeof piece === "string"
        ? new TextEncoder().encode(piece)
        : Uint8Array.from(piece),
  );
  return wordsOfTokens([...bytes.keys()], bytes, language);
}

const texts = (...pieces: (string | number[] | null)[]) => wordsOf(pieces).map(({ text }) => text);

describe("words of tokens", () => {
  test("begin at blanks, and say which tokens spell them", () => {
    expect(wordsOf([" coun", "try", " ask"])).toEqual([
      { text: "country", firstToken: 0, endToken: 2 },
      { text: "ask", firstToken: 2, endToken: 3 },
    ]);
  });

  test("take the marks beside them, which are not recognized", () => {
    expect(wordsOf([" ¿", "Quién", "?", " –", " Yo"])).toEqual([
      { text: "¿Quién?–", firstToken: 0, endToken: 4, spoken: { from: 1, to: 2 } },
      { text: "Yo", firstToken: 4, endToken: 5 },
    ]);
  });

  test("keep characters whole that lie in several tokens", () => {
    expect(wordsOf([[0x20, 0x63, 0x61, 0x66, 0xc3], [0xa9], " au"])).toEqual([
      { text: "café", firstToken: 0, endToken: 2 },
      { text: "au", firstToken: 2, endToken: 3 },
    ]);
  });

  test("leave out special tokens, and bytes that are no characters", () => {
    expect(texts(null, " a", [0xff, 0xc3], null, "b", [0xe4, 0xb8], " ")).toEqual(["ab"]);
    expect(texts(null, [0x80], " ", "...")).toEqual([]);
  });

  test("come from the dictionary where none stand apart", () => {
    expect(wordsOf(["今日は", "天気が", "いい", "です", "。"], "ja").map(({ text }) => text)).toEqual([
      "今日",
      "は",
      "天気",
      "が",
      "いい",
      "です。",
    ]);
    expect(texts("สวัสดี", "ครับผม").join("")).toBe("สวัสดีครับผม");
    expect(texts("สวัสดีครับ").length).toBeGreaterThan(1);
  });

  test("that share a token each take their part of it", () => {
    expect(wordsOf(["今日は"], "ja")).toEqual([
      { text: "今日", firstToken: 0, endToken: 1, spoken: { from: 0, to: 2 / 3 } },
      { text: "は", firstToken: 0, endToken: 1, spoken: { from: 2 / 3, to: 1 } },
    ]);
  });

  test("stay in order if a closing mark follows an opening one", () => {
    expect(wordsOf(["今¿ ", "」 ", "0"], "ja")).toEqual([
      { text: "今¿」", firstToken: 0, endToken: 2, spoken: { from: 0, to: 1 } },
      { text: "0", firstToken: 2, endToken: 3 },
    ]);
  });

  test("of two scripts stay whole if no script without spaces is beside the cut", () => {
    expect(texts("「iPhone15", "を", "買う」")).toEqual(["「iPhone15", "を", "買う」"]);
  });
});

describe("whatever tokens are chosen", () => {
  const bytes = fc.uint8Array({ maxLength: 6 });
  const text = fc.string({ unit: "grapheme", maxLength: 6 }).map((value) => new TextEncoder().encode(value));
  const script = fc
    .string({ unit: fc.constantFrom(..."今日はがไทย၀မြ a.,「」¿%é-"), maxLength: 5 })
    .map((value) => new TextEncoder().encode(value));
  const vocabulary = fc.array(fc.oneof(bytes, text, script, fc.constant(null)), {
    minLength: 1,
    maxLength: 30,
  });

  test("spans are in order and never empty, and every token that is transcribed is in one", () => {
    fc.assert(
      fc.property(vocabulary, fc.constantFrom(null, "ja", "th", "en"), (tokenBytes, language) => {
        const tokens = [...tokenBytes.keys()];
        const words = wordsOfTokens(tokens, tokenBytes, language);
        let coveredUntil = 0;
        let spelledUntil = 0;
        for (const { firstToken, endToken, spoken } of words) {
          expect(endToken).toBeGreaterThan(firstToken);
          expect(firstToken).toBeGreaterThanOrEqual(spelledUntil - 1);
          spelledUntil = endToken;
          const { from, to } = spoken ?? { from: firstToken, to: endToken };
          expect(from).toBeGreaterThanOrEqual(Math.max(firstToken, coveredUntil));
          expect(to).toBeGreaterThan(from);
          expect(to).toBeLessThanOrEqual(endToken);
          coveredUntil = to;
        }
        for (const [token, piece] of tokenBytes.entries()) {
          if (!piece || !/[\p{L}\p{N}]/u.test(new TextDecoder().decode(piece))) continue;
          expect(words.some(({ firstToken, endToken }) => firstToken <= token && token < endToken)).toBe(
            true,
          );
        }
      }),
      { numRuns: 1000 },
    );
  });

  test("words together are the text without blanks and free marks", () => {
    const letters = (value: string) => value.replaceAll(/[^\p{L}\p{M}\p{N}\p{S}]/gu, "");
    fc.assert(
      fc.property(fc.array(fc.oneof(text, script)), fc.nat(), (pieces, seed) => {
        const whole = Buffer.concat(pieces);
        // The same bytes, cut elsewhere: characters lie across tokens.
        const cut: number[][] = [];
        for (const [index, byte] of whole.entries()) {
          if ((index * 7919 + seed) % 3 === 0 || cut.length === 0) cut.push([]);
          cut.at(-1)?.push(byte);
        }
        expect(letters(texts(...cut).join(""))).toBe(letters(new TextDecoder().decode(whole)));
      }),
    );
  });

  test("of a real vocabulary, nothing throws", async () => {
    const { tokenBytes } = await readWhisperModel(tinyWhisperModel);
    const token = fc.integer({ min: -1, max: tokenBytes.length + 1 });
    fc.assert(
      fc.property(fc.array(token, { maxLength: 60 }), (tokens) => {
        wordsOfTokens(tokens, tokenBytes, "es");
      }),
    );
  });
});
