import type { TimedWord } from "../transcript.ts";
import type { RecognitionResult } from "./engine.ts";

/**
 * Finds phrases that a model repeats because decoding runs in a loop: faster than anyone speaks, or until it is
 * stopped. What people repeat in songs, prayers and lessons takes its time and comes to an end.
 */

/** How often a phrase occurs in a loop at least; the last occurrence may be incomplete. */
const MIN_OCCURRENCES = 2.5;
/** Of those after the first: a few syllables prove nothing. */
const MIN_LETTERS = 16;
/** 300 words per minute. Fast speakers reach it for some seconds, but not while they repeat themselves. */
const MAX_LETTERS_PER_SECOND = 20;
/** Letters of an alphabet that one character stands for. */
const SYLLABLES = { pattern: /[\p{Script=Han}\p{Script=Hangul}\p{Script=Ethiopic}]/u, letters: 2.2 };
const KANA = { pattern: /[\p{Script=Hiragana}\p{Script=Katakana}]/u, letters: 1.6 };

type LoopEvidence = Pick<RecognitionResult, "words" | "truncated">;

/** Words `[from, to)` that repeat the phrase before them. */
export interface PhraseLoop {
  from: number;
  to: number;
}

/** Returns the first loop of the shortest phrase, null if there is none. */
export function findPhraseLoop({ words, truncated }: LoopEvidence): PhraseLoop | null {
  const { characters, places } = plainCharacters(words);
  for (const { start, end } of repetitions(characters)) {
    // Only whole words.
    const from = places[start]! + (places[start - 1] === places[start] ? 1 : 0);
    const to = places[end - 1]! + (places[end] === places[end - 1] ? 0 : 1);
    const repeated = words.slice(from, to);
    if (countLetters(repeated) < MIN_LETTERS) continue;
    if (!isSayable(repeated) || (truncated && to === words.length)) return { from, to };
  }
  return null;
}

/** Returns the words with each phrase that is repeated in a loop once. */
export function withoutPhraseLoops({ words, truncated }: LoopEvidence): TimedWord[] {
  let kept = words;
  for (;;) {
    const loop = findPhraseLoop({ words: kept, truncated });
    if (loop === null) return kept;
    kept = kept.toSpliced(loop.from, loop.to - loop.from);
  }
}

/** Returns whether a phrase occurs so often in a row that it may be a loop. */
export function repeatsPhrase(words: readonly { word: string }[]): boolean {
  return !repetitions(plainCharacters(words).characters).next().done;
}

/** The ranges of characters that repeat a phrase, without its first occurrence; short phrases first. */
function* repetitions(characters: readonly string[]): Generator<{ start: number; end: number }> {
  for (let period = 1; MIN_OCCURRENCES * period <= characters.length; period++) {
    let start = period;
    for (let place = period; place <= characters.length; place++) {
      if (place < characters.length && characters[place] === characters[place - period]) continue;
      if (place - start >= (MIN_OCCURRENCES - 1) * period) yield { start, end: place };
      start = place + 1;
    }
  }
}

/** Letters and digits in lower case, and the word of each. */
function plainCharacters(words: readonly { word: string }[]): { characters: string[]; places: number[] } {
  const characters: string[] = [];
  const places: number[] = [];
  for (const [place, { word }] of words.entries()) {
    for (const character of word.toLowerCase().match(/[\p{L}\p{M}\p{N}]/gu) ?? []) {
      characters.push(character);
      places.push(place);
    }
  }
  return { characters, places };
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
