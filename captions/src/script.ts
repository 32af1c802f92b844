/** Han, Kana and Bopomofo, with their punctuation and full-width forms. */
const IDEOGRAPHS = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\u3001-\u303f\u30fb\u30fc\uff01-\uff60\uffe0-\uffe6`;
/** Scripts without spaces for which `Intl.Segmenter` has dictionaries. */
const UNSPACED = String.raw`${IDEOGRAPHS}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`;
const IS_IDEOGRAPH = new RegExp(`^[${IDEOGRAPHS}]$`, "u");
const IS_UNSPACED = new RegExp(`^[${UNSPACED}]$`, "u");
const HAS_UNSPACED = new RegExp(`[${UNSPACED}]`, "u");
const FIRST_SPOKEN = /[\p{L}\p{N}]/u;
const LAST_SPOKEN = /[\p{L}\p{N}](?=[^\p{L}\p{N}]*$)/u;
const DIGIT = /^\p{Nd}$/u;

/** Returns whether the text contains a letter or punctuation of a script without spaces. */
export function hasUnspacedScript(text: string): boolean {
  return HAS_UNSPACED.test(text);
}

/** Returns whether the code point is a letter or punctuation of a script without spaces. */
export function isUnspaced(character: string): boolean {
  return IS_UNSPACED.test(character);
}

/**
 * Returns whether a space separates two words. No space separates words in scripts without spaces, or a number from
 * ideographs (`2023` + `年`).
 */
export function needsSpace(before: string, after: string): boolean {
  // Fast path for most languages: the regular expressions below are slow.
  if (!HAS_UNSPACED.test(before) && !HAS_UNSPACED.test(after)) return true;
  const left = LAST_SPOKEN.exec(before)?.[0] ?? lastCharacter(before);
  const right = FIRST_SPOKEN.exec(after)?.[0] ?? firstCharacter(after);
  if (isUnspaced(left) && isUnspaced(right)) return false;
  return !((IS_IDEOGRAPH.test(left) && DIGIT.test(right)) || (DIGIT.test(left) && IS_IDEOGRAPH.test(right)));
}

export function joinWords(words: readonly { word: string }[]): string {
  let text = "";
  let before = "";
  for (const { word } of words) {
    text += before !== "" && needsSpace(before, word) ? ` ${word}` : word;
    before = word;
  }
  return text;
}

export function firstCharacter(text: string): string {
  const code = text.codePointAt(0);
  return code === undefined ? "" : String.fromCodePoint(code);
}

export function lastCharacter(text: string): string {
  const tail = text.slice(-2);
  return (tail.codePointAt(0) ?? 0) > 0xffff ? tail : text.slice(-1);
}

/** A line holds 42 narrow characters, 16 full-width characters, or a mixture: 42 × 8 = 16 × 21 = 336. */
export const NARROW_WIDTH = 8;
const WIDE_WIDTH = 21;
export const LINE_WIDTH = 336;

/** Characters with the East Asian Width W or F (UAX #11), and emoji. */
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{17000}-\u{18dff}\u{1b000}-\u{1b2ff}\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1faff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]|^.+\ufe0f/u;
const NO_WIDE = /^[\0-\u10ff\u1160-\u2319\u2c00-\u2e7f\uff61-\uffdc]*$/;
/** Marks, joiners, vowel signs, jamo and surrogates. In text without them, each UTF-16 code unit is one grapheme. */
const MAY_CLUSTER =
  /[\p{M}\p{Cf}\p{Cc}\u0d4e\u0e33\u0eb3\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff\uff9e\uff9f\ud800-\udfff]|[^\0-\uffff]/u;

const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });

function countGraphemes(text: string): number {
  if (!MAY_CLUSTER.test(text)) return text.length;
  let count = 0;
  for (const _ of graphemes.segment(text)) count++;
  return count;
}

/** Returns the width on screen: `NARROW_WIDTH` or `WIDE_WIDTH` for each grapheme cluster (UAX #29). */
export function displayWidth(text: string): number {
  if (NO_WIDE.test(text) && !text.includes("\ufe0f")) return countGraphemes(text) * NARROW_WIDTH;
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += WIDE.test(segment) ? WIDE_WIDTH : NARROW_WIDTH;
  return width;
}
