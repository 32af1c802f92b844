import { alignCharacters, type TextCharacter } from "./character-alignment.ts";
import { lastAtMost } from "./last-at-most.ts";
import { type AnswerPiece, LEAST_LOG_PROBABILITY } from "./response.ts";
import type { TimeOfShare } from "./speech-time.ts";
import { isSpoken } from "./text-words.ts";

/** Where a word lies in its utterance, and how sure the server was of it. */
export interface WordSpan {
  /** Seconds of the utterance. */
  start: number;
  end: number;
  /** 0 … 1; null where the server did not say. */
  probability: number | null;
}

/** Nobody speaks more slowly: what a word without a time may take beside one with a time. */
const MAX_SECONDS_PER_CHARACTER = 0.12;
/** What a word takes where only its beginning is known. */
const SECONDS_PER_CHARACTER = 0.06;

/** A character of a piece, with its share of the piece's time. */
interface TimedCharacter extends WordSpan, TextCharacter {}

/**
 * When each word of a text is said, by the pieces of the same text that a server gave times to. The pieces
 * may lack punctuation, be parts of words, or whole sentences: text is laid on text, letter by letter, and a
 * letter has its share of its piece's time. Words that no piece stands for lie evenly between their
 * neighbours.
 * @param words without white space
 * @param seconds length of the utterance
 * @returns one for each word; in order, but they may touch or be of zero length
 */
export function wordSpans(
  words: readonly string[],
  pieces: readonly AnswerPiece[],
  seconds: number,
  timeOfShare: TimeOfShare,
): WordSpan[] {
  const characters = timedCharacters(inOrder(pieces), seconds, timeOfShare);
  const places = alignCharacters(words.flatMap(wordCharacters), characters);
  let next = 0;
  const spans = words.map((word) => {
    const from = next;
    next += [...word].length;
    const matched = [...places.subarray(from, next)].flatMap((place) => characters[place] ?? []);
    // The time of a mark behind a word is a pause.
    const end = matched.findLastIndex(({ character }) => isSpoken(character)) + 1;
    return spanOf(end === 0 ? matched : matched.slice(0, end));
  });
  return evenlyBetween(words, spans, seconds);
}

/**
 * The pieces whose times can be true together: the longest run of starts that do not go back. What the rest
 * tell of time is dropped.
 */
function inOrder(pieces: readonly AnswerPiece[]): AnswerPiece[] {
  /** `tails[n]`: the piece with the least start at which an ordered run of n + 1 pieces can end. */
  const tails: number[] = [];
  const tailStarts: number[] = [];
  const before = new Int32Array(pieces.length).fill(-1);
  for (const [index, { start }] of pieces.entries()) {
    if (start === null) continue;
    const length = lastAtMost(tailStarts, start) + 1;
    before[index] = tails[length - 1] ?? -1;
    tails[length] = index;
    tailStarts[length] = start;
  }
  const kept = new Set<number>();
  for (let index = tails.at(-1) ?? -1; index >= 0; index = before[index] as number) kept.add(index);
  return pieces.map((piece, index) => (kept.has(index) ? piece : { ...piece, start: null, end: null }));
}

/** Pieces without times tell nothing of when, and are left out. */
function timedCharacters(
  pieces: readonly AnswerPiece[],
  seconds: number,
  timeOfShare: TimeOfShare,
): TimedCharacter[] {
  const timed = pieces.flatMap(({ start, ...piece }) => (start === null ? [] : [{ ...piece, start }]));
  // Where no piece begins with a space, pieces are words.
  const writesSpaces = timed.some(({ text }) => /^\s/u.test(text));
  return timed.flatMap(({ text, start, end, probability }, index) => {
    const parts = text.split(/\s+/u).map(wordCharacters);
    const first = parts[0]?.[0];
    if (first !== undefined) first.startsWord = !writesSpaces;
    const characters = parts.flat();
    const limit = timed[index + 1]?.start ?? seconds;
    const until = Math.max(start, Math.min(end ?? start + characters.length * SECONDS_PER_CHARACTER, limit));
    // Marks take no time, where there is anything else.
    const hasSpoken = isSpoken(text);
    const takesTime = ({ character }: TextCharacter) => !hasSpoken || isSpoken(character);
    const letters = characters.filter(takesTime).length;
    let said = 0;
    return characters.map((character) => {
      const from = timeOfShare(start, until, said / letters);
      if (takesTime(character)) said++;
      return { ...character, start: from, end: timeOfShare(start, until, said / letters), probability };
    });
  });
}

function wordCharacters(word: string): TextCharacter[] {
  return [...word].map((character, index) => ({ character, startsWord: index === 0 }));
}

function spanOf(matched: readonly TimedCharacter[]): WordSpan | null {
  const [first, last] = [matched[0], matched.at(-1)];
  if (first === undefined || last === undefined) return null;
  const known = matched.flatMap(({ probability }) => probability ?? []);
  const logarithms = known.reduce(
    (sum, probability) => sum + Math.max(LEAST_LOG_PROBABILITY, Math.log(probability)),
    0,
  );
  const probability = known.length === 0 ? null : Math.exp(logarithms / known.length);
  return { start: first.start, end: last.end, probability };
}

function evenlyBetween(
  words: readonly string[],
  spans: readonly (WordSpan | null)[],
  seconds: number,
): WordSpan[] {
  const filled: WordSpan[] = [];
  for (let index = 0; index < spans.length; ) {
    const span = spans[index];
    if (span) {
      filled.push(span);
      index++;
      continue;
    }
    let end = index + 1;
    while (spans[end] === null) end++;
    const characters = words.slice(index, end).reduce((sum, word) => sum + word.length, 0);
    const most = characters * MAX_SECONDS_PER_CHARACTER;
    const limit = spans[end]?.start ?? seconds;
    let at = filled.at(-1)?.end ?? Math.max(0, limit - most);
    const secondsPerCharacter = Math.max(0, Math.min(limit - at, most)) / characters;
    for (const word of words.slice(index, end)) {
      const start = at;
      at += word.length * secondsPerCharacter;
      filled.push({ start, end: at, probability: null });
    }
    index = end;
  }
  return filled;
}
