import { type Cue, layOutCues } from "./cues.ts";
import { type Direction, firstLetterDirection } from "./direction.ts";
import type { Word } from "./words.ts";

/**
 * Renders the WebVTT file (W3C WebVTT: The Web Video Text Tracks Format). WebVTT cannot state its language;
 * `<track srclang>` does.
 *
 * @param words as returned by `normalizeWords`
 */
export function renderVtt(words: readonly Word[], options: { language: string }): string {
  return ["WEBVTT\n", ...layOutCues(words, options).map(renderCue)].join("\n");
}

function renderCue({ start, end, lines, direction }: Cue): string {
  const payload = lines.map((line) => directionMark(line, direction) + escapeText(line)).join("\n");
  return `${formatTimestamp(start, ".")} --> ${formatTimestamp(end, ".")}\n${payload}\n`;
}

/**
 * Players give each line the direction of its first letter. If that is not the direction of the caption, an invisible
 * direction mark precedes the line.
 */
export function directionMark(line: string, direction: Direction): string {
  if ((firstLetterDirection(line) ?? "ltr") === direction) return "";
  return direction === "rtl" ? "\u200f" : "\u200e";
}

const ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** Escapes text so that it cannot end a line or the cue, or be parsed as a tag, an entity or an arrow. */
function escapeText(text: string): string {
  return onOneLine(text).replace(/[&<>]/g, (character) => ESCAPES[character]!);
}

/** Replaces line breaks and other control characters. */
export function onOneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ");
}

/** `hh:mm:ss.ttt`, with more digits for the hours if necessary. */
export function formatTimestamp(seconds: number, separator: "." | ","): string {
  const all = Math.round(seconds * 1000);
  const hours = Math.floor(all / 3_600_000);
  const minutes = Math.floor(all / 60_000) % 60;
  return `${pad(hours, 2)}:${pad(minutes, 2)}:${pad(Math.floor(all / 1000) % 60, 2)}${separator}${pad(all % 1000, 3)}`;
}

function pad(value: number, digits: number): string {
  return String(value).padStart(digits, "0");
}
