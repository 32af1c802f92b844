import type { TimedWord } from "../transcript.ts";
import type { RecognitionResult } from "./engine.ts";

/** The last occurrence of a phrase may be incomplete. */
const MIN_OCCURRENCES = 2.5;
/** Minimum length of the repetitions, without the first occurrence. */
const MIN_LETTERS = 16;
/** 300 words per minute. Fast speakers reach this for a few seconds, but not while they repeat themselves. */
const MAX_LETTERS_PER_SECOND = 20;
/** Number of alphabetic letters to which one character corresponds. */
const SYLLABLES = { pattern: /[\p{Script=Han}\p{Script=Hangul}\p{Script=Ethiopic}]/u, letters: 2.2 };
const KANA = { pattern: /[\p{Script=Hiragana}\p{Script=Katakana}]/u, letters: 1.6 };

type LoopEvidence = Pick<RecognitionResult, "words" | "truncated">;

/** Words `[from, to)` that repeat the phrase before them. */
export interface PhraseLoop {
  from: number;
  to: number;
}

/**
 * Finds a phrase that a model repeats because its decoding runs in a loop: faster than people speak, or until decoding is
 * stopped. Real repetitions, as in songs, prayers and lessons, are slower and end. Returns the first loop of the shortest
 * phrase.
 */
export function findPhraseLoop({ words, truncated }: LoopEvidence): PhraseLoop | null {
  return findRepetition(
    words,
    ({ from, to }) => !isSayable(words.slice(from, to)) || (truncated && to === words.length),
  );
}

/** Keeps only the first occurrence of each phrase that is repeated in a loop. */
export function withoutPhraseLoops({ words, truncated }: LoopEvidence): TimedWord[] {
  return withoutRanges(words, (kept) => findPhraseLoop({ words: kept, truncated }));
}

/** Keeps only the first occurrence of each repeated phrase, at any speed. */
export function withoutRepetitions(words: TimedWord[]): TimedWord[] {
  return withoutRanges(words, (kept) => findRepetition(kept, () => true));
}

function withoutRanges(words: TimedWord[], find: (words: TimedWord[]) => PhraseLoop | null): TimedWord[] {
  let kept = words;
  for (let range = find(kept); range !== null; range = find(kept)) {
    kept = kept.toSpliced(range.from, range.to - range.from);
  }
  return kept;
}

function findRepetition(
  words: readonly TimedWord[],
  isWanted: (range: PhraseLoop) => boolean,
): PhraseLoop | null {
  const { characters, wordIndexes } = plainCharacters(words);
  for (const { start, end } of repetitions(characters)) {
    // Only whole words.
    const from = wordIndexes[start]! + (wordIndexes[start - 1] === wordIndexes[start] ? 1 : 0);
    const to = wordIndexes[end - 1]! + (wordIndexes[end] === wordIndexes[end - 1] ? 0 : 1);
    if (countLetters(words.slice(from, to)) >= MIN_LETTERS && isWanted({ from, to })) return { from, to };
  }
  return null;
}

/** Returns whether a phrase is repeated as often as in a loop, at any speed and length. */
export function repeatsPhrase(words: readonly { word: string }[]): boolean {
  return !repetitions(plainCharacters(words).characters).next().done;
}

/** Yields the ranges of characters that repeat a phrase, without its first occurrence. Short phrases come first. */
function* repetitions(characters: readonly string[]): Generator<{ start: number; end: number }> {
  for (let period = 1; MIN_OCCURRENCES * period <= characters.length; period++) {
    let start = period;
    for (let index = period; index <= characters.length; index++) {
      if (index < characters.length && characters[index] === characters[index - period]) continue;
      if (index - start >= (MIN_OCCURRENCES - 1) * period) yield { start, end: index };
      start = index + 1;
    }
  }
}

/** Returns the letters and digits in lower case, and the index of the word that contains each. */
function plainCharacters(words: readonly { word: string }[]): {
  characters: string[];
  wordIndexes: number[];
} {
  const characters: string[] = [];
  const wordIndexes: number[] = [];
  for (const [index, { word }] of words.entries()) {
    for (const character of word.toLowerCase().match(/[\p{L}\p{M}\p{N}]/gu) ?? []) {
      characters.push(character);
      wordIndexes.push(index);
    }
  }
  return { characters, wordIndexes };
}

function isSayable(words: readonly TimedWord[]): boolean {
  return countLetters(words) <= MAX_LETTERS_PER_SECOND * (words.at(-1)!.end - words[0]!.start);
}

function countLetters(words: readonly { word: string }[]): number {
  return plainCharacters(words).characters.reduce((sum, character) => {
    const kind = [SYLLABLES, KANA].find(({ pattern }) => pattern.test(character));
    return sum + (kind?.letters ?? 1);
  }, 0);
}
