import { createContext, type ReactNode, useCallback, useContext, useEffect, useRef, useState } from "react";
import { ui as texts } from "../messages/en/ui.ts";
import { Button } from "./forms/controls.tsx";
import { CloseIcon } from "./icons.tsx";
import css from "./toasts.module.css";

const SHOWN_MS = 6_000;
const MAX_TOASTS = 3;

interface Toast {
  id: number;
  text: string;
}

const ToastContext = createContext<((text: string) => void) | null>(null);

/** Returns a function that shows a confirmation. Do not use it for errors, because toasts disappear. */
export function useToast(): (text: string) => void {
  const showToast = useContext(ToastContext);
  if (!showToast) throw new Error("useToast must be used within <Toasts>");
  return showToast;
}

export function Toasts({ children }: { children: ReactNode }) {
  const [toasts, setToasts] = useState<Toast[]>([]);
  const lastId = useRef(0);
  const showToast = useCallback((text: string) => {
    lastId.current += 1;
    const toast = { id: lastId.current, text };
    setToasts((shown) => [...shown, toast].slice(-MAX_TOASTS));
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

function ToastItem({ toast: { id, text }, onClose }: { toast: Toast; onClose(id: number): void }) {
  const [isPaused, setPaused] = useState(false);
  useEffect(() => {
    if (isPaused) return;
    const timer = setTimeout(() => onClose(id), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isPaused, id, onClose]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: hovering only pauses its timer
    <div
      className={css.toast}
      onPointerEnter={() => setPaused(true)}
      onPointerLeave={() => setPaused(false)}
      onFocus={() => setPaused(true)}
      onBlur={() => setPaused(false)}
    >
      <p>{text}</p>
      <Button variant="quiet" iconOnly aria-label={texts.close} onPress={() => onClose(id)}>
        <CloseIcon />
      </Button>
    </div>
  );
}
