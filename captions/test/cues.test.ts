import { type Cue, layOutCues } from "@subtext/captions/cues";
import { joinWords } from "@subtext/captions/script";
import { normalizeWords, type Word } from "@subtext/captions/words";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { language, linesOf, speak, speech } from "./speech.ts";

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });
const FULL_WIDTH =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff01-\uff60]/u;

/** Returns the words of each line by matching the lines with the words. Fails if a word is split or missing. */
function wordsOfLines(cues: readonly Cue[], words: readonly Word[]): Word[][][] {
  let at = 0;
  const found = cues.map((cue) =>
    cue.lines.map((line) => {
      const from = at;
      do at++;
      while (at < words.length && joinWords(words.slice(from, at)).length < line.length);
      expect(joinWords(words.slice(from, at))).toBe(line);
      return words.slice(from, at);
    }),
  );
  expect(at).toBe(words.length);
  return found;
}

function forAllSpeech(check: (words: Word[], cues: Cue[]) => void): void {
  fc.assert(
    fc.property(speech, language, (raw, code) => {
      const words = normalizeWords(raw, 400_000);
      check(words, layOutCues(words, { language: code }));
    }),
    { numRuns: 200 },
  );
}

describe("captions of any speech", () => {
  test("contain every word once, in order and unsplit", () => {
    forAllSpeech((words, cues) => {
      if (words.length > 0) wordsOfLines(cues, words);
      else expect(cues).toEqual([]);
    });
  });

  test("are in order, do not overlap, and end after they start", () => {
    forAllSpeech((_, cues) => {
      for (const [index, { start, end }] of cues.entries()) {
        expect(end).toBeGreaterThan(start);
        expect(start).toBeGreaterThanOrEqual(cues[index - 1]?.end ?? 0);
        expect([start, end]).toEqual([Number(start.toFixed(3)), Number(end.toFixed(3))]);
      }
    });
  });

  test("have one or two lines, each with at most 42 characters, 16 full-width characters, or a single word", () => {
    forAllSpeech((words, cues) => {
      for (const lines of wordsOfLines(cues, words)) {
        expect([1, 2]).toContain(lines.length);
        for (const line of lines.filter((entry) => entry.length > 1)) {
          const characters = [...graphemes.segment(joinWords(line))].map((entry) => entry.segment);
          expect(characters.length).toBeLessThanOrEqual(42);
          expect(characters.filter((character) => FULL_WIDTH.test(character)).length).toBeLessThanOrEqual(16);
        }
      }
    });
  });

  test("begin with their first word, and end with their last word or shortly after it", () => {
    forAllSpeech((words, cues) => {
      let previousEnd = 0;
      for (const [index, lines] of wordsOfLines(cues, words).entries()) {
        const cue = cues[index]!;
        const spoken = lines.flat();
        expect(cue.start).toBe(Math.max(spoken[0]!.start, previousEnd));
        previousEnd = cue.end;
        const lastEnd = spoken.at(-1)!.end;
        // Only a single word may be longer than the maximum duration of a caption.
        if (spoken.length > 1 || cue.end - cue.start < 6.999) expect(cue.end).toBeGreaterThanOrEqual(lastEnd);
        expect(cue.end - Math.max(lastEnd, cue.start)).toBeLessThanOrEqual(1.2501);
      }
    });
  });

  test("last at most seven seconds, and less than one second only if the next caption follows immediately", () => {
    forAllSpeech((_, cues) => {
      for (const [index, { start, end }] of cues.entries()) {
        expect(end - start).toBeLessThanOrEqual(7.0001);
        if (end - start < 0.999 && index < cues.length - 1) expect(cues[index + 1]!.start).toBe(end);
      }
      const last = cues.at(-1);
      if (last) expect(last.end - last.start).toBeGreaterThan(0.999);
    });
  });

  test("never span a pause of two seconds", () => {
    forAllSpeech((words, cues) => {
      for (const lines of wordsOfLines(cues, words)) {
        const spoken = lines.flat();
        for (let i = 1; i < spoken.length; i++) expect(spoken[i]!.start - spoken[i - 1]!.end).toBeLessThan(2);
      }
    });
  });
});

test("captions of speech at a normal pace have at most 20 characters per second and last at least a second", () => {
  const usual = fc.array(
    fc.tuple(
      fc.constantFrom("so", "the", "house", "again", "water,", "going", "there.", "yes.", "people"),
      fc.constantFrom(0, 0, 0, 0, 0.1, 0.3, 0.7, 1.2, 3),
    ),
    { minLength: 1, maxLength: 150 },
  );
  fc.assert(
    fc.property(usual, (parts) => {
      for (const { start, end, lines } of layOutCues(speak(parts.flat(), 0.4), { language: "en" })) {
        expect(end - start).toBeGreaterThan(0.999);
        expect(lines.join(" ").length / (end - start)).toBeLessThanOrEqual(20.001);
      }
    }),
  );
});

test("captions do not mix channels, and change with the channel even inside a sentence", () => {
  const words = speak(["I", "think", "we", "yes", "should", "go."], 0.3).map((word, index) => ({
    ...word,
    channel: index === 3 ? 2 : 1,
  }));
  const captions = layOutCues(words, { language: "en" });
  expect(captions.map(({ lines }) => lines)).toEqual([["I think we"], ["yes"], ["should go."]]);
});

describe("English", () => {
  const en = { language: "en" };

  test("breaks at sentences, then clauses, and balances lines", () => {
    const words = speak([
      "I am sitting in a room different from the one you are in now.",
      "I am recording the sound of my speaking voice and I am going to play it back into the room again and again until the resonant frequencies of the room reinforce themselves.",
    ]);
    expect(linesOf(layOutCues(words, en))).toMatchInlineSnapshot(`
      [
        [
          "I am sitting in a room different",
          "from the one you are in now.",
        ],
        [
          "I am recording the sound",
          "of my speaking voice and I am going",
        ],
        [
          "to play it back into the room again",
          "and again until the resonant frequencies",
        ],
        [
          "of the room reinforce themselves.",
        ],
      ]
    `);
  });

  test("keeps sentences together that are too short for a caption of their own", () => {
    expect(linesOf(layOutCues(speak(["Yes. I know what you mean."], 0.25), en))).toEqual([
      ["Yes. I know what you mean."],
    ]);
  });

  test("does not treat the period of a title or of initials as the end of a sentence", () => {
    const words = speak([
      "The doors were opened to the guests by Mr. Smith and by J. F. Kennedy of the U.S. Senate.",
    ]);
    for (const lines of linesOf(layOutCues(words, en))) expect(lines.at(-1)).not.toMatch(/(Mr|J|F|U\.S)\.$/);
  });

  test("breaks unpunctuated text at a pause", () => {
    const words = speak(["this is the first thing that was said", 0.9, "and this came after it"], 0.3);
    expect(linesOf(layOutCues(words, en))).toEqual([
      ["this is the first thing that was said"],
      ["and this came after it"],
    ]);
  });

  test("keeps a short caption on screen for a second, but not beyond the start of the next caption", () => {
    expect(layOutCues(speak(["Stop!", 5, "Go!"], 0.2), en).map(({ start, end }) => [start, end])).toEqual([
      [0, 1],
      [5.2, 6.2],
    ]);
  });

  test("extends a caption of fast speech to 20 characters per second, by at most a second", () => {
    const ends = (text: string, seconds: number) => {
      const each = seconds / text.split(" ").length;
      return layOutCues(speak([text], each), en).map(({ end }) => Math.round(end * 1000));
    };
    expect(ends("these are thirty characters ok", 1)).toEqual([1500]);
    expect(ends("these are not more than forty characters", 0.5)).toEqual([1500]);
  });

  test("does not end a caption before its last word if the words are long", () => {
    const cues = layOutCues(speak(["one two three"], 2.4), en);
    expect(linesOf(cues).flat().join(" ")).toBe("one two three");
    expect(cues.at(-1)!.end).toBeGreaterThanOrEqual(7.2);
  });

  test("ends a caption at a pause of two seconds, even if the next caption is then too short to read", () => {
    const words = [
      { word: "one", start: 0, end: 0.5 },
      { word: "two", start: 2.55, end: 2.65 },
      { word: "three", start: 2.65, end: 9.8 },
    ];
    expect(linesOf(layOutCues(words, en))).toEqual([["one"], ["two"], ["three"]]);
  });

  test("extends a caption to the next one if the gap is short enough to flicker", () => {
    const words = speak(["This is a whole sentence here.", 0.2, "And this is the next one."], 0.4);
    const [first, second] = layOutCues(words, en);
    expect(first!.end).toBe(second!.start);
    expect(second!.start).toBe(2.6);
  });

  test("gives a word that is wider than a line a line to itself", () => {
    const long = "https://example.com/a-very-long-address/that-nobody-reads/aloud";
    expect(linesOf(layOutCues(speak([`See ${long} today`]), en)).flat()).toEqual(["See", long, "today"]);
  });

  test("shows captions with identical times one after another", () => {
    const words = speak([Array.from({ length: 40 }, () => "word").join(" ")], 0, 5);
    const cues = layOutCues(words, en);
    expect(cues.map((cue) => cue.start)).toEqual(cues.map((_, index) => 5 + index / 1000));
  });
});

describe("scripts and languages", () => {
  test("German compounds are not split", () => {
    const words = speak([
      "Die Donaudampfschifffahrtsgesellschaft hat das Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz gelesen.",
    ]);
    expect(linesOf(layOutCues(words, { language: "de" })).flat()).toContain(
      "Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz",
    );
  });

  test("Spanish captions break before an opening question mark", () => {
    const words = speak([
      "Vamos a la casa de mi abuela mañana ¿quieres venir con nosotros a comer algo rico?",
    ]);
    expect(
      linesOf(layOutCues(words, { language: "es" }))
        .flat()
        .some((line) => line.startsWith("¿quieres")),
    ).toBe(true);
  });

  test("Japanese captions have no spaces, at most 16 characters per line, and no particle at the beginning of a line", () => {
    const words = normalizeWords(
      [
        {
          word: "昨日は友達と一緒に東京へ行きました。とても楽しかったですが、電車が混んでいて大変でした。",
          start: 0,
          end: 8,
        },
      ],
      10,
    );
    expect(linesOf(layOutCues(words, { language: "ja" }))).toMatchInlineSnapshot(`
      [
        [
          "昨日は友達と一緒に",
          "東京へ行きました。",
        ],
        [
          "とても楽しかったですが、",
          "電車が混んでいて大変でした。",
        ],
      ]
    `);
  });

  test("Chinese captions have spaces only around Latin words", () => {
    const words = normalizeWords([{ word: "我用iPhone在2023年给北京大学打了电话。", start: 0, end: 5 }], 10);
    expect(linesOf(layOutCues(words, { language: "zh" }))).toMatchInlineSnapshot(`
      [
        [
          "我用 iPhone 在2023年给",
          "北京大学打了电话。",
        ],
      ]
    `);
  });

  test("Thai captions have no spaces, and a letter with its marks counts as one character", () => {
    const words = normalizeWords([{ word: "น้ำ".repeat(42), start: 0, end: 6 }], 10);
    expect(linesOf(layOutCues(words, { language: "th" }))).toEqual([["น้ำ".repeat(42)]]);
  });

  test("Korean captions keep their spaces and have at most 16 characters per line", () => {
    const words = speak(["안녕하세요 저는 서울에서 온 학생입니다 만나서 정말 반갑습니다."], 0.5);
    expect(linesOf(layOutCues(words, { language: "ko" }))).toMatchInlineSnapshot(`
      [
        [
          "안녕하세요 저는 서울에서",
        ],
        [
          "온 학생입니다 만나서",
          "정말 반갑습니다.",
        ],
      ]
    `);
  });

  test("an emoji of several code points counts as one character", () => {
    const families = Array.from({ length: 10 }, () => "👩‍👩‍👧‍👦").join(" ");
    expect(linesOf(layOutCues(speak([families], 0.2), { language: "en" }))).toEqual([[families]]);
  });

  test.each([
    ["Arabic", "ar", "مرحبا بكم في iPhone 15.", "rtl"],
    ["Hebrew that begins with a Latin word", "he", "Windows היא מערכת הפעלה.", "rtl"],
    ["English with a Hebrew word", "en", "שלום means peace.", "ltr"],
    ["English inside an Arabic recording", "ar", "Hello, world.", "ltr"],
    ["Hebrew inside an English recording", "en", "שלום עולם.", "rtl"],
    ["Persian digits alone in a Persian recording", "fa", "۱۲۳", "rtl"],
    ["Hebrew first in an unknown language", "und", "שלום means peace.", "rtl"],
  ])("the direction of a caption is detected: %s", (_, code, text, direction) => {
    expect(layOutCues(speak([text]), { language: code }).map((cue) => cue.direction)).toEqual([direction]);
  });
});
