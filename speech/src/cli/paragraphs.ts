import type { TimedWord } from "../transcript.ts";

const PARAGRAPH_PAUSE_SECONDS = 2;

const IDEOGRAPHS = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\u3001-\u303f\u30fb\u30fc\uff01-\uff60`;
const UNSPACED = String.raw`${IDEOGRAPHS}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`;
/** Matches two characters of scripts without spaces, and an ideograph next to a digit. */
const NO_SPACE = new RegExp(
  `^(?:[${UNSPACED}][${UNSPACED}]|[${IDEOGRAPHS}]\\p{Nd}|\\p{Nd}[${IDEOGRAPHS}])$`,
  "u",
);

/** Joins words into paragraphs, which are separated by long pauses and changes of channel. */
export function paragraphsOf(words: readonly TimedWord[]): string[] {
  const paragraphs: string[] = [];
  let previous: TimedWord | undefined;
  for (const next of words) {
    if (
      previous !== undefined &&
      previous.channel === next.channel &&
      next.start - previous.end < PARAGRAPH_PAUSE_SECONDS
    ) {
      const space = needsSpace(previous.word, next.word) ? " " : "";
      paragraphs.push(`${paragraphs.pop()}${space}${next.word}`);
    } else paragraphs.push(next.word);
    previous = next;
  }
  return paragraphs;
}

function needsSpace(before: string, after: string): boolean {
  return !NO_SPACE.test(`${[...before].at(-1)}${[...after][0]}`);
}
