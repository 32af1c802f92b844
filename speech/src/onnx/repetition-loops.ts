const LOOP_REPEATS = 4;
const LOOP_TOKENS = 16;
const LONGEST_LOOP = 24;
/** People say "no" and "ha" many times on end, but hardly so many. */
const SYLLABLE_TOKENS = 2;
const SYLLABLE_LOOP_TOKENS = 24;
/** More than anybody says within the 30 s that a model hears at once: five tokens a second. */
const UNSAYABLE_TOKENS = 160;

/**
 * Whether the tokens end in a phrase that a decoder says over and over. People repeat sentences too, in songs
 * and prayers and lessons, and a model then writes each of them and comes to an end. A loop has no end: it
 * runs into the limit, or goes on for longer than anybody speaks.
 * @param maxTokens At which decoding is cut off.
 * @returns How many tokens to keep so that the phrase stands once; null where nothing loops, or not yet surely.
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
