const MIN_OCCURRENCES = 4;
/** Minimum length of a loop at the token limit. */
const MIN_TOKENS_AT_LIMIT = 16;
const MAX_PERIOD = 24;
/** People repeat "no" and "ha" many times, but hardly this often. */
const SYLLABLE_TOKENS = 2;
const SYLLABLE_LOOP_TOKENS = 24;
/** At five tokens per second, more than anyone can say within a window of 30 s. */
const UNSAYABLE_TOKENS = 160;

/**
 * Detects a repetition loop at the end of the tokens. Real repetitions, as in songs, prayers and lessons, come to an end. A
 * loop reaches the token limit or is longer than anyone can speak.
 * @param maxTokens the token limit
 * @returns number of tokens up to the end of the first occurrence; null if there is no certain loop
 */
export function lengthBeforeLoop(tokens: readonly number[], maxTokens: number): number | null {
  for (let period = 1; period <= MAX_PERIOD; period++) {
    const needed = Math.max(MIN_OCCURRENCES * period, minTokens(period, tokens.length >= maxTokens));
    if (tokens.length < needed) continue;
    let same = period;
    while (same < tokens.length && tokens.at(-1 - same) === tokens.at(-1 - same + period)) same++;
    if (same >= needed) return tokens.length - same + period;
  }
  return null;
}

function minTokens(period: number, isAtLimit: boolean): number {
  if (isAtLimit) return MIN_TOKENS_AT_LIMIT;
  return period <= SYLLABLE_TOKENS ? SYLLABLE_LOOP_TOKENS : UNSAYABLE_TOKENS;
}
