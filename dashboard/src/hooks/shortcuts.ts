import { readLocal, writeLocal } from "./local-storage.ts";

export interface Shortcut {
  keys: readonly string[];
  action: string;
}

const KEY = "subtext.single-keys";

/** Users of speech input must be able to disable single-key shortcuts (WCAG 2.1.4). */
export function areSingleKeysEnabled(): boolean {
  return readLocal(KEY) !== "off";
}

export function setSingleKeysEnabled(enabled: boolean): void {
  writeLocal(KEY, enabled ? null : "off");
}

export function isApple(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.userAgent);
}

/** @returns a function that removes the listener */
export function listenToKeys(actions: Record<string, () => void>): () => void {
  const controller = new AbortController();
  const onKeyDown = (event: KeyboardEvent) => {
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!areSingleKeysEnabled() || isHandledByTarget(event.target, event.key)) return;
    // The player's native shortcuts would repeat the action.
    event.preventDefault();
    event.stopPropagation();
    action();
  };
  // Capture the event before the player handles it.
  addEventListener("keydown", onKeyDown, { capture: true, signal: controller.signal });
  return () => controller.abort();
}

function isHandledByTarget(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof Element)) return false;
  if (target.closest("input, textarea, select, [contenteditable], [role=dialog], [role=menu]")) return true;
  if (key === " ") return target.closest("button, a, summary, [role=switch]") !== null;
  return (
    key.startsWith("Arrow") && target.closest("[role=slider], section[tabindex], [role=radiogroup]") !== null
  );
}
