import type { DownloadProgress } from "@subtext/speech/models/progress";

/** Shows people how far a download is. */
export interface DownloadDisplay {
  show(progress: DownloadProgress): void;
  /** Leaves the place as a line of its own; to be called once, however the download ended. */
  end(): void;
}

/** A terminal in which a line may be drawn over and over. */
export interface ProgressTerminal {
  write(text: string): void;
  columns(): number;
}

const REDRAW_AFTER_MS = 100;
const BAR_CELLS = 24;
const LINE_EVERY_PERCENT = 10;
/** Where nobody knows how large the whole is. */
const LINE_EVERY_BYTES = 50e6;

/** A bar that is drawn over itself. */
export function drawBar(
  name: string,
  terminal: ProgressTerminal,
  now: () => number = () => performance.now(),
): DownloadDisplay {
  let drawnAt = Number.NEGATIVE_INFINITY;
  let last: DownloadProgress | null = null;
  const draw = (progress: DownloadProgress) => {
    // A line that is as wide as the terminal would begin a new one.
    const line = `${name}  ${barOf(progress)}${describeProgress(progress)}`.slice(0, terminal.columns() - 1);
    terminal.write(`\r${line}\u001b[K`);
  };
  return {
    show(progress) {
      last = progress;
      if (now() - drawnAt < REDRAW_AFTER_MS) return;
      drawnAt = now();
      draw(progress);
    },
    end() {
      if (last === null) return;
      draw(last);
      terminal.write("\n");
    },
  };
}

/** A line for each tenth, for logs and files. */
export function writeLines(write: (line: string) => void): DownloadDisplay {
  let told = -1;
  return {
    show(progress) {
      const { receivedBytes, totalBytes } = progress;
      const step =
        totalBytes === null
          ? Math.floor(receivedBytes / LINE_EVERY_BYTES)
          : Math.floor(((receivedBytes / (totalBytes || 1)) * 100) / LINE_EVERY_PERCENT);
      if (step <= told) return;
      told = step;
      write(describeProgress(progress));
    },
    end() {},
  };
}

/** `37 %  93 of 252 MB  8.1 MB/s  0:20 left` */
export function describeProgress(progress: DownloadProgress): string {
  const { receivedBytes, totalBytes, bytesPerSecond, remainingSeconds, elsewhere } = progress;
  const parts = [
    totalBytes === null
      ? megabytes(receivedBytes)
      : `${Math.floor((receivedBytes / (totalBytes || 1)) * 100)} %  ${megabytes(receivedBytes)} of ${megabytes(totalBytes)}`,
    bytesPerSecond === null ? null : `${megabytes(bytesPerSecond)}/s`,
    remainingSeconds === null ? null : `${clockTime(remainingSeconds)} left`,
    elsewhere ? "(another process downloads)" : null,
  ];
  return parts.filter((part) => part !== null).join("  ");
}

/** `0.4 MB`, `252 MB` */
export function megabytes(bytes: number): string {
  const size = bytes / 1e6;
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} MB`;
}

function barOf({ receivedBytes, totalBytes }: DownloadProgress): string {
  if (totalBytes === null) return "";
  const full = Math.min(BAR_CELLS, Math.floor((receivedBytes / (totalBytes || 1)) * BAR_CELLS));
  return `[${"#".repeat(full)}${"-".repeat(BAR_CELLS - full)}]  `;
}

/** `0:07`, `1:02:03` */
function clockTime(seconds: number): string {
  const whole = Math.ceil(seconds);
  const two = (part: number) => String(part).padStart(2, "0");
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}
