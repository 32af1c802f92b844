import { layOutCues } from "./cues.ts";
import { directionMark, formatTimestamp, onOneLine } from "./vtt.ts";
import type { Word } from "./words.ts";

/**
 * Renders a SubRip file with the same captions as the WebVTT file.
 *
 * @param words as returned by `normalizeWords`
 */
export function renderSrt(words: readonly Word[], options: { language: string }): string {
  const cues = layOutCues(words, options).map(({ start, end, lines, direction }, index) => {
    const times = `${formatTimestamp(start, ",")} --> ${formatTimestamp(end, ",")}`;
    const payload = lines.map((line) => directionMark(line, direction) + onOneLine(line));
    return [index + 1, times, ...payload, ""].join("\n");
  });
  return cues.join("\n");
}
