import type { Shortcut } from "../shortcuts.ts";
import type { Playback } from "./playback.ts";

export const VIDEO_SHORTCUTS: readonly Shortcut[] = [
  { keys: ["Space", "k"], does: "Play or pause" },
  { keys: ["←", "→"], does: "5 seconds back, forward" },
  { keys: ["j", "l"], does: "10 seconds back, forward" },
  { keys: ["m"], does: "Mute" },
  { keys: ["f"], does: "Full screen" },
  { keys: ["/"], does: "Search in the transcript" },
  { keys: ["c"], does: "Copy the transcript, or what is selected of it" },
  { keys: ["?"], does: "Show these keys" },
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
