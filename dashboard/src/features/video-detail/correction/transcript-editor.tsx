import type { EditableWord } from "@subtext/client/contract/transcript-words";
import type { VideoDetailView } from "@subtext/server/admin/contract/video-detail";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { correction as texts } from "../../../messages/en/correction.ts";
import { ui } from "../../../messages/en/ui.ts";
import { videoDetail } from "../../../messages/en/video-detail.ts";
import { Button, ErrorNotice } from "../../../ui/forms/controls.tsx";
import { FollowIcon, HistoryIcon, RedoIcon, SearchIcon, UndoIcon } from "../../../ui/icons.tsx";
import { Loading } from "../../../ui/page.tsx";
import { RichText } from "../../../ui/rich-text.tsx";
import type { Playback } from "../player/playback.ts";
import type { VideoAddress } from "../queries.ts";
import { type ReadingPosition, useReadingPosition } from "../transcript/reading-position.ts";
import { scrollIntoView } from "../transcript/scroll-into-view.ts";
import { createTextRange, highlight } from "../transcript/text-ranges.ts";
import css from "../transcript/transcript.module.css";
import {
  type EditedTranscript,
  findLowConfidenceWord,
  isSameSpeaker,
  joinParagraphs,
  LOW_CONFIDENCE,
  type Paragraph,
  paragraphText,
  renameSpeaker,
  speakersOf,
  splitIntoParagraphs,
  type WordPosition,
} from "./edited-transcript.ts";
import type { EditingSession, SessionState } from "./editing-session.ts";
import { confirmIfDoubtful, useEditorKeys } from "./editor-keys.ts";
import { EditorMessages } from "./editor-messages.tsx";
import { FindAndReplace } from "./find-and-replace.tsx";
import { type ParagraphActions, ParagraphEditor } from "./paragraphs/paragraph-editor.tsx";
import {
  crossBoundary,
  elementOf,
  keepTabStop,
  moveTabStop,
  placeCaret,
  placeCaretBetweenWords,
  rangeOf,
} from "./paragraphs/paragraph-navigation.ts";
import { Typing } from "./paragraphs/typing.ts";
import { useCaretWord } from "./paragraphs/use-caret-word.ts";
import { useKeptCaret } from "./paragraphs/use-kept-caret.ts";
import { useWordSelection } from "./paragraphs/use-word-selection.ts";
import {
  findRange,
  replaceRange,
  setSpeakerOfRange,
  type WordRange,
  wordsOfRange,
} from "./paragraphs/word-range.ts";
import type { Match } from "./replace-text.ts";
import { RevisionsDialog } from "./revisions-dialog.tsx";
import { type SpeakerChoice, SpeakerDialog } from "./speaker-dialog.tsx";
import editorCss from "./transcript-editor.module.css";
import { useEditingSession, useSessionState } from "./use-editing-session.ts";
import { useSpokenWord } from "./use-spoken-word.ts";

/** Seconds of the recording to play before and after a word under review. */
const REVIEW_CONTEXT_SECONDS = 1;

interface EditorProps {
  address: VideoAddress;
  video: VideoDetailView;
  playback: Playback;
  /** Height of the player, which covers the top of the window on phones. */
  coveredHeight(): number;
  position: ReadingPosition;
  onDone(): void;
}

/** An editor for correcting the transcript while the video plays. */
export function TranscriptEditor(props: EditorProps) {
  const { session, error } = useEditingSession(props.address);
  if (error) {
    return (
      <>
        <ErrorNotice error={error} />
        <p>
          <Button onPress={props.onDone}>{ui.close}</Button>
        </p>
      </>
    );
  }
  return session ? <Editor session={session} {...props} /> : <Loading />;
}

function Editor(props: EditorProps & { session: EditingSession }) {
  const { address, video, playback, coveredHeight, position: reading, onDone, session } = props;
  const state = useSessionState(session);
  const { transcript } = state;
  const root = useRef<HTMLElement>(null);
  const durationSeconds = video.transcription?.duration ?? 0;
  const [typing] = useState(() => new Typing(durationSeconds));
  const position = useRef<WordPosition>({ paragraph: 0, word: -1 });
  const [panel, setPanel] = useState<"find" | "revisions" | null>(null);
  const [naming, setNaming] = useState<Naming | null>(null);
  const [reviewed, setReviewed] = useState<EditableWord | null>(null);
  const doubtful = useMemo(() => countLowConfidence(transcript), [transcript]);
  const language = video.transcription?.language ?? "und";

  useRemoteChanges(session, state, video.transcription?.wordsEtag ?? null);
  const spoken = useSpokenWord({
    root,
    session,
    transcript,
    playback,
    coveredHeight,
    position: reading,
  });
  useReadingPosition(root, reading, coveredHeight);
  // biome-ignore lint/correctness/useExhaustiveDependencies: paragraphs were added or removed
  useLayoutEffect(() => keepTabStop(root.current!), [transcript.length]);

  const showRange = useCallback(
    (range: Range) => scrollIntoView(range, { scroller: root.current!, coveredHeight }),
    [coveredHeight],
  );
  const showMatch = useCallback(
    (match: Match | null) => {
      const range = match && rangeOfMatch(root.current, match);
      highlight("subtext-current-match", range ? [range] : []);
      if (range) showRange(range);
    },
    [showRange],
  );
  const select = useCallback(
    (paragraph: number, range: Range | null) => {
      elementOf(root.current!, paragraph)?.focus({ preventScroll: true });
      if (!range) return;
      getSelection()?.removeAllRanges();
      getSelection()?.addRange(range);
      showRange(range);
    },
    [showRange],
  );
  const review = useCallback(
    (direction: 1 | -1, { focusesText = true } = {}) => {
      const { transcript } = session.state;
      const found = findLowConfidenceWord(transcript, position.current, direction);
      const range = found && rangeOf(root.current!, transcript, found);
      highlight("subtext-cursor", range && !focusesText ? [range] : []);
      if (!found) return;
      position.current = found;
      if (focusesText) select(found.paragraph, range);
      else if (range) showRange(range);
      const word = transcript[found.paragraph]![found.word]!;
      setReviewed(word);
      playback.playRange(Math.max(0, word.start - REVIEW_CONTEXT_SECONDS), word.end + REVIEW_CONTEXT_SECONDS);
    },
    [session, playback, select, showRange],
  );
  const join = (paragraph: number) => {
    const before = session.state.transcript;
    const joined = joinParagraphs(before, paragraph);
    if (joined === before) return false;
    flushSync(() => session.change(joined));
    const { starts, text } = paragraphText(joined[paragraph - 1]!);
    const element = elementOf(root.current!, paragraph - 1);
    if (element) placeCaret(element, starts[before[paragraph - 1]!.length] ?? text.length);
    return true;
  };

  const replaceSelected = (range: WordRange, text: string) => {
    const replaced = replaceRange(session.state.transcript, range, text, durationSeconds);
    flushSync(() => session.change(replaced.transcript));
    const { paragraph, offset } = replaced.caret;
    const element = elementOf(root.current!, paragraph);
    if (!element) return;
    if (text.trim() === "") placeCaretBetweenWords(element, offset);
    else placeCaret(element, offset);
  };
  const selection = useWordSelection({ root, session, transcript, replace: replaceSelected });
  const { current: selectedRange } = selection;

  const whileTyping = useKeptCaret({ root, session, position });
  const actions = useMemo<ParagraphActions>(
    () => ({
      type(change) {
        const typed = typing.apply(session.state.transcript, change);
        whileTyping(() => session.change(typed, `paragraph ${change.paragraph}`));
        return session.state.transcript[change.paragraph]!;
      },
      nameSpeaker(index, words) {
        const { transcript } = session.state;
        const { current } = selectedRange;
        const isSelected = current && current.from.paragraph <= index && index <= current.to.paragraph;
        const range = isSelected
          ? current
          : {
              from: { paragraph: index, word: words?.from ?? 0 },
              to: { paragraph: index, word: words?.to ?? transcript[index]!.length },
            };
        const selected = wordsOfRange(transcript, range);
        const [first, last] = [selected[0], selected.at(-1)];
        const isSelection = words !== null || isSelected === true;
        if (first && last) setNaming({ transcript, first, last, isSelection });
      },
      play: (seconds) => playback.playFrom(seconds),
    }),
    [session, playback, typing, selectedRange, whileTyping],
  );

  useCaretWord({ root, session, position });
  useEditorKeys({ session, playback, position, review });

  return (
    <div className={css.panel}>
      <div className={css.tools}>
        <div className={editorCss.buttons}>
          <Button
            variant="quiet"
            iconOnly
            aria-label={texts.undo}
            isDisabled={!state.canUndo}
            onPress={() => session.undo()}
          >
            <UndoIcon />
          </Button>
          <Button
            variant="quiet"
            iconOnly
            aria-label={texts.redo}
            isDisabled={!state.canRedo}
            onPress={() => session.redo()}
          >
            <RedoIcon />
          </Button>
          <Button
            variant="quiet"
            iconOnly
            aria-label={texts.findAndReplace}
            aria-expanded={panel === "find"}
            onPress={() => setPanel(panel === "find" ? null : "find")}
          >
            <SearchIcon />
          </Button>
          <Button variant="quiet" iconOnly aria-label={texts.revisions} onPress={() => setPanel("revisions")}>
            <HistoryIcon />
          </Button>
        </div>
        <span className={editorCss.status} role="status" data-state={state.save}>
          {SAVE_LABELS[state.save]}
        </span>
        <Button
          variant="primary"
          isPending={state.save === "saving"}
          onPress={async () => {
            // Also saves what is typed during a slow save.
            do await session.save();
            while (session.state.save === "unsaved");
            if (session.state.save === "saved") onDone();
          }}
        >
          {texts.done}
        </Button>
      </div>
      <EditorMessages session={session} state={state} onDiscard={onDone} />
      {panel === "find" && (
        <FindAndReplace
          transcript={transcript}
          durationSeconds={durationSeconds}
          onChange={(changed) => session.change(changed)}
          onShow={showMatch}
          onEdit={(match) => select(match.paragraph, rangeOfMatch(root.current, match))}
          onClose={(match) => {
            if (match) select(match.paragraph, rangeOfMatch(root.current, match));
            else {
              const range = rangeOf(root.current!, transcript, position.current);
              range?.collapse(false);
              select(position.current.paragraph, range);
            }
            setPanel(null);
          }}
        />
      )}
      <section
        ref={root}
        className={css.text}
        aria-label={texts.editor}
        onFocus={moveTabStop}
        onBlur={spoken.mark}
        onKeyDown={(event) => crossBoundary(event, { join })}
      >
        {transcript.map((paragraph, index) => (
          <ParagraphEditor
            // biome-ignore lint/suspicious/noArrayIndexKey: a paragraph keeps its place while its words change
            key={index}
            index={index}
            paragraph={paragraph}
            isNewSpeaker={hasNewSpeaker(paragraph, transcript[index - 1])}
            language={language}
            actions={actions}
          />
        ))}
      </section>
      <div className={`${css.foot} ${editorCss.foot}`}>
        <span role="status">{selection.count > 0 && texts.selectedWords(selection.count)}</span>
        <span>{doubtful === 0 ? texts.noDoubtful : texts.doubtful(doubtful)}</span>
        {doubtful > 0 && (
          <>
            <Button onPress={() => review(1, { focusesText: hasKeyboard() })}>{texts.reviewNext}</Button>
            {reviewed && wordAt(transcript, position.current) === reviewed && (
              <Button
                onPress={() => {
                  // The caret may have moved to another word.
                  if (wordAt(session.state.transcript, position.current) === reviewed) {
                    confirmIfDoubtful(session, position.current);
                  }
                  review(1, { focusesText: hasKeyboard() });
                }}
              >
                {texts.confirm}
              </Button>
            )}
            <span className={editorCss.keys}>
              <RichText parts={texts.reviewKeys((name) => <kbd>{name}</kbd>)} />
            </span>
          </>
        )}
        {!spoken.isFollowing && (
          <span className={editorCss.follow}>
            <Button onPress={spoken.follow}>
              <FollowIcon /> {videoDetail.follow}
            </Button>
          </span>
        )}
      </div>
      {panel === "revisions" && (
        <RevisionsDialog
          address={address}
          etag={session.etag}
          onRestored={() => void session.update({ isOwn: true })}
          onClose={() => setPanel(null)}
        />
      )}
      {naming && (
        <SpeakerDialog
          current={naming.first.speaker}
          channel={naming.first.channel}
          speakers={speakersOf(transcript)}
          isSelection={naming.isSelection}
          onClose={() => setNaming(null)}
          onChoose={({ name, everywhere }) =>
            session.change(nameSpeaker(session.state.transcript, naming, { name, everywhere }))
          }
        />
      )}
    </div>
  );
}

const SAVE_LABELS: Record<SessionState["save"], string> = texts.saveStates;

/** Merges changes that other people save while the editor is open. */
function useRemoteChanges(session: EditingSession, { save }: SessionState, currentEtag: string | null): void {
  const seenEtag = useRef<string | null>(session.etag);
  useEffect(() => {
    // A new ETag during a save is probably from that save. If it is not, the next save detects the change. After a save,
    // the page has the earlier ETag for a moment.
    if (currentEtag === null || currentEtag === seenEtag.current || save === "saving") return;
    seenEtag.current = currentEtag;
    if (currentEtag !== session.etag) void session.update();
  }, [session, currentEtag, save]);
}

function wordAt(transcript: EditedTranscript, { paragraph, word }: WordPosition): EditableWord | undefined {
  return transcript[paragraph]?.[word];
}

function rangeOfMatch(root: HTMLElement | null, { paragraph, from, to }: Match): Range | null {
  const element = root && elementOf(root, paragraph);
  return element && createTextRange(element, from, to);
}

/** On phones, focusing the text opens a keyboard that covers the page. */
function hasKeyboard(): boolean {
  return matchMedia("(pointer: fine)").matches;
}

interface Naming {
  /** The transcript when the dialog was opened. */
  transcript: EditedTranscript;
  first: EditableWord;
  last: EditableWord;
  /** Whether the user selected these words. Otherwise, they are an entire paragraph. */
  isSelection: boolean;
}

function hasNewSpeaker([first]: Paragraph, previous: Paragraph | undefined): boolean {
  const before = previous?.[0];
  return first !== undefined && (before === undefined || !isSameSpeaker(first, before));
}

/** A merge may have moved the words while the dialog was open. If they are gone, nothing changes. */
function nameSpeaker(
  transcript: EditedTranscript,
  { transcript: before, first, last }: Naming,
  { name, everywhere }: SpeakerChoice,
): EditedTranscript {
  if (everywhere) return splitIntoParagraphs(renameSpeaker(transcript, first, name).flat());
  const range = findRange(transcript, before, [first, last]);
  return range ? setSpeakerOfRange(transcript, range, name) : transcript;
}

function countLowConfidence(transcript: EditedTranscript): number {
  let count = 0;
  for (const words of transcript) {
    for (const { confidence } of words) if (confidence !== null && confidence < LOW_CONFIDENCE) count++;
  }
  return count;
}
