/** Returns only letters and digits, in lower case, without spaces: what does not depend on punctuation. */
export function plainText(words: readonly { word: string }[]): string {
  return words
    .map(({ word }) => word)
    .join("")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]/gu, "");
}
