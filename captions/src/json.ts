import type { Word } from "./words.ts";

/** The json file: an array of `{word, start, end}`, one word a line. */
export function renderJson(words: readonly Word[]): string {
  const lines = words.map(({ word, start, end }) => JSON.stringify({ word, start, end }));
  return lines.length === 0 ? "[]\n" : `[\n${lines.join(",\n")}\n]\n`;
}
