import { alignCharacters, type TextCharacter } from "./character-alignment.ts";
import { LEAST_LOG_PROBABILITY, type ResponsePiece } from "./response.ts";
import type { TimeOfShare } from "./speech-time.ts";
import { lastAtMost } from "./speech-time.ts";
import { isPronounced } from "./text-words.ts";

export interface WordSpan {
  /** Seconds of the utterance. */
  start: number;
  end: number;
  /** 0 … 1; null if missing. */
  probability: number | null;
}

/** Maximum duration per character of words without times. */
const MAX_SECONDS_PER_CHARACTER = 0.12;
/** Duration per character of a piece that has a start but no end. */
const SECONDS_PER_CHARACTER = 0.06;

interface TimedCharacter extends WordSpan, TextCharacter {}

/**
 * Finds the times of words from timed pieces of the same text. Pieces may be parts of words or whole sentences, and may
 * lack punctuation. Therefore the texts are aligned by character, and each character gets a share of its piece's time.
 * Words without a matching piece are distributed between their neighbors.
 * @param words without whitespace
 * @param seconds length of the utterance
 * @returns one span for each word, in order; spans may touch or have zero length
 */
export function wordSpans(
  words: readonly string[],
  pieces: readonly ResponsePiece[],
  seconds: number,
  timeOfShare: TimeOfShare,
): WordSpan[] {
  const characters = timedCharacters(withoutInconsistentTimes(pieces), seconds, timeOfShare);
  const matches = alignCharacters(words.flatMap(wordCharacters), characters);
  let next = 0;
  const spans = words.map((word) => {
    const from = next;
    next += [...word].length;
    const matched = [...matches.subarray(from, next)].flatMap((match) => characters[match] ?? []);
    // Punctuation after a word is a pause, so its time is not part of the word.
    const end = matched.findLastIndex(({ character }) => isPronounced(character)) + 1;
    return spanOf(end === 0 ? matched : matched.slice(0, end));
  });
  return evenlyBetween(words, spans, seconds);
}

/** Removes times that are not in the longest sequence of pieces with non-decreasing starts. */
function withoutInconsistentTimes(pieces: readonly ResponsePiece[]): ResponsePiece[] {
  /** `tails[n]`: the piece with the earliest start that ends a non-decreasing sequence of n + 1 pieces. */
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

/** Omits pieces without times. */
function timedCharacters(
  pieces: readonly ResponsePiece[],
  seconds: number,
  timeOfShare: TimeOfShare,
): TimedCharacter[] {
  const timed = pieces.flatMap(({ start, ...piece }) => (start === null ? [] : [{ ...piece, start }]));
  // If no piece begins with a space, each piece is a word.
  const writesSpaces = timed.some(({ text }) => /^\s/u.test(text));
  return timed.flatMap(({ text, start, end, probability }, index) => {
    const parts = text.split(/\s+/u).map(wordCharacters);
    const first = parts[0]?.[0];
    if (first !== undefined) first.startsWord = !writesSpaces;
    const characters = parts.flat();
    const limit = timed[index + 1]?.start ?? seconds;
    const until = Math.max(start, Math.min(end ?? start + characters.length * SECONDS_PER_CHARACTER, limit));
    // Punctuation takes no time unless the piece has nothing else.
    const hasPronounced = isPronounced(text);
    const takesTime = ({ character }: TextCharacter) => !hasPronounced || isPronounced(character);
    const letters = characters.filter(takesTime).length;
    let done = 0;
    return characters.map((character) => {
      const from = timeOfShare(start, until, done / letters);
      if (takesTime(character)) done++;
      return { ...character, start: from, end: timeOfShare(start, until, done / letters), probability };
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
