import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { listenToKeys } from "../../hooks/shortcuts.ts";

const LINK = "a[data-video]";

/**
 * Moves the focus between the links of a list of which only a part is rendered: with `j` and `k` from anywhere, and
 * with the arrow keys, Home and End from a row.
 * @param ids IDs of all loaded videos
 * @param actions.scrollTo brings a row into view
 * @param actions.select called for Space, and with `isRange` for Shift with Space or a key that moves the focus
 * @returns the index of the row that must be rendered because it has or gets the focus; null if there is none
 */
export function useRowFocus(
  list: RefObject<HTMLElement | null>,
  ids: readonly string[],
  { scrollTo, select }: { scrollTo(index: number): void; select(id: string, isRange: boolean): void },
): number | null {
  const [focusedId, setFocusedId] = useState<string | null>(null);
  const pending = useRef<string | null>(null);
  const index = focusedId === null ? -1 : ids.indexOf(focusedId);

  const moveTo = useCallback(
    (target: number) => {
      const id = ids[Math.max(0, Math.min(target, ids.length - 1))];
      if (id === undefined) return;
      pending.current = id;
      setFocusedId(id);
      scrollTo(ids.indexOf(id));
      focusPending(list.current, pending);
    },
    [ids, list, scrollTo],
  );
  // The row exists only after the rendering that follows `moveTo`.
  useLayoutEffect(() => focusPending(list.current, pending));

  useEffect(
    () => listenToKeys({ j: () => moveTo(index + 1), k: () => moveTo(Math.max(index, 1) - 1) }),
    [moveTo, index],
  );

  useEffect(() => {
    const element = list.current;
    if (!element) return;
    const controller = new AbortController();
    const { signal } = controller;
    element.addEventListener(
      "focusin",
      ({ target }) => {
        const link = target instanceof Element && target.closest<HTMLElement>(LINK);
        setFocusedId(link ? (link.dataset.video ?? null) : null);
      },
      { signal },
    );
    element.addEventListener(
      "focusout",
      ({ relatedTarget }) => {
        if (!(relatedTarget instanceof Node && element.contains(relatedTarget))) setFocusedId(null);
      },
      { signal },
    );
    element.addEventListener(
      "keydown",
      (event) => {
        const { key, altKey, ctrlKey, metaKey, shiftKey } = event;
        const onLink = index >= 0 && document.activeElement?.matches(LINK);
        if (altKey || ctrlKey || metaKey || !onLink) return;
        if (key === " ") {
          event.preventDefault();
          select(ids[index]!, shiftKey);
          return;
        }
        const targets: Record<string, number> = {
          ArrowDown: index + 1,
          ArrowUp: index - 1,
          Home: 0,
          End: ids.length - 1,
        };
        const target = targets[key];
        if (target === undefined) return;
        event.preventDefault();
        moveTo(target);
        const reached = ids[Math.max(0, Math.min(target, ids.length - 1))];
        if (shiftKey && reached !== undefined) select(reached, true);
      },
      { signal },
    );
    return () => controller.abort();
  }, [list, ids, index, moveTo, select]);
  return index < 0 ? null : index;
}

function focusPending(list: HTMLElement | null, pending: RefObject<string | null>): void {
  if (pending.current === null) return;
  const link = list?.querySelector<HTMLElement>(`a[data-video="${pending.current}"]`);
  if (!link) return;
  pending.current = null;
  link.focus({ preventScroll: true });
}
