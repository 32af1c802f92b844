import { readdirSync, readFileSync } from "node:fs";
import { join, parse } from "node:path";
import type { SpokenWord } from "./synthetic-speech.ts";

/** A recording of real speech with aligned word boundaries. */
export interface AlignedRecording {
  name: string;
  path: string;
  words: SpokenWord[];
}

/** Finds recordings next to a Praat TextGrid of the same name, in the folder and its subfolders. */
export function alignedRecordings(folder: string): AlignedRecording[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted();
  return files
    .filter((file) => file.endsWith(".TextGrid"))
    .flatMap((file) => {
      const { dir, name } = parse(file);
      const audio = files.find(
        (other) => other !== file && parse(other).dir === dir && parse(other).name === name,
      );
      if (audio === undefined) return [];
      return [{ name, path: join(folder, audio), words: wordTier(readFileSync(join(folder, file), "utf8")) }];
    });
}

/**
 * Returns the intervals with text of the tier `words`.
 * @param text in Praat's long or short text format
 */
function wordTier(text: string): SpokenWord[] {
  const values = text.replaceAll(/\[\d*\]/g, "").match(/"(?:[^"]|"")*"|\d+(?:\.\d+)?/g) ?? [];
  // After the name of the tier: its start, its end, the number of intervals, and for each interval start, end and text.
  const intervals = values.slice(values.findIndex((value) => value.toLowerCase() === '"words"') + 3);
  return Array.from({ length: Number(intervals[0]) }, (_, index) => intervals.slice(3 * index + 1)).flatMap(
    ([start, end, quoted = ""]) => {
      const word = quoted.slice(1, -1).trim();
      return word === "" ? [] : [{ word, start: Number(start), end: Number(end) }];
    },
  );
}
