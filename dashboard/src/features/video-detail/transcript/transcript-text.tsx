import type { LanguageSegmentView } from "@subtext/server/admin/contract/video-detail";
import { memo, type Ref } from "react";
import { videoDetail as texts } from "../../../messages/en/video-detail.ts";
import { formatClock, formatShare } from "../../../ui/format.ts";
import css from "./transcript.module.css";
import { LOW_CONFIDENCE_PERCENT, type Paragraph, type Transcript } from "./transcript-model.ts";

/** For estimating the height of paragraphs that are not laid out yet. */
const CHARACTERS_PER_LINE = 56;
const LINE_REM = 1.75;

/** Returns the estimated height of a paragraph without a speaker. */
export function estimateHeightRem(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_LINE) * LINE_REM + 0.75;
}

interface TranscriptTextProps {
  transcript: Transcript;
  segments: readonly LanguageSegmentView[];
  showLowConfidence: boolean;
  ref: Ref<HTMLElement>;
}

/** Renders the entire text for the browser's own search. The browser lays out only visible paragraphs. */
export const TranscriptText = memo(function TranscriptText(props: TranscriptTextProps) {
  const { transcript, segments, showLowConfidence, ref } = props;
  return (
    <section
      ref={ref}
      className={css.text}
      data-low-confidence={showLowConfidence || undefined}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and arrow keys move through its words
      tabIndex={0}
      aria-label={texts.transcriptHelp}
    >
      {transcript.paragraphs.map((paragraph, index) => (
        <ParagraphText
          key={paragraph.firstWord}
          index={index}
          paragraph={paragraph}
          confidences={transcript.confidences}
          isNewSpeaker={paragraph.speaker !== transcript.paragraphs[index - 1]?.speaker}
          language={languageAt(segments, paragraph.start) ?? transcript.language}
        />
      ))}
    </section>
  );
});

const ParagraphText = memo(function ParagraphText(props: {
  index: number;
  paragraph: Paragraph;
  confidences: Transcript["confidences"];
  isNewSpeaker: boolean;
  language: string;
}) {
  const { index, paragraph, confidences, isNewSpeaker, language } = props;
  return (
    <div
      className={css.paragraph}
      data-start={paragraph.start}
      style={{ containIntrinsicBlockSize: `auto ${estimateHeightRem(paragraph.text.length)}rem` }}
    >
      <button
        className={css.time}
        type="button"
        tabIndex={-1}
        data-paragraph={index}
        aria-label={texts.playFrom(formatClock(paragraph.start))}
      >
        {formatClock(paragraph.start)}
      </button>
      <div>
        {isNewSpeaker && paragraph.speaker !== null && <div className={css.speaker}>{paragraph.speaker}</div>}
        <p dir="auto" lang={language}>
          {confidences ? markLowConfidence(paragraph, confidences) : paragraph.text}
        </p>
      </div>
    </div>
  );
});

function markLowConfidence(
  { text, wordStarts, wordEnds, firstWord }: Paragraph,
  confidences: readonly (number | null)[],
) {
  const parts: (string | React.ReactElement)[] = [];
  let end = 0;
  for (let index = 0; index < wordStarts.length; index++) {
    const percent = confidences[firstWord + index];
    if (percent === null || percent === undefined || percent >= LOW_CONFIDENCE_PERCENT) continue;
    const [wordStart, wordEnd] = [wordStarts[index]!, wordEnds[index]!];
    parts.push(text.slice(end, wordStart));
    parts.push(
      <span key={index} className={css.lowConfidence} title={texts.confidence(formatShare(percent / 100))}>
        {text.slice(wordStart, wordEnd)}
      </span>,
    );
    end = wordEnd;
  }
  parts.push(text.slice(end));
  return parts;
}

function languageAt(segments: readonly LanguageSegmentView[], seconds: number): string | undefined {
  return segments.find(({ start, end }) => seconds >= start && seconds < end)?.language;
}
