import type { EditableWord } from "@subtext/client/contract/transcript-words";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type EditedTranscript,
  type Paragraph,
  paragraphText,
} from "../src/features/video-detail/correction/edited-transcript.ts";
import { movePlace } from "../src/features/video-detail/correction/paragraphs/moved-place.ts";
import {
  findRange,
  replaceRange,
  setSpeakerOfRange,
  textOfRange,
  wordsOfRange,
} from "../src/features/video-detail/correction/paragraphs/word-range.ts";

/** Each word takes one second; the paragraphs begin at 0, 10 and 20. */
function transcriptOf(...paragraphs: [speaker: string, text: string][]): EditedTranscript {
  return paragraphs.map(([speaker, text], paragraph) =>
    text.split(" ").map((word, index): EditableWord => {
      const start = paragraph * 10 + index;
      return { word, start, end: start + 1, speaker, channel: null, confidence: 0.9 };
    }),
  );
}

const summary = (transcript: EditedTranscript) =>
  transcript.map((words) => [
    words[0]?.speaker,
    ...words.map(({ word, start, end }) => `${word} ${start}-${end}`),
  ]);
const RANGE = { from: { paragraph: 0, word: 1 }, to: { paragraph: 2, word: 1 } };
const ONE = transcriptOf(["Ada", "one two three"], ["Ada", "four five"], ["Ada", "six seven"]);
const TWO = transcriptOf(["Ada", "one two three"], ["Bo", "four five"], ["Bo", "six seven"]);

test("what is left of two paragraphs of one speaker becomes one paragraph", () => {
  const { transcript, caret } = replaceRange(ONE, RANGE, "", 60);
  expect(summary(transcript)).toEqual([["Ada", "one 0-1", "seven 21-22"]]);
  expect(caret).toEqual({ paragraph: 0, offset: 3 });
});

test("what is left of the paragraphs of two speakers stays apart", () => {
  const { transcript, caret } = replaceRange(TWO, RANGE, "", 60);
  expect(summary(transcript)).toEqual([
    ["Ada", "one 0-1"],
    ["Bo", "seven 21-22"],
  ]);
  expect(caret).toEqual({ paragraph: 0, offset: 3 });
});

test("new words take over the time of the range and the speaker of its first word", () => {
  const { transcript, caret } = replaceRange(TWO, RANGE, "abcd ef\n\ngh", 60);
  expect(summary(transcript)).toEqual([
    ["Ada", "one 0-1", "abcd 1-11", "ef 11-16", "gh 16-21"],
    ["Bo", "seven 21-22"],
  ]);
  expect(caret).toEqual({ paragraph: 0, offset: 14 });
});

test("replacing a range with its own text changes nothing", () => {
  const { transcript } = replaceRange(TWO, RANGE, textOfRange(TWO, RANGE), 60);
  expect(transcript).toBe(TWO);
});

test("an empty transcript keeps a paragraph to type into", () => {
  const all = { from: { paragraph: 0, word: 0 }, to: { paragraph: 2, word: 2 } };
  expect(replaceRange(TWO, all, "", 60)).toEqual({ transcript: [[]], caret: { paragraph: 0, offset: 0 } });
});

test("the text of a range has an empty line between paragraphs", () => {
  expect(textOfRange(TWO, RANGE)).toBe("two three\n\nfour five\n\nsix");
});

test("a speaker is set for the words of a range, which is found again after other changes", () => {
  const ends = [TWO[0]![1]!, TWO[2]![0]!] as const;
  const range = findRange([[], ...TWO], TWO, ends);
  expect(range).toEqual({ from: { paragraph: 1, word: 1 }, to: { paragraph: 3, word: 1 } });
  expect(findRange(TWO.slice(1), TWO, ends)).toBeNull();
  expect(summary(setSpeakerOfRange(TWO, RANGE, "Cy"))).toEqual([
    ["Ada", "one 0-1"],
    ["Cy", "two 1-2", "three 2-3"],
    ["Cy", "four 10-11", "five 11-12"],
    ["Cy", "six 20-21"],
    ["Bo", "seven 21-22"],
  ]);
});

test("a range is found again even if words have no duration, the same start or the same text", () => {
  const words = fc.array(
    fc.record({ word: fc.constantFrom("a", "b"), seconds: fc.nat(1), begins: fc.boolean() }),
    {
      minLength: 1,
      maxLength: 12,
    },
  );
  fc.assert(
    fc.property(words, fc.nat(11), fc.nat(11), (drawn, a, b) => {
      let end = 0;
      const before = drawn.map(({ word, seconds }): EditableWord => {
        const start = end;
        end += seconds;
        return { word, start, end, speaker: null, channel: null, confidence: null };
      });
      const [from, to] = [a % drawn.length, b % drawn.length].sort((x, y) => x - y) as [number, number];
      // A merge creates new objects, and may begin other paragraphs.
      const after: EditableWord[][] = [[]];
      for (const [index, word] of before.entries()) {
        if (drawn[index]!.begins) after.push([]);
        after.at(-1)!.push({ ...word });
      }
      const range = findRange(after, [before], [before[from]!, before[to]!])!;
      const wordsBefore = after.slice(0, range.from.paragraph).flat().length + range.from.word;
      expect(wordsBefore).toBe(from);
      expect(wordsOfRange(after, range)).toEqual(before.slice(from, to + 1));
    }),
  );
});

describe("a caret", () => {
  const [first, second, third] = ONE as [Paragraph, Paragraph, Paragraph];
  const inFive = { paragraph: 1, word: 1, inWord: 2 };
  /** Returns the paragraph with the caret; `_` stands for one that belongs to none of the adjacent words. */
  const moved = (after: EditedTranscript, place = inFive, before = ONE) => {
    const { paragraph, offset, isBetween } = movePlace(place, before, after);
    const { text } = paragraphText(after[paragraph]!);
    return `${text.slice(0, offset)}${isBetween ? "_" : "|"}${text.slice(offset)}`;
  };

  test("stays in its word if paragraphs are joined, split, added or removed", () => {
    expect(moved([[...first, ...second], third])).toBe("one two three four fi|ve");
    expect(moved([first, second.slice(0, 1), [...second.slice(1), ...third]])).toBe("fi|ve six seven");
    expect(moved([second, third])).toBe("four fi|ve");
    expect(moved([first.slice(0, 1), first.slice(1), second, third])).toBe("four fi|ve");
  });

  test("moves to the word that replaced its own, or to the last one of them", () => {
    expect(moved([[first[0]!], [...first.slice(1), second[0]!, { ...second[1]!, word: "5" }], third])).toBe(
      "two three four 5|",
    );
    expect(moved([first, [{ ...second[0]!, word: "45", end: 12 }], third])).toBe("45|");
  });

  test("stays between the adjacent words if its own was deleted, or if a space separates it from that", () => {
    expect(moved([first, second.slice(0, 1), third])).toBe("four_");
    expect(moved([[...first, ...second.slice(0, 1), ...third]])).toBe("one two three four_ six seven");
    expect(moved([first, second.slice(1), third], { ...inFive, word: 0 })).toBe("_five");
    expect(moved([first, third])).toBe("_six seven");
    expect(moved([[...first, ...third]])).toBe("one two three_ six seven");
    expect(moved([first])).toBe("one two three_");
    expect(moved([[]])).toBe("_");
    expect(moved(ONE, { ...inFive, inWord: 5 })).toBe("four five_");
  });

  test("in an empty paragraph moves to the start of the next", () => {
    const place = { paragraph: 1, word: 0, inWord: 0 };
    expect(moved([first, third], place, [first, [], third])).toBe("_six seven");
  });
});
