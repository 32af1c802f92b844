import { clock } from "../../ui/format.ts";
import { between } from "./texts.ts";
import { paragraphOf, type Transcript } from "./transcript-model.ts";

export function wholeText({ paragraphs }: Transcript): string {
  return paragraphs.map(({ text }) => text).join("\n\n");
}

export function textWithTimes({ paragraphs }: Transcript): string {
  return paragraphs.map(({ text, start }) => `[${clock(start)}] ${text}`).join("\n\n");
}

/** A selection with the time at which it is said; first and last are words of the transcript. */
export function quote(transcript: Transcript, { first, last }: { first: number; last: number }): string {
  const { paragraphs, starts, ends } = transcript;
  const [from, to] = [paragraphOf(transcript, first), paragraphOf(transcript, last)];
  const texts = paragraphs.slice(from, to + 1).map(({ text, firstWord, froms, tos }, index) => {
    const begin = index === 0 ? froms[first - firstWord]! : 0;
    const end = from + index === to ? tos[last - firstWord]! : text.length;
    return text.slice(begin, end);
  });
  return `[${between(starts[first]!, ends[last]!)}] ${texts.join("\n\n")}`;
}
