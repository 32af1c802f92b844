import type { Playback } from "./playback.ts";

/** What single keys do; the help shows this list. */
export const SHORTCUTS: readonly { keys: readonly string[]; does: string }[] = [
  { keys: ["Space", "k"], does: "Play or pause" },
  { keys: ["←", "→"], does: "5 seconds back, forward" },
  { keys: ["j", "l"], does: "10 seconds back, forward" },
  { keys: ["m"], does: "Mute" },
  { keys: ["f"], does: "Full screen" },
  { keys: ["/"], does: "Search in the transcript" },
  { keys: ["c"], does: "Copy the transcript, or what is selected of it" },
  { keys: ["?"], does: "Show these keys" },
];

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

export function playbackKeys(playback: Playback): Record<string, () => void> {
  return {
    " ": () => playback.toggle(),
    k: () => playback.toggle(),
    ArrowLeft: () => playback.seekBy(-5),
    ArrowRight: () => playback.seekBy(5),
    j: () => playback.seekBy(-10),
    l: () => playback.seekBy(10),
    m: () => playback.toggleMute(),
    f: () => playback.toggleFullScreen(),
  };
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
