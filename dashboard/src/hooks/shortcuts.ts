/** What a single key does; the help shows a list of these. */
export interface Shortcut {
  keys: readonly string[];
  does: string;
}

const KEPT = "subtext.single-keys";

/** People who speak to their computer may not want single keys to do anything (WCAG 2.1.4). */
export function singleKeysWork(): boolean {
  try {
    return localStorage.getItem(KEPT) !== "off";
  } catch {
    return true;
  }
}

export function letSingleKeysWork(work: boolean): void {
  try {
    if (work) localStorage.removeItem(KEPT);
    else localStorage.setItem(KEPT, "off");
  } catch {
    // A browser that keeps nothing has them until the page is closed.
  }
}

/** @returns what ends it */
export function listenToKeys(actions: Record<string, () => void>): () => void {
  const controller = new AbortController();
  const press = (event: KeyboardEvent) => {
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!singleKeysWork() || isTakenBy(event.target, event.key)) return;
    // The player's own keys would do it a second time.
    event.preventDefault();
    event.stopPropagation();
    action();
  };
  // Before the player sees it.
  addEventListener("keydown", press, { capture: true, signal: controller.signal });
  return () => controller.abort();
}

/** Whether what has the focus does something of its own with the key. */
function isTakenBy(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof Element)) return false;
  if (target.closest("input, textarea, select, [contenteditable], [role=dialog], [role=menu]")) return true;
  if (key === " ") return target.closest("button, a, summary, [role=switch]") !== null;
  return (
    key.startsWith("Arrow") && target.closest("[role=slider], section[tabindex], [role=radiogroup]") !== null
  );
}
