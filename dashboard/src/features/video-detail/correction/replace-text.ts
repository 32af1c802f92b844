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

export interface Replacement {
  text: string;
  /** Length of the recording. */
  durationSeconds: number;
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
  replacement: Replacement,
): EditedTranscript {
  // From last to first, so that the offsets of the remaining matches stay valid.
  return findMatches(transcript, search).reduceRight(
    (changed, match) => replaceMatch(changed, match, replacement),
    transcript,
  );
}

export function replaceMatch(
  transcript: EditedTranscript,
  { paragraph, from, to }: Match,
  { text: replacement, durationSeconds }: Replacement,
): EditedTranscript {
  const { text } = paragraphText(transcript[paragraph]!);
  const changed = text.slice(0, from) + replacement + text.slice(to);
  return changeText(transcript, paragraph, changed, durationSeconds);
}

function patternOf({ text, matchCase }: Search): RegExp | null {
  if (text.trim() === "") return null;
  return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), matchCase ? "gu" : "giu");
}
