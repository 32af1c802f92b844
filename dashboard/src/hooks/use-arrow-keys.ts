import { type RefObject, useEffect } from "react";

/** While an element that matches the selector has the focus, the up and down keys move it to the next one. */
export function useArrowKeys(root: RefObject<HTMLElement | null>, selector: string): void {
  useEffect(() => {
    const element = root.current;
    const onKeyDown = (event: KeyboardEvent) => {
      const { key, altKey, ctrlKey, metaKey, shiftKey } = event;
      if (altKey || ctrlKey || metaKey || shiftKey || (key !== "ArrowDown" && key !== "ArrowUp")) return;
      if (!element || !document.activeElement?.matches(selector)) return;
      if (moveFocus(element, selector, key === "ArrowDown" ? 1 : -1)) event.preventDefault();
    };
    element?.addEventListener("keydown", onKeyDown);
    return () => element?.removeEventListener("keydown", onKeyDown);
  }, [root, selector]);
}

/**
 * Focuses the next or previous matching element, or the first one if none has the focus.
 * @returns false if there is no such element
 */
function moveFocus(root: HTMLElement, selector: string, by: 1 | -1): boolean {
  const elements = [...root.querySelectorAll<HTMLElement>(selector)];
  const index = elements.indexOf(document.activeElement as HTMLElement);
  const next = index < 0 ? elements[0] : elements[index + by];
  next?.focus();
  return next !== undefined;
}
