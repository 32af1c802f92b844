import type { TranscribeProgress, Transcript } from "../transcript.ts";
import { clockTime, openProgressBar, type ProgressTerminal } from "./terminal.ts";

export interface TranscriptionDisplay {
  show(progress: TranscribeProgress): void;
  erase(): void;
}

/** Earlier than this, the speed mostly reflects the time to open files. */
const SPEED_KNOWN_AFTER_MS = 500;
const MAX_NAME_LENGTH = 24;

/** @param now milliseconds of a monotonic clock */
export function showTranscription(
  name: string,
  terminal: ProgressTerminal,
  now: () => number = () => performance.now(),
): TranscriptionDisplay {
  const label = name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH - 1)}…` : name;
  const bar = openProgressBar(label, terminal, now);
  let first: { at: number; done: number } | null = null;
  return {
    show(progress) {
      first ??= { at: now(), done: progress.done };
      const { done, duration } = progress;
      const workedMs = now() - first.at;
      const pace = workedMs < SPEED_KNOWN_AFTER_MS ? null : (1000 * (done - first.done)) / workedMs;
      bar.show({
        share: duration === null ? null : Math.min(1, done / (duration || 1)),
        text: describeTranscription(progress, pace),
      });
    },
    erase: () => bar.erase(),
  };
}

/** Returns `42%  12:30/29:55  118×  0:09 left`. */
function describeTranscription(
  { done, duration, remainingSeconds }: TranscribeProgress,
  pace: number | null,
): string {
  const position = clockTime(Math.floor(done));
  const share = duration === null ? 0 : Math.floor(100 * Math.min(1, done / (duration || 1)));
  const parts = [
    duration === null ? position : `${share}%  ${position}/${clockTime(Math.floor(duration))}`,
    pace === null || pace <= 0 ? null : `${describePace(pace)}×`,
    remainingSeconds === null ? null : `${clockTime(remainingSeconds)} left`,
  ];
  return parts.filter((part) => part !== null).join("  ");
}

/** Returns `43.3 s of en in 1.3 s, 33 × real time, by moonshine-tiny`. */
export function summaryOf({ duration, language, stages, engine }: Transcript): string {
  const pace = describePace(duration / Math.max(0.001, stages.total));
  return `${duration.toFixed(1)} s of ${language} in ${stages.total.toFixed(1)} s, ${pace} × real time, by ${engine}`;
}

function describePace(pace: number): string {
  return pace < 10 ? pace.toFixed(1) : String(Math.round(pace));
}
