import type { Word } from "./words.ts";

/** Renders an array of `{word, start, end}`, one word per line. */
export function renderJson(words: readonly Word[]): string {
  const lines = words.map(({ word, start, end }) => JSON.stringify({ word, start, end }));
  return lines.length === 0 ? "[]\n" : `[\n${lines.join(",\n")}\n]\n`;
}
