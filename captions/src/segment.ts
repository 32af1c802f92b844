import { isClosingPunctuation, isOpeningPunctuation } from "./punctuation.ts";
import { firstCharacter, hasUnspacedScript, isUnspaced, lastCharacter, needsSpace } from "./script.ts";
import type { Span } from "./spans.ts";

/** A pause of this length is a word boundary even inside a dictionary word. */
const WORD_PAUSE_MS = 500;
const CONTINUES_CHARACTER = /^\p{M}/u;
const LEADING_MARKS = /^\p{M}+/u;
const SPOKEN = /[\p{L}\p{M}\p{N}]/u;

const wordSegmenter = new Intl.Segmenter("und", { granularity: "word" });

/**
 * Splits text in scripts without spaces into words. Engines return such text as phrases, words or single characters.
 * Therefore runs of one speaker and channel without a pause are joined first, then split by `Intl.Segmenter`. The time
 * of each span is distributed over its characters. Other scripts stay unchanged.
 */
export function segmentUnspaced(spans: readonly Span[]): Span[] {
  const words: Span[] = [];
  for (let index = 0; index < spans.length; ) {
    const first = spans[index]!;
    if (!hasUnspacedScript(first.text)) {
      words.push(first);
      index++;
      continue;
    }
    const run = [first];
    for (let next = spans[++index]; next; next = spans[++index]) {
      const last = run.at(-1)!;
      const belongs =
        hasUnspacedScript(next.text) &&
        !needsSpace(last.text, next.text) &&
        next.speaker === first.speaker &&
        next.channel === first.channel;
      if (!belongs || next.start - last.end >= WORD_PAUSE_MS) break;
      run.push(next);
    }
    for (const word of segmentRun(run)) words.push(word);
  }
  return words;
}

function segmentRun(run: readonly Span[]): Span[] {
  const text = run.map((span) => span.text).join("");
  const times = characterTimes(run);
  const words: Span[] = [];
  let from = 0;
  for (const word of splitWords(text)) {
    const spoken = spokenRange(word);
    words.push({
      // Non-breaking spaces may remain at the boundary.
      text: word.trim(),
      start: Math.round(times.starts[from + spoken.from]!),
      end: Math.round(times.ends[from + spoken.to - 1]!),
      confidence: lowest(times.confidences.slice(from + spoken.from, from + spoken.to)),
      speaker: run[0]!.speaker,
      channel: run[0]!.channel,
    });
    from += word.length;
  }
  return words;
}

/**
 * Splits text into words with their punctuation. Closing punctuation belongs to the previous word, opening punctuation
 * to the next.
 */
function splitWords(text: string): string[] {
  const words: string[] = [];
  let word = "";
  for (const { segment, isWordLike } of wordSegmenter.segment(text)) {
    const ended = word !== "" && !isClosingPunctuation(word) && !isOpeningPunctuation(lastCharacter(word));
    const begins = (isWordLike && !isClosingPunctuation(segment)) || isOpeningPunctuation(segment);
    const atScript = isUnspaced(lastCharacter(word)) || isUnspaced(firstCharacter(segment));
    if (ended && begins && atScript) {
      words.push(word);
      word = "";
    }
    word += segment;
  }
  if (word !== "") words.push(word);
  return words;
}

function lowest(confidences: readonly (number | undefined)[]): number | undefined {
  const values = confidences.filter((confidence) => confidence !== undefined);
  return values.length === 0 ? undefined : Math.min(...values);
}

/**
 * Returns the start and end of each UTF-16 code unit of a run, in milliseconds. The time of a span is distributed evenly
 * over its letters and digits; punctuation gets none.
 */
function characterTimes(run: readonly Span[]) {
  const starts: number[] = [];
  const ends: number[] = [];
  const confidences: (number | undefined)[] = [];
  for (const { text, start, end, confidence } of run) {
    const units = [...text].flatMap((character) =>
      new Array<boolean>(character.length).fill(SPOKEN.test(character)),
    );
    const spokenCount = units.filter(Boolean).length;
    let spokenBefore = 0;
    for (const spoken of units) {
      starts.push(start + ((end - start) * spokenBefore) / Math.max(spokenCount, 1));
      if (spoken) spokenBefore++;
      ends.push(start + ((end - start) * spokenBefore) / Math.max(spokenCount, 1));
      confidences.push(confidence);
    }
  }
  return { starts, ends, confidences };
}

/** Returns the range of a word without its surrounding punctuation, which the engine may have timed separately. */
function spokenRange(word: string): { from: number; to: number } {
  const from = word.search(SPOKEN);
  if (from < 0) return { from: 0, to: word.length };
  let to = word.length;
  while (to > from && !SPOKEN.test(lastCharacter(word.slice(0, to))))
    to -= lastCharacter(word.slice(0, to)).length;
  return { from, to };
}

/**
 * Joins fragments into words. Standalone punctuation joins the word that it belongs to, and its time is dropped. A
 * fragment that begins with a combining mark, such as a Thai vowel sign, continues the previous word.
 */
export function joinFragments(spans: readonly Span[]): Span[] {
  const joined: Span[] = [];
  let opening: Span | undefined;
  for (const span of spans) {
    const last = joined.at(-1)?.channel === span.channel ? joined.at(-1) : undefined;
    if (!opening && last && isClosingPunctuation(span.text)) {
      last.text += span.text;
    } else if (!opening && last && CONTINUES_CHARACTER.test(span.text)) {
      last.text = (last.text + span.text).normalize("NFC");
      last.end = span.end;
    } else if (isOpeningPunctuation(span.text)) {
      opening = { ...span, text: (opening?.text ?? "") + span.text };
    } else {
      const text = opening ? opening.text + span.text : span.text.replace(LEADING_MARKS, "");
      if (text !== "") joined.push({ ...span, text: text.normalize("NFC") });
      opening = undefined;
    }
  }
  const last = joined.at(-1);
  if (opening && last) last.text += opening.text;
  else if (opening) joined.push(opening);
  return joined;
}
