import { createContext, type ReactNode, useCallback, useContext, useEffect, useRef, useState } from "react";
import { Button } from "./controls.tsx";
import { CloseIcon } from "./icons.tsx";
import css from "./toasts.module.css";

const SHOWN_MS = 6_000;
const MOST = 3;

interface Toast {
  id: number;
  text: string;
}

const SayContext = createContext<((text: string) => void) | null>(null);

/** Tells that something was done, where the page itself does not show it; never what must be read. */
export function useSay(): (text: string) => void {
  const say = useContext(SayContext);
  if (!say) throw new Error("there is no Toasts around this part");
  return say;
}

/** Shows what is said for a while, or until it is closed; screen readers read it out without being interrupted. */
export function Toasts({ children }: { children: ReactNode }) {
  const [toasts, setToasts] = useState<Toast[]>([]);
  const said = useRef(0);
  const say = useCallback((text: string) => {
    said.current += 1;
    const toast = { id: said.current, text };
    setToasts((shown) => [...shown, toast].slice(-MOST));
  }, []);
  const close = useCallback(
    (id: number) => setToasts((shown) => shown.filter((toast) => toast.id !== id)),
    [],
  );
  return (
    <SayContext value={say}>
      {children}
      <div className={css.place} role="status" aria-label="What was done">
        {toasts.map((toast) => (
          <Shown key={toast.id} toast={toast} onClose={close} />
        ))}
      </div>
    </SayContext>
  );
}

function Shown({ toast: { id, text }, onClose }: { toast: Toast; onClose(id: number): void }) {
  const [isHeld, setHeld] = useState(false);
  useEffect(() => {
    if (isHeld) return;
    const timer = setTimeout(() => onClose(id), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isHeld, id, onClose]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only waits while somebody looks at it
    <div
      className={css.toast}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <p>{text}</p>
      <Button look="quiet" square aria-label="Close" onPress={() => onClose(id)}>
        <CloseIcon />
      </Button>
    </div>
  );
}
