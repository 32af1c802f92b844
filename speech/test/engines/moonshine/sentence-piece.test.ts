import { expect, test } from "vitest";
import { spelledWords } from "../../../src/engines/moonshine/sentence-piece.ts";

const texts = (pieces: string[]) => spelledWords(pieces).map(({ text }) => text);

test("joins pieces to words and says which tokens spell them", () => {
  expect(spelledWords(["▁coun", "try", ",", "▁ask"])).toEqual([
    { text: "country,", firstToken: 0, endToken: 3 },
    { text: "ask", firstToken: 3, endToken: 4 },
  ]);
});

test("takes a first piece without a word mark as the beginning of a word", () => {
  expect(texts(["And", "▁so"])).toEqual(["And", "so"]);
});

test("puts the bytes of a character together", () => {
  expect(texts(["▁caf", "<0xC3>", "<0xA9>", "▁♪"])).toEqual(["café", "♪"]);
});

test("gives free-standing punctuation to the word beside it", () => {
  expect(spelledWords(["▁(", "▁yes", "▁)", "▁–", "▁no"])).toEqual([
    { text: "(yes)–", firstToken: 0, endToken: 4 },
    { text: "no", firstToken: 4, endToken: 5 },
  ]);
});

test("keeps signs that are spoken", () => {
  expect(texts(["▁salt", "▁&", "▁pepper", "▁50", "▁%"])).toEqual(["salt", "&", "pepper", "50", "%"]);
});

test("leaves out control tokens, blanks and punctuation without a word", () => {
  expect(texts(["▁...", "▁", "<unk>", "</s>"])).toEqual([]);
});
