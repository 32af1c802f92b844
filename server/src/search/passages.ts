import { endsClause, endsSentence } from "@subtext/captions/punctuation";
import { holdsUnspacedScript, joinWords } from "@subtext/captions/script";
import type { Word } from "@subtext/captions/words";

/** The unit of search results: a sentence, or a part of a long one. */
export interface Passage {
  startMs: number;
  endMs: number;
  text: string;
}

/** Length of a pause that ends a passage, in seconds. */
const PAUSE_SECONDS = 2;
/** Maximum length in characters; those of scripts without spaces count by their display width. */
const MAX_LENGTH = 240;
const UNSPACED_COST = 2.5;

/**
 * Splits at the ends of sentences and at pauses. Splits a passage that is still too long at a clause, or else anywhere.
 */
export function cutPassages(words: readonly Word[]): Passage[] {
  const passages: Passage[] = [];
  let current: Word[] = [];
  let length = 0;
  const end = () => {
    if (current.length > 0) passages.push(toPassage(current));
    current = [];
    length = 0;
  };
  for (const word of words) {
    const last = current.at(-1);
    const cost = costOf(word.word);
    if (last && (word.start - last.end >= PAUSE_SECONDS || length + cost > MAX_LENGTH)) end();
    current.push(word);
    length += cost;
    if (endsSentence(word.word) || (length > MAX_LENGTH / 2 && endsClause(word.word))) end();
  }
  end();
  return passages;
}

function toPassage(words: readonly Word[]): Passage {
  return {
    startMs: Math.round(words[0]!.start * 1000),
    endMs: Math.round(words.at(-1)!.end * 1000),
    text: joinWords(words),
  };
}

function costOf(word: string): number {
  return holdsUnspacedScript(word) ? word.length * UNSPACED_COST : word.length + 1;
}
