import type { Cue } from "@subtext/captions/cues";
import type { Word } from "@subtext/captions/words";
import fc from "fast-check";

/** Returns words spoken one after another. A number in the script is a pause in seconds. */
export function speak(script: readonly (string | number)[], secondsPerWord = 0.35, start = 0): Word[] {
  const words: Word[] = [];
  let at = start;
  for (const part of script) {
    if (typeof part === "number") {
      at += part;
      continue;
    }
    for (const word of part.split(" ")) {
      words.push({ word, start: thousandths(at), end: thousandths(at + secondsPerWord) });
      at += secondsPerWord;
    }
  }
  return words;
}

export function thousandths(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}

/** The lines of each cue. */
export function linesOf(cues: readonly Cue[]): string[][] {
  return cues.map((cue) => cue.lines);
}

const MARKS = ["", "", "", "", "", ",", ".", "?", "!", ";", ":", "…", "、", "。", "؟", "،", "।", "—"];
const VOCABULARIES: Record<string, string[]> = {
  en: ["I", "a", "the", "of", "smartphone", "it's", "well-known", "incomprehensibilities", "Mr.", "U.S."],
  de: ["Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen", "und", "Straße", "für", "über"],
  ar: ["السلام", "عليكم", "غيّر", "في", "2024", "iPhone", "ﷺ"],
  he: ["שלום", "עולם", "Windows", "11", "שָׁלוֹם"],
  ja: ["東京", "に", "行きました", "スマートフォン", "「今日", "GPT4", "2023"],
  zh: ["我们", "今天", "去", "北京大学"],
  th: ["สวัสดี", "ครับ", "น้ำ", "วัน", "นี้"],
  ko: ["안녕하세요", "저는", "학생입니다"],
  hi: ["नमस्ते", "दुनिया", "क्षत्रिय"],
  emoji: ["👩‍👩‍👧‍👦", "🇩🇪", "❤️", "👍🏽", "e\u0301"],
  hostile: [
    "-->",
    "<script>",
    "&lrm;",
    "&",
    "WEBVTT",
    "NOTE",
    "STYLE",
    "1",
    "00:00:01.000",
    "<00:01.000>",
    "<v",
  ],
};

const marked = (text: fc.Arbitrary<string>) =>
  fc.tuple(text, fc.constantFrom(...MARKS)).map(([word, mark]) => word + mark);
const knownWord = marked(fc.constantFrom(...Object.values(VOCABULARIES).flat()));
const anyWord = fc.oneof(
  { weight: 8, arbitrary: knownWord },
  { weight: 1, arbitrary: marked(fc.string({ unit: "grapheme", minLength: 1, maxLength: 60 })) },
);

/** Fast, normal and slow speech, in seconds per word. */
const pace = fc.constantFrom(0, 0.06, 0.15, 0.3, 0.45, 1.2, 9);
const pause = fc.oneof(
  { weight: 12, arbitrary: fc.constant(0) },
  { weight: 3, arbitrary: fc.constantFrom(0.001, 0.05, 0.2, 0.249, 0.25, 0.6, 1, 1.5) },
  { weight: 1, arbitrary: fc.constantFrom(1.999, 2, 2.5, 8, 700) },
);

function spoken(word: fc.Arbitrary<string>): fc.Arbitrary<Word[]> {
  return fc
    .tuple(
      fc.array(fc.tuple(word, pause, fc.double({ min: 0.5, max: 1.5, noNaN: true })), { maxLength: 120 }),
      fc.array(pace, { minLength: 1, maxLength: 4 }),
      fc.constantFrom(0, 0.4, 3599.5, 359_990),
    )
    .map(([parts, paces, start]) => {
      let at = start;
      return parts.map(([text, silence, factor], index) => {
        const from = at + silence;
        at = from + paces[Math.floor((index * paces.length) / parts.length)]! * factor;
        return { word: text, start: from, end: at };
      });
    });
}

/** Speech with words in chronological order, in any scripts and at changing pace. */
export const speech = spoken(anyWord);
/** Like `speech`, but with real words. */
export const plausibleSpeech = spoken(knownWord);

export const language = fc.constantFrom("en", "de", "ar", "he", "ja", "zh", "th", "ko", "und", "zxx", "yue");

const badTime = fc.oneof(
  fc.double({ min: -10, max: 200, noNaN: true }),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 1e300, 0.0005, 1.0015),
);

/** What a faulty engine might return: random times and arbitrary text. */
export const brokenSpeech: fc.Arbitrary<Word[]> = fc.array(
  fc.record({
    word: fc.oneof(
      anyWord,
      fc.string({ unit: "binary", maxLength: 20 }),
      fc.array(anyWord, { maxLength: 6 }).map((texts) => texts.join("")),
      fc.array(anyWord, { maxLength: 4 }).map((texts) => ` ${texts.join(" ")}\n`),
      fc.constantFrom("", " ", "\0", "\u200b", "\ud800", "\u0301", "。", ".", "「", "(", "\u202eabc"),
    ),
    start: badTime,
    end: badTime,
    confidence: fc.double(),
  }),
  { maxLength: 60 },
);
