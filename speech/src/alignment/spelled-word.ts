/** A word of decoded text and the tokens that spell it: `[firstToken, endToken)`, never empty. */
export interface SpelledWord {
  text: string;
  firstToken: number;
  endToken: number;
  /**
   * The pronounced part of these tokens if it is not all of them, as fractional token positions: from 3.5 to
   * 5 is the second half of token 3 and all of token 4. Punctuation at the ends is not pronounced. If a token
   * spells the end of one word and the start of the next, each gets its share of the token's time, so `to` of
   * a word is never after `from` of the next.
   */
  spoken?: { from: number; to: number };
}
