/*
 * Renders transcripts with the names of speakers, for people who download them. The other renderers ignore names. Words
 * without a speaker get no label. A paragraph or caption never contains words of two speakers.
 */

import { layOutCues } from "./cues.ts";
import { renderSrt } from "./srt.ts";
import { renderText } from "./text.ts";
import { escapeText, renderCues } from "./vtt.ts";
import type { Word } from "./words.ts";

/** Renders paragraphs like `renderText`. The first of each turn begins with the name: `Ada: Hello.` */
export function renderSpeakerText(words: readonly Word[]): string {
  return renderText(nameTurns(separateTurns(words)));
}

/** Renders a SubRip file. The first caption of each turn begins with the name, because SubRip has no field for it. */
export function renderSpeakerSrt(words: readonly Word[], options: { language: string }): string {
  return renderSrt(nameTurns(separateTurns(words)), options);
}

/** Renders a WebVTT file in which each caption with a known speaker has a voice tag: `<v Ada>Hello.` */
export function renderSpeakerVtt(words: readonly Word[], options: { language: string }): string {
  return renderCues(layOutCues(separateTurns(words), options), ({ speaker }) =>
    speaker === undefined ? "" : `<v ${escapeText(speaker)}>`,
  );
}

/** Alternates the channel when the speaker or channel changes, because captions and paragraphs do not mix channels. */
function separateTurns(words: readonly Word[]): Word[] {
  let channel = 1;
  return words.map((word, index) => {
    const previous = words[index - 1] ?? word;
    if (previous.speaker !== word.speaker || previous.channel !== word.channel) channel = 3 - channel;
    return { ...word, channel };
  });
}

/** Prepends the name to the first word of each turn, so that the layout of captions includes it. */
function nameTurns(words: readonly Word[]): Word[] {
  return words.map((word, index) =>
    word.speaker === undefined || word.speaker === words[index - 1]?.speaker
      ? word
      : { ...word, word: `${word.speaker}: ${word.word}` },
  );
}
