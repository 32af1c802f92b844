import type { Shortcut } from "../../hooks/shortcuts.ts";
import type { Playback } from "./playback.ts";

export const VIDEO_SHORTCUTS: readonly Shortcut[] = [
  { keys: ["Space", "k"], does: "Play or pause" },
  { keys: ["←", "→"], does: "Back / forward 5 s" },
  { keys: ["j", "l"], does: "Back / forward 10 s" },
  { keys: ["m"], does: "Mute" },
  { keys: ["f"], does: "Full screen" },
  { keys: ["/"], does: "Search transcript" },
  { keys: ["c"], does: "Copy transcript or selection" },
  { keys: ["?"], does: "Show keyboard shortcuts" },
];

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
