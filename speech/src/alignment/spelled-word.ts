/** A word of decoded text and the tokens that spell it: `[firstToken, endToken)`, never empty. */
export interface SpelledWord {
  text: string;
  firstToken: number;
  endToken: number;
  /**
   * The part of these tokens that is heard, where it is not all of them, as places among the tokens: from
   * 3.5 to 5 is the second half of token 3 and all of token 4. Marks at a word's ends are not heard; where
   * a token spells the end of one word and the beginning of the next, each takes its share of the token's
   * time, so that of two words in order `to` is never after the next one's `from`.
   */
  spoken?: { from: number; to: number };
}
