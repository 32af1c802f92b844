import { changeText, type EditedTranscript, paragraphText } from "./edited-transcript.ts";

/** A match with the text around it, for the preview. */
export interface Match {
  paragraph: number;
  /** Offsets in the paragraph's text. */
  from: number;
  to: number;
  before: string;
  match: string;
  after: string;
}

const CONTEXT_CHARACTERS = 30;

export interface Search {
  text: string;
  matchCase: boolean;
}

/** Matches whole words and parts of words. A match does not span paragraphs. */
export function findMatches(transcript: EditedTranscript, search: Search): Match[] {
  const pattern = patternOf(search);
  if (!pattern) return [];
  return transcript.flatMap((words, paragraph) => {
    const { text } = paragraphText(words);
    return [...text.matchAll(pattern)].map(({ 0: match, index }) => ({
      paragraph,
      from: index,
      to: index + match.length,
      before: text.slice(Math.max(0, index - CONTEXT_CHARACTERS), index),
      match,
      after: text.slice(index + match.length, index + match.length + CONTEXT_CHARACTERS),
    }));
  });
}

/** Replaces every match. Each replacement changes the times only of the words that it touches. */
export function replaceAll(
  transcript: EditedTranscript,
  search: Search,
  { replacement, durationSeconds }: { replacement: string; durationSeconds: number },
): EditedTranscript {
  const pattern = patternOf(search);
  if (!pattern) return transcript;
  let changed = transcript;
  transcript.forEach((words, paragraph) => {
    const { text } = paragraphText(words);
    // From last to first, so that the offsets of the remaining matches stay valid.
    for (const { 0: match, index } of [...text.matchAll(pattern)].reverse()) {
      const current = paragraphText(changed[paragraph]!).text;
      const next = current.slice(0, index) + replacement + current.slice(index + match.length);
      changed = changeText(changed, paragraph, next, durationSeconds);
    }
  });
  return changed;
}

function patternOf({ text, matchCase }: Search): RegExp | null {
  if (text.trim() === "") return null;
  return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), matchCase ? "gu" : "giu");
}
