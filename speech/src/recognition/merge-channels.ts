import { removeOverlaps } from "../alignment/fit-words.ts";
import type { TimedWord } from "../transcript.ts";
import type { RecognizedUtterance } from "./recognized-utterance.ts";

/** A speaker's words stay together until a word of the other speaker would be this late. */
const MAX_DELAY_SECONDS = 1;
/** The other speaker may interrupt at a pause of this length. */
const PAUSE_SECONDS = 0.3;
const SENTENCE_END = /[.!?…。！？]["'”’»)\]]*$/u;
/**
 * Words keep at least this share of their duration. If both speakers talk all the time, their words need twice the
 * available time, so half of each duration always fits.
 */
const KEPT_SHARE = 0.5;

interface ChannelWord {
  word: TimedWord;
  utterance: RecognizedUtterance;
}

/**
 * Merges the utterances of two channels into one order in which no words overlap. Overlapping speech alternates at pauses
 * and ends of sentences, or after a second. Words without overlap keep their times.
 * @param utterances with channels; in order and without overlaps inside each channel
 * @param duration of the media, in seconds
 * @returns the utterances, divided where the speaker changes
 */
export function mergeChannels(
  utterances: readonly RecognizedUtterance[],
  duration: number,
): RecognizedUtterance[] {
  const [first, second] = [wordsOf(utterances, 1, duration), wordsOf(utterances, 2, duration)];
  const ordered = inSpeakingOrder([first, second]);
  const times = placed(
    ordered.map(({ word }) => word),
    duration,
  );
  const parts: { utterance: RecognizedUtterance; words: TimedWord[] }[] = [];
  for (const [index, { word, utterance }] of ordered.entries()) {
    const last = parts.at(-1);
    const timed = { ...word, ...times[index]! };
    if (last?.utterance === utterance) last.words.push(timed);
    else parts.push({ utterance, words: [timed] });
  }
  return parts.map(({ utterance, words }) => ({
    ...utterance,
    words,
    start: words[0]!.start,
    end: words.at(-1)!.end,
    speechSeconds: (utterance.speechSeconds * words.length) / utterance.words.length,
  }));
}

function wordsOf(
  utterances: readonly RecognizedUtterance[],
  channel: 1 | 2,
  duration: number,
): ChannelWord[] {
  const own = utterances.filter((utterance) => utterance.channel === channel);
  const words = removeOverlaps(
    own.flatMap((utterance) => utterance.words),
    duration,
  );
  let index = 0;
  return own.flatMap((utterance) =>
    utterance.words.map(() => ({ word: { ...words[index++]!, channel }, utterance })),
  );
}

function inSpeakingOrder(channels: readonly [ChannelWord[], ChannelWord[]]): ChannelWord[] {
  const ordered: ChannelWord[] = [];
  const next: [number, number] = [0, 0];
  let current: 0 | 1 = 0;
  let previous: TimedWord | null = null;
  while (ordered.length < channels[0].length + channels[1].length) {
    const mine: ChannelWord | undefined = channels[current][next[current]];
    const other: ChannelWord | undefined = channels[current === 0 ? 1 : 0][next[current === 0 ? 1 : 0]];
    if (mine === undefined || (other !== undefined && isOthersTurn(previous, mine.word, other.word))) {
      current = current === 0 ? 1 : 0;
      ordered.push(other!);
      previous = other!.word;
    } else {
      ordered.push(mine);
      previous = mine.word;
    }
    next[current]++;
  }
  return ordered;
}

/** @param previous word of the current speaker; null before the first word */
function isOthersTurn(previous: TimedWord | null, mine: TimedWord, other: TimedWord): boolean {
  if (other.start >= mine.start) return false;
  if (previous === null || mine.start - previous.end >= PAUSE_SECONDS) return true;
  return SENTENCE_END.test(previous.word) || mine.end - other.start > MAX_DELAY_SECONDS;
}

/**
 * Returns times at which the words are in order. The starts move as little as possible: isotonic regression, by the
 * pool-adjacent-violators algorithm, of the starts less the durations before them.
 */
function placed(words: readonly TimedWord[], duration: number): Pick<TimedWord, "start" | "end">[] {
  const kept = words.map(({ start, end }) => KEPT_SHARE * (end - start));
  const pools: { sum: number; count: number }[] = [];
  let keptBefore = 0;
  for (const [index, { start }] of words.entries()) {
    let pool = { sum: start - keptBefore, count: 1 };
    keptBefore += kept[index]!;
    for (
      let last = pools.at(-1);
      last && last.sum / last.count > pool.sum / pool.count;
      last = pools.at(-1)
    ) {
      pool = { sum: last.sum + pool.sum, count: last.count + pool.count };
      pools.pop();
    }
    pools.push(pool);
  }
  const latest = duration - keptBefore;
  keptBefore = 0;
  const starts: number[] = [];
  for (const { sum, count } of pools) {
    for (let index = 0; index < count; index++) {
      starts.push(Math.max(0, Math.min(sum / count, latest)) + keptBefore);
      keptBefore += kept[starts.length - 1]!;
    }
  }
  return words.map(({ start, end }, index) => ({
    start: starts[index]!,
    end: Math.min(starts[index]! + end - start, starts[index + 1] ?? duration),
  }));
}
