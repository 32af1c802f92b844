import type { LanguageStretchView } from "@subtext/server/admin/contract/video-detail";
import { memo, type Ref } from "react";
import { clock } from "../../ui/format.ts";
import css from "./transcript.module.css";
import { type Paragraph, type Transcript, UNSURE_BELOW_PERCENT } from "./transcript-model.ts";

/** About as many characters fill a line; only what is not on the screen is reckoned by it. */
const CHARACTERS_A_LINE = 56;
const LINE_REM = 1.75;

interface TranscriptTextProps {
  transcript: Transcript;
  stretches: readonly LanguageStretchView[];
  showUnsure: boolean;
  ref: Ref<HTMLElement>;
}

/** All of it is in the document, so that the browser's own search finds it; what is not seen is not laid out. */
export const TranscriptText = memo(function TranscriptText(props: TranscriptTextProps) {
  const { transcript, stretches, showUnsure, ref } = props;
  return (
    <section
      ref={ref}
      className={css.text}
      data-unsure={showUnsure || undefined}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard goes through its words.
      tabIndex={0}
      aria-label="Transcript: arrow keys go through its words, Enter plays from there"
    >
      {transcript.paragraphs.map((paragraph, index) => (
        <ParagraphText
          key={paragraph.firstWord}
          index={index}
          paragraph={paragraph}
          confidences={transcript.confidences}
          language={languageAt(stretches, paragraph.start) ?? transcript.language}
        />
      ))}
    </section>
  );
});

const ParagraphText = memo(function ParagraphText(props: {
  index: number;
  paragraph: Paragraph;
  confidences: Transcript["confidences"];
  language: string;
}) {
  const { index, paragraph, confidences, language } = props;
  const lines = Math.ceil(paragraph.text.length / CHARACTERS_A_LINE);
  return (
    <div
      className={css.paragraph}
      style={{ containIntrinsicBlockSize: `auto ${lines * LINE_REM + 0.75}rem` }}
    >
      <button
        className={css.time}
        type="button"
        tabIndex={-1}
        data-paragraph={index}
        aria-label={`Play from ${clock(paragraph.start)}`}
      >
        {clock(paragraph.start)}
      </button>
      <p dir="auto" lang={language}>
        {confidences ? marked(paragraph, confidences) : paragraph.text}
      </p>
    </div>
  );
});

/** The text, its unsure words in elements of their own. */
function marked({ text, froms, tos, firstWord }: Paragraph, confidences: readonly (number | null)[]) {
  const parts: (string | React.ReactElement)[] = [];
  let done = 0;
  for (let place = 0; place < froms.length; place++) {
    const percent = confidences[firstWord + place];
    if (percent === null || percent === undefined || percent >= UNSURE_BELOW_PERCENT) continue;
    const [from, to] = [froms[place]!, tos[place]!];
    parts.push(text.slice(done, from));
    parts.push(
      <span key={place} className={css.unsure} title={`${percent}% confidence`}>
        {text.slice(from, to)}
      </span>,
    );
    done = to;
  }
  parts.push(text.slice(done));
  return parts;
}

function languageAt(stretches: readonly LanguageStretchView[], seconds: number): string | undefined {
  return stretches.find(({ start, end }) => seconds >= start && seconds < end)?.language;
}
