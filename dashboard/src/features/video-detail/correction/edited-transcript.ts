import { isClosingPunctuation, isOpeningPunctuation } from "@subtext/captions/punctuation";
import { needsSpace } from "@subtext/captions/script";
import { beginsParagraph, isLongParagraph } from "@subtext/captions/text";
import { normalizeWords } from "@subtext/captions/words";
import type { EditableWord } from "@subtext/client/contract/transcript-words";
import { LOW_CONFIDENCE_PERCENT } from "../transcript/transcript-model.ts";

export type Paragraph = readonly EditableWord[];
/** The words of a transcript, in paragraphs. Never mutated, so unchanged paragraphs keep their identity. */
export type EditedTranscript = readonly Paragraph[];

/** The position of a word. */
export interface WordPosition {
  paragraph: number;
  word: number;
}

/** Words below this confidence are highlighted and offered for review. */
export const LOW_CONFIDENCE = LOW_CONFIDENCE_PERCENT / 100;

/** Maximum average duration of words inserted into a pause. */
const MAX_INSERTED_SECONDS = 0.5;

/**
 * Starts a new paragraph where the plain text does, where the speaker or the channel changes, and where a paragraph
 * would become too long.
 */
export function splitIntoParagraphs(words: readonly EditableWord[]): EditedTranscript {
  const paragraphs: EditableWord[][] = [];
  let previous: EditableWord | undefined;
  for (const word of words) {
    const paragraph = paragraphs.at(-1);
    const begins =
      !previous ||
      !paragraph ||
      previous.speaker !== word.speaker ||
      beginsParagraph(previous, word) ||
      isLongParagraph(paragraph.length, previous, word);
    if (begins) paragraphs.push([word]);
    else paragraph.push(word);
    previous = word;
  }
  // An empty transcript needs a paragraph to type into.
  return paragraphs.length === 0 ? [[]] : paragraphs;
}

interface ParagraphText {
  text: string;
  /** Offsets of the words in the text, in UTF-16 code units. */
  starts: number[];
  ends: number[];
}

export function paragraphText(paragraph: Paragraph): ParagraphText {
  const starts: number[] = [];
  const ends: number[] = [];
  let text = "";
  let before = "";
  for (const { word } of paragraph) {
    if (before !== "" && needsSpace(before, word)) text += " ";
    starts.push(text.length);
    text += word;
    ends.push(text.length);
    before = word;
  }
  return { text, starts, ends };
}

/**
 * Changes the text of a paragraph. Words outside the changed text keep their times, speakers, confidences and channels.
 * New words divide the time span of the words that they replace, in proportion to their length. Inserted words share the
 * pause where they are inserted; if there is none, their duration is zero.
 * @param durationSeconds length of the recording
 * @returns the same transcript if no word changes
 */
export function changeText(
  transcript: EditedTranscript,
  index: number,
  newText: string,
  durationSeconds: number,
): EditedTranscript {
  const paragraph = transcript[index]!;
  const { text, starts, ends } = paragraphText(paragraph);
  const prefix = commonPrefix(text, newText);
  const suffix = commonSuffix(text, newText, prefix);
  // Words that only touch the changed text are kept if a space still separates them from it.
  let from = 0;
  while (from < ends.length && (ends[from]! < prefix || endsBefore(ends[from]!, prefix, newText))) from++;
  let to = paragraph.length;
  const oldEnd = text.length - suffix;
  const newEnd = newText.length - suffix;
  while (to > from && (starts[to - 1]! > oldEnd || startsAfter(starts[to - 1]!, oldEnd, newText, newEnd)))
    to--;
  const changed = newText.slice(
    from === 0 ? 0 : ends[from - 1]!,
    to === paragraph.length ? newText.length : newText.length - (text.length - starts[to]!),
  );
  return replaceWords(transcript, { paragraph: index, from, to }, changed, durationSeconds);
}

function endsBefore(end: number, prefix: number, newText: string): boolean {
  return end === prefix && (end === newText.length || isSpace(newText[end]!));
}

function startsAfter(start: number, oldEnd: number, newText: string, newEnd: number): boolean {
  return start === oldEnd && (newEnd === 0 || isSpace(newText[newEnd - 1]!));
}

/** Replaces the words `from` … `to - 1` of a paragraph with the words of a text; see `changeText`. */
export function replaceWords(
  transcript: EditedTranscript,
  { paragraph: index, from, to }: { paragraph: number; from: number; to: number },
  text: string,
  durationSeconds: number,
): EditedTranscript {
  const paragraph = transcript[index]!;
  const texts = wordsOf(text);
  // The text can contain words that did not change, for example between two changed spaces.
  let first = from;
  while (first < to && first - from < texts.length && paragraph[first]!.word === texts[first - from]) first++;
  let last = to;
  let end = texts.length;
  while (last > first && end > first - from && paragraph[last - 1]!.word === texts[end - 1]) {
    last--;
    end--;
  }
  const newTexts = texts.slice(first - from, end);
  if (newTexts.length === 0 && first === last) return transcript;
  const before = paragraph.slice(0, first);
  const after = paragraph.slice(last);
  attachPunctuation(newTexts, { before, after });
  const replacing = newWords(transcript, index, [first, last], newTexts, durationSeconds);
  return transcript.with(index, [...before, ...replacing, ...after]);
}

/** Attaches standalone punctuation to the adjacent word, which keeps its time, as the server does. */
function attachPunctuation(
  texts: string[],
  { before, after }: { before: EditableWord[]; after: EditableWord[] },
): void {
  const [previous, next] = [before.at(-1), after[0]];
  if (previous && texts[0] !== undefined && isClosingPunctuation(texts[0])) {
    before[before.length - 1] = { ...previous, word: previous.word + texts.shift() };
  }
  if (next && texts.length > 0 && isOpeningPunctuation(texts.at(-1)!)) {
    after[0] = { ...next, word: texts.pop() + next.word };
  }
}

function newWords(
  transcript: EditedTranscript,
  index: number,
  [from, to]: [number, number],
  texts: readonly string[],
  durationSeconds: number,
): EditableWord[] {
  const paragraph = transcript[index]!;
  const replaced = paragraph.slice(from, to);
  const isFilled = (words: Paragraph) => words.length > 0;
  const previous = paragraph[from - 1] ?? transcript.slice(0, index).findLast(isFilled)?.at(-1);
  const next = paragraph[to] ?? transcript.slice(index + 1).find(isFilled)?.[0];
  const { start, end } =
    replaced.length > 0
      ? { start: replaced[0]!.start, end: replaced.at(-1)!.end }
      : timeOfInsertion({ from: previous?.end, to: next?.start }, texts.length, durationSeconds);
  const { speaker, channel } = replaced[0] ??
    paragraph[from - 1] ??
    paragraph[to] ?? { speaker: null, channel: null };
  const totalLength = texts.reduce((sum, text) => sum + text.length, 0);
  let lengthBefore = 0;
  const timeAt = (length: number) =>
    Math.round((start + ((end - start) * length) / totalLength) * 1000) / 1000;
  return texts.map((word) => {
    const wordStart = timeAt(lengthBefore);
    lengthBefore += word.length;
    return { word, start: wordStart, end: timeAt(lengthBefore), speaker, confidence: null, channel };
  });
}

/** Splits text into words the way the server does. */
function wordsOf(text: string): string[] {
  return normalizeWords([{ word: text, start: 0, end: text.length }], Number.NaN).map(({ word }) => word);
}

/** @param pause end of the previous word and start of the next word; each is undefined if there is no such word */
function timeOfInsertion(
  pause: { from: number | undefined; to: number | undefined },
  count: number,
  durationSeconds: number,
): { start: number; end: number } {
  const from = pause.from ?? 0;
  const to = pause.to ?? Math.max(from, durationSeconds);
  const seconds = Math.min(to - from, count * MAX_INSERTED_SECONDS);
  // Directly after the previous word or, at the beginning of the transcript, directly before the next one.
  const isBeginning = pause.from === undefined && pause.to !== undefined;
  return isBeginning ? { start: to - seconds, end: to } : { start: from, end: from + seconds };
}

/** Joins a paragraph with the one before it. Returns the same transcript if their speakers or channels differ. */
export function joinParagraphs(transcript: EditedTranscript, index: number): EditedTranscript {
  const [before, after] = [transcript[index - 1], transcript[index]];
  if (!before || !after) return transcript;
  const [last, first] = [before.at(-1), after[0]];
  const isSame = !last || !first || (isSameSpeaker(last, first) && last.channel === first.channel);
  return isSame ? transcript.toSpliced(index - 1, 2, [...before, ...after]) : transcript;
}

export function isDoubtful(transcript: EditedTranscript, { paragraph, word }: WordPosition): boolean {
  const confidence = transcript[paragraph]?.[word]?.confidence ?? null;
  return confidence !== null && confidence < LOW_CONFIDENCE;
}

/** Marks a word as correct. */
export function confirmWord(
  transcript: EditedTranscript,
  { paragraph, word }: WordPosition,
): EditedTranscript {
  const words = transcript[paragraph]!;
  return transcript.with(paragraph, words.with(word, { ...words[word]!, confidence: null }));
}

/** Sets the speaker of the words `from` … `to - 1`, and splits them into their own paragraph. */
export function setSpeaker(
  transcript: EditedTranscript,
  { paragraph, from, to }: { paragraph: number; from: number; to: number },
  speaker: string | null,
): EditedTranscript {
  const words = transcript[paragraph]!;
  if (from === to) return transcript;
  const parts = [
    words.slice(0, from),
    words.slice(from, to).map((word) => ({ ...word, speaker })),
    words.slice(to),
  ];
  return transcript.toSpliced(paragraph, 1, ...parts.filter((part) => part.length > 0));
}

/** A speaker with a name, or the unnamed speaker of a channel. */
export type Speaker = Pick<EditableWord, "speaker" | "channel">;

/** Replaces a speaker's name everywhere, or names the unnamed speaker of a channel. */
export function renameSpeaker(
  transcript: EditedTranscript,
  speaker: Speaker,
  newName: string | null,
): EditedTranscript {
  return transcript.map((paragraph) =>
    paragraph.some((word) => isSameSpeaker(word, speaker))
      ? paragraph.map((word) => (isSameSpeaker(word, speaker) ? { ...word, speaker: newName } : word))
      : paragraph,
  );
}

export function isSameSpeaker(a: Speaker, b: Speaker): boolean {
  return a.speaker === b.speaker && (a.speaker !== null || a.channel === b.channel);
}

/** Returns the names of all speakers in the order in which they first speak. */
export function speakersOf(transcript: EditedTranscript): string[] {
  const names = new Set(transcript.flatMap((paragraph) => paragraph.map(({ speaker }) => speaker)));
  return [...names].filter((name) => name !== null);
}

/**
 * Returns the position of the nearest low-confidence word after or before `from`, depending on `direction`; null if there
 * is none.
 */
export function findLowConfidenceWord(
  transcript: EditedTranscript,
  from: WordPosition,
  direction: 1 | -1,
): WordPosition | null {
  let { paragraph, word } = from;
  while (transcript[paragraph]) {
    for (word += direction; transcript[paragraph]![word]; word += direction) {
      if (isDoubtful(transcript, { paragraph, word })) return { paragraph, word };
    }
    paragraph += direction;
    word = direction === 1 ? -1 : (transcript[paragraph]?.length ?? 0);
  }
  return null;
}

/** Returns the position of the word spoken at a time; null in pauses. */
export function findSpokenWord(transcript: EditedTranscript, seconds: number): WordPosition | null {
  const paragraph = transcript.findLastIndex((words) => words.length > 0 && words[0]!.start <= seconds);
  const word = transcript[paragraph]?.findLastIndex(({ start }) => start <= seconds) ?? -1;
  return word >= 0 && seconds <= transcript[paragraph]![word]!.end ? { paragraph, word } : null;
}

function commonPrefix(a: string, b: string): number {
  const limit = Math.min(a.length, b.length);
  let length = 0;
  while (length < limit && a[length] === b[length]) length++;
  return length;
}

/** @param prefix length of the common prefix, with which the suffix must not overlap */
function commonSuffix(a: string, b: string, prefix: number): number {
  const limit = Math.min(a.length, b.length) - prefix;
  let length = 0;
  while (length < limit && a[a.length - 1 - length] === b[b.length - 1 - length]) length++;
  return length;
}

function isSpace(character: string): boolean {
  return /\s/.test(character);
}
