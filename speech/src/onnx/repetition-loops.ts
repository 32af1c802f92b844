const LOOP_REPEATS = 4;
const LOOP_TOKENS = 16;
const LONGEST_LOOP = 24;
/** People repeat "no" and "ha" many times, but hardly this often. */
const SYLLABLE_TOKENS = 2;
const SYLLABLE_LOOP_TOKENS = 24;
/** More than anyone can say within the 30 s of a window: five tokens per second. */
const UNSAYABLE_TOKENS = 160;

/**
 * Detects a repetition loop at the end of the tokens. People repeat sentences too, in songs, prayers and
 * lessons; a model then writes each repetition and ends. A loop does not end: it runs into the limit, or
 * continues for longer than anybody speaks.
 * @param maxTokens The token limit.
 * @returns The number of tokens up to the first repetition; null if there is no loop, or not certainly.
 */
export function lengthBeforeLoop(tokens: readonly number[], maxTokens: number): number | null {
  for (let period = 1; period <= LONGEST_LOOP; period++) {
    const needed = Math.max(LOOP_REPEATS * period, leastTokens(period, tokens.length >= maxTokens));
    if (tokens.length < needed) continue;
    let same = period;
    while (same < tokens.length && tokens.at(-1 - same) === tokens.at(-1 - same + period)) same++;
    if (same >= needed) return tokens.length - same + period;
  }
  return null;
}

function leastTokens(period: number, atLimit: boolean): number {
  if (atLimit) return LOOP_TOKENS;
  return period <= SYLLABLE_TOKENS ? SYLLABLE_LOOP_TOKENS : UNSAYABLE_TOKENS;
}
