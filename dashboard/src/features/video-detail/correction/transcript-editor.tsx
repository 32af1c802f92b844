import type { VideoDetailView } from "@subtext/server/admin/contract/video-detail";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { messageOf } from "../../../admin-client/request.ts";
import { correction as texts } from "../../../messages/en/correction.ts";
import { ui } from "../../../messages/en/ui.ts";
import controls from "../../../ui/forms/controls.module.css";
import { Button, ErrorNotice, Notice } from "../../../ui/forms/controls.tsx";
import { CloseIcon, HistoryIcon, RedoIcon, SearchIcon, UndoIcon } from "../../../ui/icons.tsx";
import { Loading } from "../../../ui/page.tsx";
import { RichText } from "../../../ui/rich-text.tsx";
import type { Playback } from "../player/playback.ts";
import type { VideoAddress } from "../queries.ts";
import { clearHighlights, createTextRange, highlight } from "../transcript/text-ranges.ts";
import css from "../transcript/transcript.module.css";
import {
  confirmWord,
  type EditedTranscript,
  findLowConfidenceWord,
  findSpokenWord,
  isSameSpeaker,
  LOW_CONFIDENCE,
  type Paragraph,
  renameSpeaker,
  setSpeaker,
  speakersOf,
  splitIntoParagraphs,
  type WordPosition,
} from "./edited-transcript.ts";
import type { EditingSession, SessionState } from "./editing-session.ts";
import { FindAndReplace } from "./find-and-replace.tsx";
import { locateWords, type ParagraphActions, ParagraphEditor } from "./paragraph-editor.tsx";
import { RevisionsDialog } from "./revisions-dialog.tsx";
import { type SpeakerChoice, SpeakerDialog } from "./speaker-dialog.tsx";
import editorCss from "./transcript-editor.module.css";
import { Typing } from "./typing.ts";
import { useEditingSession, useSessionState } from "./use-editing-session.ts";

/** Seconds of the recording to play before and after a word under review. */
const REVIEW_CONTEXT_SECONDS = 1;

interface EditorProps {
  address: VideoAddress;
  video: VideoDetailView;
  playback: Playback;
  onDone(): void;
}

/** An editor for correcting the transcript while the video plays. */
export function TranscriptEditor(props: EditorProps) {
  const { session, error } = useEditingSession(props.address);
  if (error) return <ErrorNotice error={error} />;
  return session ? <Editor session={session} {...props} /> : <Loading />;
}

function Editor({ address, video, playback, onDone, session }: EditorProps & { session: EditingSession }) {
  const state = useSessionState(session);
  const { transcript } = state;
  const root = useRef<HTMLElement>(null);
  const durationSeconds = video.transcription?.duration ?? 0;
  const [typing] = useState(() => new Typing(durationSeconds));
  const position = useRef<WordPosition>({ paragraph: 0, word: -1 });
  const [panel, setPanel] = useState<"find" | "revisions" | null>(null);
  const [naming, setNaming] = useState<Naming | null>(null);
  const doubtful = useMemo(() => countLowConfidence(transcript), [transcript]);
  const language = video.transcription?.language ?? "und";

  useRemoteChanges(session, state, video.transcription?.wordsEtag ?? null);
  useSpokenWord(root, session, playback);

  const review = useCallback(
    (direction: 1 | -1) => {
      const found = findLowConfidenceWord(session.state.transcript, position.current, direction);
      if (!found) return;
      position.current = found;
      const word = session.state.transcript[found.paragraph]![found.word]!;
      selectWord(root.current!, session.state.transcript, found);
      playback.playRange(Math.max(0, word.start - REVIEW_CONTEXT_SECONDS), word.end + REVIEW_CONTEXT_SECONDS);
    },
    [session, playback],
  );

  const actions = useMemo<ParagraphActions>(
    () => ({
      type(change) {
        session.change(typing.apply(session.state.transcript, change), `paragraph ${change.paragraph}`);
      },
      undo: () => session.undo(),
      redo: () => session.redo(),
      nameSpeaker: (index, words) => setNaming({ paragraph: session.state.transcript[index]!, words }),
      play: (seconds) => playback.playFrom(seconds),
      moveTo(paragraph, word) {
        position.current = { paragraph, word };
      },
    }),
    [session, playback, typing],
  );

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
            await session.save();
            if (session.state.save === "saved") onDone();
          }}
        >
          {texts.done}
        </Button>
      </div>
      <Messages session={session} state={state} onDiscard={onDone} />
      {panel === "find" && (
        <FindAndReplace
          transcript={transcript}
          durationSeconds={durationSeconds}
          onChange={(changed) => session.change(changed)}
        />
      )}
      <section
        ref={root}
        className={css.text}
        aria-label={texts.editor}
        onFocus={moveTabStop}
        onKeyDown={leaveParagraph}
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
      <div className={css.foot}>
        <span>{doubtful === 0 ? texts.noDoubtful : texts.doubtful(doubtful)}</span>
        {doubtful > 0 && (
          <>
            <Button onPress={() => review(1)}>{texts.reviewNext}</Button>
            <span className={editorCss.keys}>
              <RichText parts={texts.reviewKeys((name) => <kbd>{name}</kbd>)} />
            </span>
          </>
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
          current={naming.paragraph[naming.words?.from ?? 0]?.speaker ?? null}
          channel={naming.paragraph[naming.words?.from ?? 0]?.channel ?? null}
          speakers={speakersOf(transcript)}
          isSelection={naming.words !== null}
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

function Messages({
  session,
  state,
  onDiscard,
}: {
  session: EditingSession;
  state: SessionState;
  onDiscard(): void;
}) {
  const [seenMerges, setSeenMerges] = useState(0);
  return (
    <div className={editorCss.messages}>
      {state.save === "refused" && (
        <Notice tone="bad">
          {messageOf(state.error)} {texts.keptInBrowser}{" "}
          <Button onPress={() => void session.save()}>{ui.tryAgain}</Button>{" "}
          <Button
            onPress={async () => {
              await session.discard();
              onDiscard();
            }}
          >
            {texts.discard}
          </Button>
        </Notice>
      )}
      {state.wasRestored && <Notice tone="plain">{texts.restored}</Notice>}
      {state.merges > seenMerges && (
        <Notice tone="plain">
          {texts.merged}{" "}
          <Button
            variant="quiet"
            iconOnly
            aria-label={texts.dismiss}
            onPress={() => setSeenMerges(state.merges)}
          >
            <CloseIcon />
          </Button>
        </Notice>
      )}
      {state.conflicts.length > 0 && (
        <Notice tone="plain">
          <p>{texts.conflicts}</p>
          <ul>
            {state.conflicts.map(({ mine, theirs }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: conflicts have no identity
              <li key={index}>{texts.conflict(mine || texts.deleted, theirs || texts.deleted)}</li>
            ))}
          </ul>
          <Button onPress={() => session.dismissConflicts()}>{texts.dismiss}</Button>
        </Notice>
      )}
      <p className={controls.hidden} role="status">
        {state.save === "retrying" ? messageOf(state.error) : ""}
      </p>
    </div>
  );
}

interface EditorKeys {
  session: EditingSession;
  playback: Playback;
  position: React.RefObject<WordPosition>;
  review(direction: 1 | -1): void;
}

/** The shortcuts work anywhere on the page except in dialogs and input fields. */
function useEditorKeys({ session, playback, position, review }: EditorKeys): void {
  useEffect(() => {
    const playFromWord = () => {
      const { paragraph, word } = position.current;
      const start = session.state.transcript[paragraph]?.[word]?.start;
      if (playback.isPlaying || start === undefined) playback.toggle();
      else playback.playFrom(start);
    };
    const confirm = () => {
      confirmReviewed(session, position.current);
      review(1);
    };
    const actionOf = (event: KeyboardEvent): (() => void) | null => {
      const { target, key, altKey, shiftKey, isComposing } = event;
      if (!(target instanceof HTMLElement) || target.closest("input, [role=dialog]")) return null;
      if (altKey && key === "ArrowDown") return () => review(1);
      if (altKey && key === "ArrowUp") return () => review(-1);
      if (altKey && key === "Enter") return playFromWord;
      if (key === "Enter" && target.isContentEditable && !isComposing) return confirm;
      if (!event.ctrlKey && !event.metaKey) return null;
      const letter = key.toLowerCase();
      if (letter === "s") return () => void session.save();
      if (letter === "y" || (letter === "z" && shiftKey)) return () => session.redo();
      return letter === "z" ? () => session.undo() : null;
    };
    const onKeyDown = (event: KeyboardEvent) => {
      const action = actionOf(event);
      if (!action) return;
      event.preventDefault();
      action();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, [session, playback, position, review]);
}

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

/** Highlights the word that is being played. */
function useSpokenWord(
  root: React.RefObject<HTMLElement | null>,
  session: EditingSession,
  playback: Playback,
): void {
  useEffect(() => {
    const stop = playback.listen((seconds) => {
      const found = findSpokenWord(session.state.transcript, seconds);
      const range = found && root.current && rangeOf(root.current, session.state.transcript, found);
      highlight("subtext-active", range ? [range] : []);
    });
    return () => {
      stop();
      clearHighlights();
    };
  }, [root, session, playback]);
}

/** Only one paragraph is a tab stop, because a transcript has hundreds. */
function moveTabStop({ target, currentTarget }: React.FocusEvent<HTMLElement>): void {
  if (!target.isContentEditable) return;
  const previous = currentTarget.querySelector<HTMLElement>('[contenteditable][tabindex="0"]');
  if (previous) previous.tabIndex = -1;
  target.tabIndex = 0;
}

/** Arrow keys at the start or end of a paragraph move the caret to the adjacent one. */
function leaveParagraph(event: React.KeyboardEvent<HTMLElement>): void {
  const { target, key, altKey, shiftKey, currentTarget } = event;
  if (!(target instanceof HTMLElement) || !target.isContentEditable || altKey || shiftKey) return;
  const selection = getSelection();
  if (!selection?.isCollapsed) return;
  const isForward = key === "ArrowDown" || key === "ArrowRight";
  if (!isForward && key !== "ArrowUp" && key !== "ArrowLeft") return;
  if (selection.focusOffset !== (isForward ? (target.textContent ?? "").length : 0)) return;
  const paragraphs = [...currentTarget.querySelectorAll<HTMLElement>("[contenteditable]")];
  const next = paragraphs[paragraphs.indexOf(target) + (isForward ? 1 : -1)];
  if (!next) return;
  event.preventDefault();
  next.focus();
  if (!isForward) selection.collapse(next.firstChild ?? next, (next.textContent ?? "").length);
}

function elementOf(root: HTMLElement, paragraph: number): HTMLElement | null {
  return root.querySelector<HTMLElement>(`[data-paragraph="${paragraph}"] [contenteditable]`);
}

function rangeOf(
  root: HTMLElement,
  transcript: EditedTranscript,
  { paragraph, word }: WordPosition,
): Range | null {
  const element = elementOf(root, paragraph);
  const place = element && locateWords(element.textContent ?? "", transcript[paragraph]!)[word];
  return place ? createTextRange(element, place.start, place.end) : null;
}

function selectWord(root: HTMLElement, transcript: EditedTranscript, word: WordPosition): void {
  elementOf(root, word.paragraph)?.focus({ preventScroll: true });
  const range = rangeOf(root, transcript, word);
  if (!range) return;
  const selection = getSelection();
  selection?.removeAllRanges();
  selection?.addRange(range);
  elementOf(root, word.paragraph)?.scrollIntoView({ block: "nearest" });
}

/** Confirms the word at the position if its confidence is low. */
function confirmReviewed(session: EditingSession, position: WordPosition): void {
  const { transcript } = session.state;
  const confidence = transcript[position.paragraph]?.[position.word]?.confidence ?? null;
  if (confidence !== null && confidence < LOW_CONFIDENCE) session.change(confirmWord(transcript, position));
}

interface Naming {
  paragraph: Paragraph;
  /** The selected words; null for the entire paragraph. */
  words: { from: number; to: number } | null;
}

function hasNewSpeaker([first]: Paragraph, previous: Paragraph | undefined): boolean {
  const before = previous?.[0];
  return first !== undefined && (before === undefined || !isSameSpeaker(first, before));
}

/** A merge may have moved the paragraph while the dialog was open. If it is gone, nothing changes. */
function nameSpeaker(
  transcript: EditedTranscript,
  { paragraph, words }: Naming,
  { name, everywhere }: SpeakerChoice,
): EditedTranscript {
  const first = paragraph[0];
  if (everywhere && first) return splitIntoParagraphs(renameSpeaker(transcript, first, name).flat());
  const index = transcript.findIndex((each) => each.length > 0 && each[0]!.start === paragraph[0]?.start);
  if (index < 0) return transcript;
  const { from, to } = words ?? { from: 0, to: transcript[index]!.length };
  return setSpeaker(transcript, { paragraph: index, from, to }, name);
}

function countLowConfidence(transcript: EditedTranscript): number {
  let count = 0;
  for (const words of transcript) {
    for (const { confidence } of words) if (confidence !== null && confidence < LOW_CONFIDENCE) count++;
  }
  return count;
}
