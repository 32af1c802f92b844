/** The unit of search: a word, or a pair of characters in a script without spaces. */
export interface Token {
  /** In lower case, NFKC. Contains accents, because stemmers need them. */
  text: string;
  /**
   * `pair`: two adjacent characters of a script without spaces; `single`: the last character of a run. Neither is
   * stemmed.
   */
  kind: "word" | "pair" | "single";
  /** From 1, consecutive. */
  position: number;
  /** Offsets in the text, in UTF-16 units. */
  start: number;
  end: number;
  /** End of the first character of a pair; otherwise `end`. */
  headEnd: number;
}

/**
 * Scripts without spaces between words, and Korean, whose words contain more than people search for. Runs of their
 * characters are split into overlapping pairs, so that matches do not depend on word segmentation. Accents (U+0300 …)
 * belong to all scripts and stay with the words of other scripts.
 */
const UNSPACED = String.raw`[[[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Bopomofo}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]&&[\p{L}\p{M}\p{N}]]--[\u0300-\u036f]]`;
const RUN = new RegExp(String.raw`(${UNSPACED}+)|([[\p{L}\p{M}\p{N}\u200c\u200d]--${UNSPACED}]+)`, "gv");
const JOINERS = /[\u200c\u200d]/g;
/** Longer words are truncated, because PostgreSQL limits lexemes to 2 KB. */
const MAX_WORD_LENGTH = 64;

const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });

/** Splits text into words at every character that is not a letter or a digit. */
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
  const text = [...normalize(word.replace(JOINERS, ""))].slice(0, MAX_WORD_LENGTH).join("");
  // A combining mark without a letter is not a word.
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

/** NFKC can add punctuation to a character: `⑴` becomes `(1)`. */
const NO_LETTER = /[^\p{L}\p{M}\p{N}]/gu;

function normalize(text: string): string {
  return text.normalize("NFKC").replace(NO_LETTER, "").toLowerCase().normalize("NFC");
}

/** Accents of Latin, Greek and Cyrillic, Hebrew points, Arabic vowel signs and tatweel. */
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

/** Removes accents, because people without a suitable keyboard omit them. */
export function fold(text: string): string {
  return text
    .normalize("NFD")
    .replace(MARKS, "")
    .normalize("NFC")
    .replace(NOT_PLAIN, (letter) => PLAIN[letter] ?? letter);
}
