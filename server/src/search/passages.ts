import { endsClause, endsSentence } from "@subtext/captions/punctuation";
import { holdsUnspacedScript, joinWords } from "@subtext/captions/script";
import type { Word } from "@subtext/captions/words";

/** What a search finds: a sentence, or a part of a long one. */
export interface Passage {
  startMs: number;
  endMs: number;
  text: string;
}

/** A pause that ends a passage, seconds. */
const PAUSE = 2;
/** Characters; one of a script without spaces counts for as many as it takes of a line. */
const LONGEST = 240;
const UNSPACED_COST = 2.5;

/** Cuts at the ends of sentences and at pauses; what is too long then, at a clause, else anywhere. */
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
    if (last && (word.start - last.end >= PAUSE || length + cost > LONGEST)) end();
    current.push(word);
    length += cost;
    if (endsSentence(word.word) || (length > LONGEST / 2 && endsClause(word.word))) end();
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
