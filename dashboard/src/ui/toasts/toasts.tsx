import { createContext, type ReactNode, useCallback, useContext, useEffect, useRef, useState } from "react";
import { messageOf } from "../../admin-client/request.ts";
import { isApple } from "../../hooks/shortcuts.ts";
import { ui as texts } from "../../messages/en/ui.ts";
import { Button } from "../forms/controls.tsx";
import { CloseIcon } from "../icons.tsx";
import css from "./toasts.module.css";

const SHOWN_MS = 6_000;
/** WCAG 2.2.1 requires at least 20 seconds to react before a time limit. */
const SHOWN_WITH_ACTION_MS = 20_000;
const MAX_TOASTS = 3;

interface ToastAction {
  label: string;
  /** If it rejects, the toast shows the error until it is closed. */
  run(): Promise<unknown>;
}

interface Toast {
  id: number;
  text: string;
  action?: ToastAction | undefined;
}

type ShowToast = (text: string, action?: ToastAction) => void;

const ToastContext = createContext<ShowToast | null>(null);

/**
 * Returns a function that shows a confirmation. Do not use it for messages that must not be missed, because toasts
 * disappear. An action, such as Undo, also runs with Ctrl+Z or ⌘Z. A toast with an action replaces the previous one,
 * because undoing changes out of order would not restore the original values.
 */
export function useToast(): ShowToast {
  const showToast = useContext(ToastContext);
  if (!showToast) throw new Error("useToast must be used within <Toasts>");
  return showToast;
}

export function Toasts({ children }: { children: ReactNode }) {
  const [toasts, setToasts] = useState<Toast[]>([]);
  const lastId = useRef(0);
  const showToast = useCallback<ShowToast>((text, action) => {
    lastId.current += 1;
    const toast = { id: lastId.current, text, action };
    setToasts((shown) => {
      const kept = action ? shown.filter((each) => !each.action) : shown;
      return [...kept, toast].slice(-MAX_TOASTS);
    });
  }, []);
  const close = useCallback(
    (id: number) => setToasts((shown) => shown.filter((toast) => toast.id !== id)),
    [],
  );
  return (
    <ToastContext value={showToast}>
      {children}
      <div className={css.toasts} role="status" aria-label={texts.notifications}>
        {toasts.map((toast) => (
          <ToastItem key={toast.id} toast={toast} onClose={close} />
        ))}
      </div>
    </ToastContext>
  );
}

function ToastItem({ toast: { id, text, action }, onClose }: { toast: Toast; onClose(id: number): void }) {
  const [isHovered, setHovered] = useState(false);
  const [isFocused, setFocused] = useState(false);
  const [state, setState] = useState<"shown" | "running" | { error: string }>("shown");
  /** The element that had the focus before the toast. */
  const focusedBefore = useRef<Element | null>(null);
  const close = useCallback(() => {
    if (focusedBefore.current instanceof HTMLElement) focusedBefore.current.focus({ preventScroll: true });
    onClose(id);
  }, [id, onClose]);
  const run = useCallback(async () => {
    setState("running");
    try {
      await action?.run();
      close();
    } catch (error) {
      setState({ error: messageOf(error) });
    }
  }, [action, close]);

  const isPaused = isHovered || isFocused || state !== "shown";
  useEffect(() => {
    if (isPaused) return;
    const timer = setTimeout(() => onClose(id), action ? SHOWN_WITH_ACTION_MS : SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isPaused, id, action, onClose]);
  useEffect(() => {
    if (action && state === "shown") return listenToUndo(run);
  }, [action, state, run]);

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: hovering only pauses its timer
    <div
      className={css.toast}
      onPointerEnter={() => setHovered(true)}
      onPointerLeave={() => setHovered(false)}
      onFocus={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget)) focusedBefore.current = relatedTarget;
        setFocused(true);
      }}
      onBlur={({ currentTarget, relatedTarget }) => {
        if (currentTarget.contains(relatedTarget)) return;
        focusedBefore.current = null;
        setFocused(false);
      }}
    >
      <p>{typeof state === "object" ? state.error : text}</p>
      {action && typeof state !== "object" && (
        <Button
          variant="quiet"
          aria-keyshortcuts="Control+Z Meta+Z"
          isPending={state === "running"}
          onPress={() => void run()}
        >
          {action.label}
          <kbd className={css.keys}>{isApple() ? "⌘Z" : texts.controlZ}</kbd>
        </Button>
      )}
      <Button variant="quiet" iconOnly aria-label={texts.close} onPress={close}>
        <CloseIcon />
      </Button>
    </div>
  );
}

/** Ctrl+Z in a text field undoes typing, and belongs to the dialog if one is open. */
function listenToUndo(run: () => Promise<void>): () => void {
  const onKeyDown = (event: KeyboardEvent) => {
    const { key, ctrlKey, metaKey, altKey, shiftKey, defaultPrevented, target } = event;
    const isUndo = key.toLowerCase() === "z" && ctrlKey !== metaKey && !altKey && !shiftKey;
    if (!isUndo || defaultPrevented || !(target instanceof Element)) return;
    if (target.closest("input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable]"))
      return;
    if (document.querySelector("[role=dialog], [role=alertdialog]")) return;
    event.preventDefault();
    void run();
  };
  addEventListener("keydown", onKeyDown);
  return () => removeEventListener("keydown", onKeyDown);
}
