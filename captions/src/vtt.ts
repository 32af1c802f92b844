import { type Cue, layOutCues } from "./cues.ts";
import { type Direction, firstLetterDirection } from "./direction.ts";
import type { Word } from "./words.ts";

/**
 * Renders a WebVTT file. WebVTT has no field for the language; players read it from `<track srclang>`.
 *
 * @param words as returned by `normalizeWords`
 */
export function renderVtt(words: readonly Word[], options: { language: string }): string {
  return renderCues(layOutCues(words, options), () => "");
}

/** @param tagOf returns what to write before the first line of a cue, such as a voice tag */
export function renderCues(cues: readonly Cue[], tagOf: (cue: Cue) => string): string {
  const blocks = cues.map((cue) => {
    const payload = cue.lines.map((line) => directionMark(line, cue.direction) + escapeText(line));
    const times = `${formatTimestamp(cue.start, ".")} --> ${formatTimestamp(cue.end, ".")}`;
    return `${times}\n${tagOf(cue)}${payload.join("\n")}\n`;
  });
  return ["WEBVTT\n", ...blocks].join("\n");
}

/**
 * Returns an invisible direction mark if the direction of the line's first letter differs from that of the caption,
 * because players derive the direction of a line from its first letter.
 */
export function directionMark(line: string, direction: Direction): string {
  if ((firstLetterDirection(line) ?? "ltr") === direction) return "";
  return direction === "rtl" ? "\u200f" : "\u200e";
}

const ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** Prevents text from ending the cue and from being parsed as a tag, an entity or an arrow. */
export function escapeText(text: string): string {
  return onOneLine(text).replace(/[&<>]/g, (character) => ESCAPES[character]!);
}

/** Replaces line breaks and other control characters. */
export function onOneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ");
}

/** `hh:mm:ss.ttt`, with more digits for the hours if necessary. */
export function formatTimestamp(seconds: number, separator: "." | ","): string {
  const ms = Math.round(seconds * 1000);
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor(ms / 60_000) % 60;
  return `${pad(hours, 2)}:${pad(minutes, 2)}:${pad(Math.floor(ms / 1000) % 60, 2)}${separator}${pad(ms % 1000, 3)}`;
}

function pad(value: number, digits: number): string {
  return String(value).padStart(digits, "0");
}
