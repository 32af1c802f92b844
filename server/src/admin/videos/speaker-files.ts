import { renderSpeakerSrt, renderSpeakerText, renderSpeakerVtt } from "@subtext/captions/speakers";
import type { EditableWord } from "@subtext/client/contract/transcript-words";
import type { SpeakerFormat } from "../contract/video-detail.ts";

export function renderSpeakerFile(
  words: readonly EditableWord[],
  { format, language }: { format: SpeakerFormat; language: string },
): string {
  const named = words.map(({ word, start, end, speaker, channel }) => ({
    word,
    start,
    end,
    speaker: speaker ?? undefined,
    channel: channel ?? undefined,
  }));
  if (format === "txt") return renderSpeakerText(named);
  if (format === "srt") return renderSpeakerSrt(named, { language });
  return renderSpeakerVtt(named, { language });
}
