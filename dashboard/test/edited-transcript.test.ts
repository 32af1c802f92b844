import type { EditableWord } from "@subtext/client/contract/transcript-words";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkWords } from "../../server/src/corrections/check-words.ts";
import { describeChanges } from "../src/features/video-detail/correction/compare-words.ts";
import {
  changeText,
  confirmWord,
  type EditedTranscript,
  findLowConfidenceWord,
  findSpokenWord,
  joinParagraphs,
  paragraphText,
  renameSpeaker,
  setSpeaker,
  splitIntoParagraphs,
} from "../src/features/video-detail/correction/edited-transcript.ts";
import { mergeWords } from "../src/features/video-detail/correction/merge-words.ts";
import { Typing } from "../src/features/video-detail/correction/paragraphs/typing.ts";
import { findMatches, replaceAll } from "../src/features/video-detail/correction/replace-text.ts";

/** One word per second, each half a second long. */
function speak(
  text: string,
  { speaker = null as string | null, channel = null as number | null, from = 0 } = {},
): EditableWord[] {
  return text.split(" ").map((word, index) => ({
    word,
    start: from + index,
    end: from + index + 0.5,
    speaker,
    channel,
    confidence: 0.9,
  }));
}

const DURATION = 100;
const edit = (text: string, newText: string) => changeText([speak(text)], 0, newText, DURATION)[0]!;
const times = (words: readonly EditableWord[]) =>
  words.map(({ word, start, end }) => `${word} ${start}-${end}`);

describe("a change of the text", () => {
  test("keeps a replaced word's time, and every other word entirely", () => {
    const words = edit("we met Jon today", "we met John today");
    const [we, met, , today] = speak("we met Jon today");
    expect(words).toEqual([
      we,
      met,
      { word: "John", start: 2, end: 2.5, speaker: null, confidence: null, channel: null },
      today,
    ]);
    expect(words[3]).toEqual(today);
  });

  test("distributes the time of replaced words in proportion to the length of the new ones", () => {
    expect(times(edit("a xxxx b", "a xx yyyyyy b"))).toEqual([
      "a 0-0.5",
      "xx 1-1.125",
      "yyyyyy 1.125-1.5",
      "b 2-2.5",
    ]);
    expect(times(edit("an other day", "another day"))).toEqual(["another 0-1.5", "day 2-2.5"]);
    expect(times(edit("another day", "an other day"))).toEqual([
      "an 0-0.143",
      "other 0.143-0.5",
      "day 1-1.5",
    ]);
  });

  test("puts an inserted word into the pause at its place", () => {
    expect(times(edit("a b", "a new b"))).toEqual(["a 0-0.5", "new 0.5-1", "b 1-1.5"]);
    const close = [
      { ...speak("a")[0]!, end: 1 },
      { ...speak("b")[0]!, start: 1, end: 2 },
    ];
    expect(times(changeText([close], 0, "a new b", DURATION)[0]!)).toEqual(["a 0-1", "new 1-1", "b 1-2"]);
  });

  test("inserts before the first word and after the last one, next to them", () => {
    const late = speak("b c", { from: 10 });
    expect(times(changeText([late], 0, "a b c", DURATION)[0]!)).toEqual([
      "a 9.5-10",
      "b 10-10.5",
      "c 11-11.5",
    ]);
    expect(times(edit("a", "a b"))).toEqual(["a 0-0.5", "b 0.5-1"]);
    expect(times(changeText([speak("a"), speak("z", { from: 60 })], 0, "a b", DURATION)[0]!)).toEqual([
      "a 0-0.5",
      "b 0.5-1",
    ]);
  });

  test("inserts next to a paragraph that was emptied without overlapping the words beyond it", () => {
    const transcript = [speak("a"), [], speak("b", { from: 1 })];
    expect(times(changeText(transcript, 0, "a new words here", DURATION)[0]!).at(-1)).toMatch(/-1$/);
    expect(times(changeText(transcript, 2, "new b", DURATION)[2]!)[0]).toBe("new 0.5-1");
  });

  test("deletes words without changing others", () => {
    expect(times(edit("a um b", "a b"))).toEqual(["a 0-0.5", "b 2-2.5"]);
    expect(edit("a", "")).toEqual([]);
  });

  test("makes punctuation between spaces a part of a word, like the server", () => {
    for (const newText of ["a , b", "a ¿ b"]) {
      const words = edit("a b", newText);
      expect(words.map(({ start, end }) => [start, end])).toEqual([
        [0, 0.5],
        [1, 1.5],
      ]);
      expect(words).toEqual(checkWords(words, DURATION));
    }
  });

  test("of spaces alone changes nothing", () => {
    const transcript = [speak("a b")];
    expect(changeText(transcript, 0, "a  b ", DURATION)).toBe(transcript);
  });

  test("works in scripts without spaces", () => {
    const words = speak("你好 世界").map((word, index) => ({
      ...word,
      start: index / 2,
      end: index / 2 + 0.5,
    }));
    expect(paragraphText(words).text).toBe("你好世界");
    const changed = changeText([words], 0, "你们好世界", DURATION)[0]!;
    expect(paragraphText(changed).text).toBe("你们好世界");
    expect(changed.at(-1)).toEqual(words[1]);
  });
});

describe("typing", () => {
  /** Types each text in turn into the paragraph. */
  function typeAll(text: string, ...texts: string[]): readonly EditableWord[] {
    const typing = new Typing(DURATION);
    let transcript: EditedTranscript = [speak(text)];
    let before = text;
    for (const after of texts) {
      transcript = typing.apply(transcript, { paragraph: 0, before, after });
      before = after;
    }
    return transcript[0]!;
  }

  test("gives a word that is deleted and typed again its former time", () => {
    expect(times(typeAll("a cat sat", "a  sat", "a d sat", "a do sat", "a dog sat"))).toEqual([
      "a 0-0.5",
      "dog 1-1.5",
      "sat 2-2.5",
    ]);
  });

  test("lets words that are inserted letter by letter share the pause", () => {
    expect(times(typeAll("a b", "a x b", "a x  b", "a x y b"))).toEqual([
      "a 0-0.5",
      "x 0.5-0.75",
      "y 0.75-1",
      "b 1-1.5",
    ]);
  });

  test("at two places keeps the words between them, also with a double space", () => {
    const [, b, c] = speak("a b c d");
    const words = typeAll("a b c d", "A b c d", "A  b c d", "A  b c D");
    expect(words.slice(1, 3)).toEqual([b, c]);
    expect(times(words)).toEqual(["A 0-0.5", "b 1-1.5", "c 2-2.5", "D 3-3.5"]);
  });
});

describe("after any sequence of edits", () => {
  const PIECES = ["", " ", "a", "word", "no-one", "it's", "世界", "42 ", "ไทย", " x y ", "!"];
  const edits = fc.array(
    fc.record({
      paragraph: fc.nat(5),
      from: fc.nat(60),
      length: fc.nat(20),
      text: fc.array(fc.constantFrom(...PIECES), { maxLength: 4 }).map((pieces) => pieces.join("")),
    }),
    { minLength: 1, maxLength: 25 },
  );
  const START = splitIntoParagraphs([
    ...speak("one two three. four five six"),
    ...speak("seven eight nine", { from: 20, speaker: "Ada" }),
    ...speak("今日 天気 です", { from: 40 }),
  ]);

  test("the words are in order and within the recording, and the page's text is what was typed", () => {
    fc.assert(
      fc.property(edits, (steps) => {
        let transcript: EditedTranscript = START;
        for (const { paragraph, from, length, text } of steps) {
          const index = paragraph % transcript.length;
          const old = paragraphText(transcript[index]!).text;
          const typed = old.slice(0, from) + text + old.slice(from + length);
          transcript = changeText(transcript, index, typed, DURATION);
          const compact = (value: string) => value.replace(/\s/g, "");
          expect(compact(paragraphText(transcript[index]!).text)).toBe(compact(typed));
        }
        let end = 0;
        for (const word of transcript.flat()) {
          expect(word.word).not.toBe("");
          expect(word.start).toBeGreaterThanOrEqual(end);
          expect(word.end).toBeGreaterThanOrEqual(word.start);
          end = word.end;
        }
        expect(end).toBeLessThanOrEqual(DURATION);
      }),
      { numRuns: 300 },
    );
  });

  test("untouched words keep their times exactly", () => {
    fc.assert(
      fc.property(fc.nat(5), fc.constantFrom("x", "new words", ""), (index, text) => {
        const words = speak("one two three four five six");
        const typed = words.map(({ word }, at) => (at === index ? text : word)).join(" ");
        const changed = changeText([words], 0, typed, DURATION)[0]!;
        expect(changed.slice(0, index)).toEqual(words.slice(0, index));
        expect(changed.slice(changed.length - (5 - index))).toEqual(words.slice(index + 1));
      }),
    );
  });
});

test("a paragraph begins where the speaker changes", () => {
  const words = [...speak("a b", { speaker: "Ada" }), ...speak("c", { from: 2, speaker: "Bob" })];
  expect(splitIntoParagraphs(words).map(({ length }) => length)).toEqual([2, 1]);
});

test("paragraphs of one speaker are joined, and those of two are not", () => {
  const [a, b, c] = [speak("a"), speak("b", { from: 10 }), speak("c", { from: 20, speaker: "Ada" })];
  expect(joinParagraphs([a, b, c], 1)).toEqual([[...a, ...b], c]);
  expect(joinParagraphs([a, [], c], 2)).toEqual([a, c]);
  for (const [transcript, index] of [
    [[a, c], 1],
    [[a, b], 0],
    [[speak("a", { channel: 1 }), speak("b", { channel: 2, from: 1 })], 1],
  ] as const) {
    expect(joinParagraphs(transcript, index)).toBe(transcript);
  }
});

test("a named speaker gets a paragraph, and a new name replaces the old one everywhere", () => {
  const named = setSpeaker([speak("a b c")], { paragraph: 0, from: 1, to: 2 }, "Ada");
  expect(named.map((paragraph) => paragraph.map(({ word, speaker }) => [word, speaker]))).toEqual([
    [["a", null]],
    [["b", "Ada"]],
    [["c", null]],
  ]);
  const renamed = renameSpeaker([...named, ...named], { speaker: "Ada", channel: null }, "Grace");
  expect(renamed.flat().map(({ speaker }) => speaker)).toEqual([null, "Grace", null, null, "Grace", null]);
});

test("a channel is named in one step, except where somebody was named before", () => {
  const words = [
    ...speak("a b", { channel: 1 }),
    ...speak("c", { channel: 2, from: 2 }),
    ...speak("d", { channel: 1, from: 3, speaker: "Bo" }),
    ...speak("e", { channel: 1, from: 4 }),
  ];
  const transcript = splitIntoParagraphs(words);
  expect(transcript.map(({ length }) => length)).toEqual([2, 1, 1, 1]);
  const named = renameSpeaker(transcript, { speaker: null, channel: 1 }, "Ada");
  expect(named.flat().map(({ speaker }) => speaker)).toEqual(["Ada", "Ada", null, "Bo", "Ada"]);
});

test("new words have the channel of the words that they replace or follow", () => {
  const transcript = splitIntoParagraphs([
    ...speak("a b", { channel: 1 }),
    ...speak("c", { channel: 2, from: 2 }),
  ]);
  const changed = changeText(changeText(transcript, 0, "a bee", DURATION), 1, "c d", DURATION);
  expect(changed.flat().map(({ word, channel }) => [word, channel])).toEqual([
    ["a", 1],
    ["bee", 1],
    ["c", 2],
    ["d", 2],
  ]);
});

test("the review steps through words of low confidence in both directions, and skips confirmed ones", () => {
  const doubtful = (text: string) => speak(text).map((word) => ({ ...word, confidence: 0.3 }));
  const transcript = [speak("a"), doubtful("b c"), speak("d"), doubtful("e")];
  const first = findLowConfidenceWord(transcript, { paragraph: 0, word: -1 }, 1);
  expect(first).toEqual({ paragraph: 1, word: 0 });
  const confirmed = confirmWord(transcript, { paragraph: 1, word: 1 });
  expect(findLowConfidenceWord(confirmed, first!, 1)).toEqual({ paragraph: 3, word: 0 });
  expect(findLowConfidenceWord(transcript, { paragraph: 3, word: 0 }, -1)).toEqual({ paragraph: 1, word: 1 });
  expect(findLowConfidenceWord(transcript, { paragraph: 3, word: 0 }, 1)).toBeNull();
});

test("the spoken word is found by its time, and none in a pause", () => {
  const transcript = [speak("a b"), speak("c", { from: 10 })];
  expect(findSpokenWord(transcript, 1.2)).toEqual({ paragraph: 0, word: 1 });
  expect(findSpokenWord(transcript, 10)).toEqual({ paragraph: 1, word: 0 });
  expect(findSpokenWord(transcript, 5)).toBeNull();
});

test("find and replace shows each match with its context and keeps the times of all other words", () => {
  const transcript = [speak("Sub text is SUB TEXT"), speak("no sub", { from: 20 })];
  expect(findMatches(transcript, { text: "sub text", matchCase: false })).toMatchObject([
    { paragraph: 0, before: "", match: "Sub text", after: " is SUB TEXT" },
    { paragraph: 0, before: "Sub text is ", match: "SUB TEXT", after: "" },
  ]);
  const replaced = replaceAll(
    transcript,
    { text: "sub text", matchCase: false },
    { text: "Subtext", durationSeconds: DURATION },
  );
  expect(times(replaced[0]!)).toEqual(["Subtext 0-1.5", "is 2-2.5", "Subtext 3-4.5"]);
  expect(replaced[1]).toBe(transcript[1]);
  expect(findMatches(transcript, { text: "a.b", matchCase: true })).toEqual([]);
});

describe("merging", () => {
  const base = speak("the cat sat on the mat");
  const change = (words: EditableWord[], index: number, word: string) =>
    words.with(index, { ...words[index]!, word, confidence: null });

  test("keeps both changes of different words", () => {
    const { words, conflicts } = mergeWords(base, change(base, 1, "dog"), change(base, 5, "rug"));
    expect(words.map(({ word }) => word).join(" ")).toBe("the dog sat on the rug");
    expect(conflicts).toEqual([]);
  });

  test("keeps my change of a word that both changed, and reports theirs", () => {
    const { words, conflicts } = mergeWords(base, change(base, 1, "dog"), change(base, 1, "cow"));
    expect(words[1]!.word).toBe("dog");
    expect(conflicts).toEqual([{ mine: "dog", theirs: "cow" }]);
  });

  test("keeps a corrected word and the name that another person gave its speaker", () => {
    const named = base.map((word) => ({ ...word, speaker: "Ada" }));
    const { words, conflicts } = mergeWords(base, change(base, 1, "dog"), named);
    expect(words.map(({ word, speaker }) => `${speaker} ${word}`)).toEqual(
      ["the", "dog", "sat", "on", "the", "mat"].map((word) => `Ada ${word}`),
    );
    expect(conflicts).toEqual([]);
  });

  test("gives a corrected word the name of its channel and of no other", () => {
    const call = [...speak("the cat", { channel: 1 }), ...speak("sat", { channel: 2, from: 2 })];
    const named = call.map((word) => ({ ...word, speaker: word.channel === 1 ? "Ada" : "Bo" }));
    const { words } = mergeWords(call, change(call, 1, "dog"), named);
    expect(words.map(({ word, speaker }) => `${speaker} ${word}`)).toEqual(["Ada the", "Ada dog", "Bo sat"]);
  });

  test("reports once that two people named a speaker differently", () => {
    const name = (speaker: string) => base.map((word) => ({ ...word, speaker }));
    const { words, conflicts } = mergeWords(base, name("Ada"), name("Bob"));
    expect(words[0]!.speaker).toBe("Ada");
    expect(conflicts).toEqual([{ mine: "Ada:", theirs: "Bob:" }]);
  });

  test("reports no conflict if both made the same change", () => {
    expect(mergeWords(base, change(base, 1, "dog"), change(base, 1, "dog")).conflicts).toEqual([]);
  });

  test("keeps the speaker that another person named after the same change", () => {
    const joined = edit("an other day", "another day");
    const named = joined.map((word) => ({ ...word, speaker: "Ada" }));
    const { words, conflicts } = mergeWords(speak("an other day"), joined, named);
    expect(words.map(({ word, speaker }) => `${speaker} ${word}`)).toEqual(["Ada another", "Ada day"]);
    expect(conflicts).toEqual([]);
  });

  test("renames inserted words, and words of a second speaker, like the words around them", () => {
    const by = (speaker: string, words: EditableWord[]) => words.map((word) => ({ ...word, speaker }));
    const [the, day] = by("Anna", speak("the day")) as [EditableWord, EditableWord];
    const inserted = { ...the, word: "new", start: the.end, end: day.start };
    const mine = [the, inserted, day];
    const before = [the, { ...day, speaker: "Ben" }];
    const changed = before.map((word) => ({ ...word, word: `${word.word}s` }));
    for (const [base, mineNow, theirs] of [
      [[the, day], mine, by("Bob", mine)],
      [before, changed, [changed[0]!, { ...changed[1]!, speaker: "Bob" }]],
    ] as const) {
      const { words, conflicts } = mergeWords(base, mineNow, theirs);
      expect(words.map(({ speaker }) => speaker)).toEqual(theirs.map(({ speaker }) => speaker));
      expect(conflicts).toEqual([]);
    }
  });

  test("of any two edits loses no change silently and keeps the order", () => {
    const word = fc.constantFrom("the", "cat", "x", "on");
    const changes = fc.array(fc.record({ index: fc.nat(5), word }), { maxLength: 4 });
    fc.assert(
      fc.property(changes, changes, (mine, theirs) => {
        const apply = (list: typeof mine) =>
          list.reduce((words, each) => change(words, each.index, each.word), base);
        const [a, b] = [apply(mine), apply(theirs)];
        const { words, conflicts } = mergeWords(base, a, b);
        for (const [index, original] of base.entries()) {
          const [ours, others] = [a[index]!, b[index]!];
          const isKept = (each: EditableWord) =>
            words.some(({ word, start }) => word === each.word && start === each.start);
          if (ours.word !== original.word) expect(isKept(ours)).toBe(true);
          const isReported = conflicts.some(({ theirs: lost }) => lost.split(" ").includes(others.word));
          if (others.word !== original.word) expect(isKept(others) || isReported).toBe(true);
        }
        expect(words.every(({ start }, index) => index === 0 || start >= words[index - 1]!.end)).toBe(true);
      }),
    );
  });
});

test("the difference of two revisions names removed and added words and omits distant text", () => {
  const before = speak(Array.from({ length: 40 }, (_, index) => `w${index}`).join(" "));
  const after = before.with(20, { ...before[20]!, word: "new" });
  expect(describeChanges(before, after)).toEqual([
    { kind: "same", text: "… w14 w15 w16 w17 w18 w19" },
    { kind: "removed", text: "w20" },
    { kind: "added", text: "new" },
    { kind: "same", text: "w21 w22 w23 w24 w25 w26 …" },
  ]);
  const named = before.map((word) => ({ ...word, speaker: "Ada" }));
  expect(describeChanges(before, named)).toEqual([
    { kind: "added", text: "Ada:" },
    { kind: "same", text: "w0 w1 w2 w3 w4 w5 …" },
  ]);
  const dialog = [...speak("a", { speaker: "Ada" }), ...speak("b", { speaker: "Bob", from: 1 })];
  const monolog = dialog.map((word) => ({ ...word, speaker: "Ada" }));
  expect(describeChanges(dialog, monolog)).toContainEqual({ kind: "added", text: "Ada:" });
  expect(describeChanges(before, before)).toEqual([]);
});
