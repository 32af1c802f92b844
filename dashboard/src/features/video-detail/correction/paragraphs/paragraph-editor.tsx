import { memo, useLayoutEffect, useRef } from "react";
import { correction as texts } from "../../../../messages/en/correction.ts";
import { videoDetail } from "../../../../messages/en/video-detail.ts";
import { formatClock } from "../../../../ui/format.ts";
import { PlusIcon } from "../../../../ui/icons.tsx";
import { speakerLabel } from "../../texts.ts";
import { createTextRange, highlightLowConfidence, textOffset } from "../../transcript/text-ranges.ts";
import css from "../../transcript/transcript.module.css";
import { estimateHeightRem } from "../../transcript/transcript-text.tsx";
import { LOW_CONFIDENCE, type Paragraph, paragraphText } from "../edited-transcript.ts";
import editorCss from "../transcript-editor.module.css";

/** Height of the speaker's button. */
const SPEAKER_REM = 1.5;

export interface ParagraphActions {
  /**
   * @param before text of the element before the change
   * @returns the changed words of the paragraph
   */
  type(change: { paragraph: number; before: string; after: string }): Paragraph;
  /** @param words indexes of the selected words; null for the entire paragraph */
  nameSpeaker(paragraph: number, words: { from: number; to: number } | null): void;
  play(seconds: number): void;
}

interface ParagraphEditorProps {
  index: number;
  paragraph: Paragraph;
  /** Whether the speaker differs from that of the previous paragraph. */
  isNewSpeaker: boolean;
  language: string;
  actions: ParagraphActions;
}

/** An editable paragraph. React does not render its text, because the browser edits it in place. */
export const ParagraphEditor = memo(function ParagraphEditor(props: ParagraphEditorProps) {
  const { index, paragraph, isNewSpeaker, language, actions } = props;
  const element = useRef<HTMLDivElement>(null);
  const typed = useRef("");
  /** The words that the element's text shows. */
  const shown = useRef(paragraph);
  const isComposing = useRef(false);
  const unmark = useRef(() => {});
  const start = paragraph[0]?.start ?? 0;
  const speaker = speakerLabel(paragraph[0]?.speaker ?? null, paragraph[0]?.channel ?? null);

  useLayoutEffect(() => {
    const target = element.current!;
    const { text } = paragraphText(paragraph);
    // While the paragraph has focus, keeps typed spaces that do not separate words yet.
    const isTyped = document.activeElement === target && sameWords(shown.current, paragraph);
    if (!isTyped) {
      if (target.textContent !== text) target.textContent = text;
      typed.current = text;
    }
    shown.current = paragraph;
    unmark.current = markLowConfidence(target, paragraph);
    return () => unmark.current();
  }, [paragraph]);

  const read = () => {
    const after = element.current!.textContent ?? "";
    if (after !== typed.current)
      shown.current = actions.type({ paragraph: index, before: typed.current, after });
    typed.current = after;
  };

  return (
    <div
      className={css.paragraph}
      data-paragraph={index}
      data-start={start}
      style={{
        containIntrinsicBlockSize: `auto ${estimateHeightRem(textLength(paragraph)) + SPEAKER_REM}rem`,
      }}
    >
      <button
        className={css.time}
        type="button"
        tabIndex={-1}
        aria-label={videoDetail.playFrom(formatClock(start))}
        onClick={() => actions.play(start)}
      >
        {formatClock(start)}
      </button>
      <div>
        <button
          type="button"
          className={editorCss.speaker}
          data-speaker
          // The editor moves the tab stops with the focus.
          tabIndex={index === 0 ? 0 : -1}
          data-quiet={!isNewSpeaker || speaker === null || undefined}
          aria-label={speaker === null ? texts.nameSpeaker : texts.changeSpeaker(speaker)}
          // Keeps the selection, which may be the words to assign to a speaker.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => actions.nameSpeaker(index, selectedWords(element.current!, paragraph))}
        >
          {speaker ?? (
            <>
              <PlusIcon /> {texts.speaker}
            </>
          )}
        </button>
        {/* biome-ignore lint/a11y/useSemanticElements: a textarea cannot highlight words */}
        <div
          ref={element}
          className={editorCss.text}
          role="textbox"
          aria-multiline="true"
          aria-label={texts.paragraphAt(speaker, formatClock(start))}
          tabIndex={index === 0 ? 0 : -1}
          contentEditable="plaintext-only"
          suppressContentEditableWarning
          spellCheck
          dir="auto"
          lang={language}
          onInput={() => {
            if (!isComposing.current) read();
          }}
          onCompositionStart={() => {
            isComposing.current = true;
          }}
          onCompositionEnd={() => {
            isComposing.current = false;
            read();
          }}
          onBlur={({ currentTarget }) => {
            const { text } = paragraphText(paragraph);
            typed.current = text;
            if (currentTarget.textContent === text) return;
            // Does not restore the caret, because a click may have placed it in another paragraph.
            currentTarget.textContent = text;
            unmark.current();
            unmark.current = markLowConfidence(currentTarget, paragraph);
          }}
        />
      </div>
    </div>
  );
});

function textLength(paragraph: Paragraph): number {
  return paragraph.reduce((length, { word }) => length + word.length + 1, 0);
}

function sameWords(a: Paragraph, b: Paragraph): boolean {
  return a === b || (a.length === b.length && a.every(({ word }, index) => word === b[index]!.word));
}

/** Finds the words in the element's text, which may contain extra spaces. An entry is null if its word is not found. */
export function locateWords(text: string, paragraph: Paragraph): ({ start: number; end: number } | null)[] {
  let offset = 0;
  return paragraph.map(({ word }) => {
    const start = text.indexOf(word, offset);
    if (start < 0) return null;
    offset = start + word.length;
    return { start, end: offset };
  });
}

/** Highlights the words of low confidence. Replacing the element's text requires another call. */
function markLowConfidence(element: HTMLElement, paragraph: Paragraph): () => void {
  const ranges = locateWords(element.textContent ?? "", paragraph).flatMap((place, word) => {
    const { confidence } = paragraph[word]!;
    if (!place || confidence === null || confidence >= LOW_CONFIDENCE) return [];
    return createTextRange(element, place.start, place.end) ?? [];
  });
  return highlightLowConfidence(ranges);
}

function selectedWords(element: HTMLElement, paragraph: Paragraph): { from: number; to: number } | null {
  const selection = getSelection();
  if (!selection || selection.isCollapsed || selection.rangeCount === 0) return null;
  const range = selection.getRangeAt(0);
  if (!element.contains(range.startContainer) || !element.contains(range.endContainer)) return null;
  const start = textOffset(element, range.startContainer, range.startOffset);
  const end = textOffset(element, range.endContainer, range.endOffset);
  const places = locateWords(element.textContent ?? "", paragraph);
  const from = places.findIndex((place) => place !== null && place.end > start);
  const to = places.findLastIndex((place) => place !== null && place.start < end) + 1;
  return from < 0 || to <= from ? null : { from, to };
}
