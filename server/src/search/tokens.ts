/** What is looked for and found: a word, or in a script without spaces a pair of characters. */
export interface Token {
  /** Lower case, NFKC; accents are kept, since stemmers read them. */
  text: string;
  /** `pair`: two neighbours of an unspaced run; `single`: the last of such a run. Neither has a stem. */
  kind: "word" | "pair" | "single";
  /** Counts from 1; of neighbours it differs by 1. */
  position: number;
  /** Offsets into the text, UTF-16 units. */
  start: number;
  end: number;
  /** Where the first character of a pair ends; else `end`. */
  headEnd: number;
}

/**
 * Scripts whose words are not told by spaces, or, as in Korean, hold more than what people look for. Their
 * runs are taken in overlapping pairs of characters, so that what is looked for is found however a dictionary
 * would have cut either side. Accents (U+0300 …) are of all scripts and stay with the words of the others.
 */
const UNSPACED = String.raw`[[[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Bopomofo}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]&&[\p{L}\p{M}\p{N}]]--[\u0300-\u036f]]`;
const RUN = new RegExp(String.raw`(${UNSPACED}+)|([[\p{L}\p{M}\p{N}\u200c\u200d]--${UNSPACED}]+)`, "gv");
const JOINERS = /[\u200c\u200d]/g;
/** Longer words, which nobody looks for whole, are cut; PostgreSQL takes no lexeme over 2 KB. */
const LONGEST_WORD = 64;

const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });

/** The words of a text; marks, emoji and whatever else is no letter or digit part them. */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  for (const match of text.matchAll(RUN)) {
    const [run, unspaced] = match;
    if (unspaced !== undefined) addPairs(tokens, run, match.index);
    else addWord(tokens, run, match.index);
  }
  return tokens;
}

function addWord(tokens: Token[], word: string, start: number): void {
  const text = [...normalize(word.replace(JOINERS, ""))].slice(0, LONGEST_WORD).join("");
  // A mark without its letter is nothing to look for.
  if (fold(text) === "") return;
  const end = start + word.length;
  tokens.push({ text, kind: "word", position: tokens.length + 1, start, end, headEnd: end });
}

function addPairs(tokens: Token[], run: string, start: number): void {
  const characters = [...graphemes.segment(run)];
  characters.forEach(({ segment, index }, place) => {
    const next = characters[place + 1];
    const headEnd = start + index + segment.length;
    tokens.push({
      text: normalize(segment + (next?.segment ?? "")),
      kind: next ? "pair" : "single",
      position: tokens.length + 1,
      start: start + index,
      end: headEnd + (next?.segment.length ?? 0),
      headEnd,
    });
  });
}

/** What NFKC spells out may hold brackets and the like: `⑴` is `(1)`. */
const NO_LETTER = /[^\p{L}\p{M}\p{N}]/gu;

function normalize(text: string): string {
  return text.normalize("NFKC").replace(NO_LETTER, "").toLowerCase().normalize("NFC");
}

/** Accents of Latin, Greek and Cyrillic, points of Hebrew, vowel signs and the lengthening of Arabic. */
const MARKS = /[\u0300-\u036f\u0591-\u05c7\u0640\u064b-\u065f\u0670]/g;
const PLAIN: Record<string, string> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ı: "i",
};
const NOT_PLAIN = new RegExp(`[${Object.keys(PLAIN).join("")}]`, "g");

/** Without accents, as people type who have no such keyboard. */
export function fold(text: string): string {
  return text
    .normalize("NFD")
    .replace(MARKS, "")
    .normalize("NFC")
    .replace(NOT_PLAIN, (letter) => PLAIN[letter] ?? letter);
}
