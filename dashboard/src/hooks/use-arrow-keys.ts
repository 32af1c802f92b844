import { type RefObject, useEffect } from "react";

/** Up and down lead through the elements that the selector names, while one of them has the focus. */
export function useArrows(root: RefObject<HTMLElement | null>, stops: string): void {
  useEffect(() => {
    const element = root.current;
    const press = (event: KeyboardEvent) => {
      const { key, altKey, ctrlKey, metaKey, shiftKey } = event;
      if (altKey || ctrlKey || metaKey || shiftKey || (key !== "ArrowDown" && key !== "ArrowUp")) return;
      if (!element || !document.activeElement?.matches(stops)) return;
      if (step(element, stops, key === "ArrowDown" ? 1 : -1)) event.preventDefault();
    };
    element?.addEventListener("keydown", press);
    return () => element?.removeEventListener("keydown", press);
  }, [root, stops]);
}

/**
 * Gives the focus to the next of the elements, or the one before; to the first where none has it.
 * @returns false where there is none
 */
export function step(root: HTMLElement, stops: string, by: 1 | -1): boolean {
  const all = [...root.querySelectorAll<HTMLElement>(stops)];
  const at = all.indexOf(document.activeElement as HTMLElement);
  const next = at < 0 ? all[0] : all[at + by];
  next?.focus();
  return next !== undefined;
}
