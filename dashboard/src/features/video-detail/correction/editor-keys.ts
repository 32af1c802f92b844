import { useEffect } from "react";
import type { Playback } from "../player/playback.ts";
import { confirmWord, isDoubtful, type WordPosition } from "./edited-transcript.ts";
import type { EditingSession } from "./editing-session.ts";

const SEEK_SECONDS = 5;

interface EditorKeys {
  session: EditingSession;
  playback: Playback;
  position: React.RefObject<WordPosition>;
  review(direction: 1 | -1): void;
}

/**
 * Shortcuts work everywhere except in dialogs. In input fields, only the playback and review shortcuts work. In the text,
 * Undo and Redo in a browser's or keyboard's menu also use the session's history.
 */
export function useEditorKeys({ session, playback, position, review }: EditorKeys): void {
  useEffect(() => {
    const playFromWord = () => {
      const { paragraph, word } = position.current;
      const start = session.state.transcript[paragraph]?.[word]?.start;
      if (playback.isPlaying || start === undefined) playback.toggle();
      else playback.playFrom(start);
    };
    const confirm = () => {
      confirmIfDoubtful(session, position.current);
      review(1);
    };
    const withAlt: Record<string, () => void> = {
      ArrowDown: () => review(1),
      ArrowUp: () => review(-1),
      Enter: playFromWord,
      Comma: () => playback.seekBy(-SEEK_SECONDS),
      Period: () => playback.seekBy(SEEK_SECONDS),
    };
    const actionOf = (event: KeyboardEvent): (() => void) | null => {
      const { target, key, code, altKey, shiftKey, isComposing } = event;
      if (!(target instanceof HTMLElement) || target.closest("[role=dialog]")) return null;
      const hasControl = event.ctrlKey || event.metaKey;
      if (hasControl && key === "Enter") return () => playback.toggle();
      // On Windows, AltGr types characters and is reported as Ctrl+Alt. On a Mac, Option changes `key`,
      // so this uses `code`.
      if (altKey && !hasControl) return withAlt[code] ?? null;
      if (target.closest("input")) return null;
      if (key === "Enter" && target.isContentEditable && !isComposing) return confirm;
      if (!hasControl) return null;
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
    // A native listener, because React's `onBeforeInput` does not handle this event and has no input type.
    const onBeforeInput = (event: InputEvent) => {
      const { target, inputType } = event;
      if (!(target instanceof HTMLElement) || !target.isContentEditable) return;
      if (inputType !== "historyUndo" && inputType !== "historyRedo") return;
      event.preventDefault();
      if (inputType === "historyUndo") session.undo();
      else session.redo();
    };
    const controller = new AbortController();
    const { signal } = controller;
    addEventListener("keydown", onKeyDown, { signal });
    addEventListener("beforeinput", onBeforeInput, { signal });
    return () => controller.abort();
  }, [session, playback, position, review]);
}

/** Confirms the word at `position` if its confidence is low. */
export function confirmIfDoubtful(session: EditingSession, position: WordPosition): void {
  const { transcript } = session.state;
  if (isDoubtful(transcript, position)) session.change(confirmWord(transcript, position));
}
