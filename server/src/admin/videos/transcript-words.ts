import { needsSpace } from "@subtext/captions/script";
import { beginsParagraph, isLongParagraph } from "@subtext/captions/text";
import type { TranscriptWordsView } from "../contract/video-detail.ts";

/** A word in the transcript's JSON file. */
interface FileWord {
  word: string;
  /** Seconds, 3 decimals. */
  start: number;
  end: number;
  speaker?: string | null | undefined;
  channel?: number | null | undefined;
}

/**
 * Converts the words to one array per field and splits them into paragraphs. Paragraphs break where the plain text does
 * and where the speaker changes. Long ones are split further, because the browser lays out only visible paragraphs.
 * @param confidences 0 … 1, one for each word
 */
export function transcriptWords(
  words: readonly FileWord[],
  { language, confidences }: { language: string; confidences: readonly (number | null)[] | null },
): TranscriptWordsView {
  const view: TranscriptWordsView = {
    language,
    words: [],
    pauses: [],
    durations: [],
    confidences: confidences?.map((value) => (value === null ? null : Math.round(value * 100))) ?? null,
    paragraphs: [],
    speakers: words.some(({ speaker }) => speaker) ? [] : null,
    channels: words.some(({ channel }) => channel) ? [] : null,
  };
  let previous: FileWord | undefined;
  let paragraphStart = 0;
  for (const [index, next] of words.entries()) {
    const startsParagraph =
      !previous ||
      previous.speaker !== next.speaker ||
      beginsParagraph(previous, next) ||
      isLongParagraph(index - paragraphStart, previous, next);
    if (startsParagraph) {
      view.paragraphs.push(index);
      view.speakers?.push(next.speaker ?? null);
      view.channels?.push(next.channel ?? null);
      paragraphStart = index;
    }
    const spaced = !startsParagraph && previous && needsSpace(previous.word, next.word);
    view.words.push(spaced ? ` ${next.word}` : next.word);
    view.pauses.push(milliseconds(next.start) - milliseconds(previous?.end ?? 0));
    view.durations.push(milliseconds(next.end) - milliseconds(next.start));
    previous = next;
  }
  return view;
}

function milliseconds(seconds: number): number {
  return Math.round(seconds * 1000);
}
