import { endsClause, endsSentence } from "@subtext/captions/punctuation";
import { hasUnspacedScript, joinWords } from "@subtext/captions/script";
import type { Word } from "@subtext/captions/words";

/** A sentence, or a part of a long one. The unit of search results. */
export interface Passage {
  startMs: number;
  endMs: number;
  text: string;
}

/** A pause of this length ends a passage. */
const PAUSE_SECONDS = 2;
/** Maximum length in characters. Characters of scripts without spaces count more, because they are wider. */
const MAX_LENGTH = 240;
const UNSPACED_COST = 2.5;

/**
 * Splits a transcript at the ends of sentences and at pauses. Splits a passage that is still too long at a clause, if
 * possible.
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
  return hasUnspacedScript(word) ? word.length * UNSPACED_COST : word.length + 1;
}
