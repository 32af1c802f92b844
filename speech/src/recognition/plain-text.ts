/** Letters and digits only, in lower case, without spaces: what stays the same however a text is punctuated. */
export function plainText(words: readonly { word: string }[]): string {
  return words
    .map(({ word }) => word)
    .join("")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]/gu, "");
}
