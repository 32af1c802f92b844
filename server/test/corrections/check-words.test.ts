import { normalizeWords } from "@subtext/captions/words";
import { MAX_TRANSCRIPT_LENGTH, MAX_TRANSCRIPT_WORDS } from "@subtext/client/contract/transcript-words";
import { expect, test } from "vitest";
import { checkWords } from "../../src/corrections/check-words.ts";
import { renderFiles } from "../../src/transcription/render.ts";

const repeated = (word: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({ word, start: index, end: index + 1 }));

test.each([
  ["too many words", repeated("a", MAX_TRANSCRIPT_WORDS + 1), `${MAX_TRANSCRIPT_WORDS} words`],
  ["words that are split into too many", repeated("ไป".repeat(80), 5_000), `${MAX_TRANSCRIPT_WORDS} words`],
  ["too many characters", repeated("a".repeat(200), 7_501), `${MAX_TRANSCRIPT_LENGTH} characters`],
])("a transcript of %s is refused", (_what, words, limit) => {
  expect(() => checkWords(words, words.length)).toThrow(
    expect.objectContaining({ code: "invalid_words", message: expect.stringContaining(limit) }),
  );
});

test("the largest transcript is accepted", () => {
  const words = repeated("a", MAX_TRANSCRIPT_WORDS);
  expect(checkWords(words, words.length)).toHaveLength(MAX_TRANSCRIPT_WORDS);
});

// With a regular expression that takes quadratic time, these take longer than the test's timeout.
test.each(["'", "\u00a0"])("a word with a long run of %j inside is rendered", (character) => {
  const word = `a${character.repeat(100_000)}a`;
  const files = renderFiles(normalizeWords([{ word, start: 0, end: 1 }], 1), "en");
  expect(Buffer.from(files.txt).toString()).toContain(word);
});
