import { joinWords } from "@subtext/captions/script";
import type { EditableWord } from "@subtext/client/contract/transcript-words";
import {
  type EditedTranscript,
  isSameSpeaker,
  type Paragraph,
  paragraphText,
  replaceWords,
  setSpeaker,
  type WordPosition,
} from "../edited-transcript.ts";

/** Words of one or more paragraphs. */
export interface WordRange {
  from: WordPosition;
  /** The position after the last word. */
  to: WordPosition;
}

/** An offset in a paragraph's text, in UTF-16 code units. */
export interface TextPosition {
  paragraph: number;
  offset: number;
}

/** Returns the words of the range, one list per paragraph. */
function partsOf(transcript: EditedTranscript, { from, to }: WordRange): Paragraph[] {
  return transcript.slice(from.paragraph, to.paragraph + 1).map((words, index) => {
    const end = from.paragraph + index === to.paragraph ? to.word : words.length;
    return words.slice(index === 0 ? from.word : 0, end);
  });
}

export function wordsOfRange(transcript: EditedTranscript, range: WordRange): EditableWord[] {
  return partsOf(transcript, range).flat();
}

/**
 * Finds the range between two words again after other changes.
 * @param before the transcript that contains the two words
 * @returns null if one of them has changed
 */
export function findRange(
  transcript: EditedTranscript,
  before: EditedTranscript,
  [first, last]: readonly [EditableWord, EditableWord],
): WordRange | null {
  const from = findWord(transcript, before, first);
  const to = findWord(transcript, before, last);
  return from && to && { from, to: { ...to, word: to.word + 1 } };
}

function findWord(
  transcript: EditedTranscript,
  before: EditedTranscript,
  wanted: EditableWord,
): WordPosition | null {
  const isSame = ({ word, start, end }: EditableWord) =>
    word === wanted.word && start === wanted.start && end === wanted.end;
  // Repeated words of zero duration differ only in their order.
  let left = before.flat().filter(isSame).indexOf(wanted);
  for (const [paragraph, words] of transcript.entries()) {
    for (const [word, each] of words.entries()) {
      if (isSame(each) && left-- === 0) return { paragraph, word };
    }
  }
  return null;
}

/** Returns the text, with a blank line between paragraphs. */
export function textOfRange(transcript: EditedTranscript, range: WordRange): string {
  return partsOf(transcript, range)
    .filter((words) => words.length > 0)
    .map((words) => joinWords(words))
    .join("\n\n");
}

/**
 * Replaces a range with text. Times follow the rules of `changeText`. The remaining words of the first and last
 * paragraph are joined into one paragraph if they have the same speaker.
 * @param durationSeconds length of the recording
 * @returns the new transcript, and the caret position: after the new words, or where the deleted words were
 */
export function replaceRange(
  transcript: EditedTranscript,
  { from, to }: WordRange,
  text: string,
  durationSeconds: number,
): { transcript: EditedTranscript; caret: TextPosition } {
  const touched = transcript.slice(from.paragraph, to.paragraph + 1);
  const wordsAfter = touched.at(-1)!.length - to.word;
  const merged = transcript.toSpliced(from.paragraph, touched.length, touched.flat());
  const range = {
    paragraph: from.paragraph,
    from: from.word,
    to: merged[from.paragraph]!.length - wordsAfter,
  };
  const changed = replaceWords(merged, range, text, durationSeconds);
  if (changed === merged) return { transcript, caret: caretAfter([touched.at(-1)!], to.word, to.paragraph) };
  const words = changed[from.paragraph]!;
  const paragraphs = splitBySpeaker(words);
  return {
    transcript: transcript.toSpliced(from.paragraph, touched.length, ...paragraphs),
    caret: caretAfter(paragraphs, words.length - wordsAfter, from.paragraph),
  };
}

function splitBySpeaker(words: readonly EditableWord[]): Paragraph[] {
  const paragraphs: EditableWord[][] = [[]];
  for (const word of words) {
    const last = paragraphs.at(-1)!;
    const previous = last.at(-1);
    const continues = !previous || (isSameSpeaker(previous, word) && previous.channel === word.channel);
    if (continues) last.push(word);
    else paragraphs.push([word]);
  }
  return paragraphs;
}

/** @param count number of words before the caret */
function caretAfter(paragraphs: readonly Paragraph[], count: number, first: number): TextPosition {
  let left = count;
  for (const [index, words] of paragraphs.entries()) {
    if (left <= words.length) {
      const offset = left === 0 ? 0 : paragraphText(words).ends[left - 1]!;
      return { paragraph: first + index, offset };
    }
    left -= words.length;
  }
  return { paragraph: first, offset: 0 };
}

/** Sets the speaker of a range, and moves its words into their own paragraphs. */
export function setSpeakerOfRange(
  transcript: EditedTranscript,
  range: WordRange,
  speaker: string | null,
): EditedTranscript {
  const { from } = range;
  // From last to first, so that the indexes of the remaining paragraphs stay valid.
  return partsOf(transcript, range).reduceRight<EditedTranscript>((changed, words, index) => {
    const start = index === 0 ? from.word : 0;
    return setSpeaker(
      changed,
      { paragraph: from.paragraph + index, from: start, to: start + words.length },
      speaker,
    );
  }, transcript);
}
