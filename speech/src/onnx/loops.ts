const LOOP_TOKENS = 16;
const LOOP_REPEATS = 4;
const LONGEST_LOOP = 24;

/**
 * Whether the tokens end in a phrase said over and over: at least 4 times on end and 16 tokens in all.
 * @returns How many tokens to keep so that the phrase stands once; null where nothing loops.
 */
export function lengthBeforeLoop(tokens: readonly number[]): number | null {
  for (let period = 1; period <= LONGEST_LOOP; period++) {
    const needed = Math.max(LOOP_REPEATS * period, LOOP_TOKENS);
    if (tokens.length < needed) continue;
    let same = period;
    while (same < tokens.length && tokens.at(-1 - same) === tokens.at(-1 - same + period)) same++;
    if (same >= needed) return tokens.length - same + period;
  }
  return null;
}
