import type { DownloadProgress } from "../models/download-progress.ts";
import { clockTime, openProgressBar, type ProgressTerminal } from "./terminal.ts";

export interface DownloadDisplay {
  show(progress: DownloadProgress): void;
  /** Leaves the last state on the screen. Call it once, even if the download failed. */
  end(): void;
}

const LINE_EVERY_PERCENT = 10;
/** Used if the total size is unknown. */
const LINE_EVERY_BYTES = 50e6;

export function drawBar(name: string, terminal: ProgressTerminal, now?: () => number): DownloadDisplay {
  const bar = openProgressBar(name, terminal, now);
  return {
    show: (progress) => bar.show({ share: shareOf(progress), text: describeProgress(progress) }),
    end: () => bar.end(),
  };
}

/** For output that is not a terminal. */
export function writeLines(write: (line: string) => void): DownloadDisplay {
  let reportedStep = -1;
  return {
    show(progress) {
      const share = shareOf(progress);
      const step =
        share === null
          ? Math.floor(progress.receivedBytes / LINE_EVERY_BYTES)
          : Math.floor((share * 100) / LINE_EVERY_PERCENT);
      if (step <= reportedStep) return;
      reportedStep = step;
      write(describeProgress(progress));
    },
    end() {},
  };
}

/** `37%  93 MB of 252 MB  8.1 MB/s  0:20 left` */
export function describeProgress(progress: DownloadProgress): string {
  const { receivedBytes, totalBytes, bytesPerSecond, remainingSeconds, elsewhere } = progress;
  const share = shareOf(progress);
  const parts = [
    totalBytes === null || share === null
      ? megabytes(receivedBytes)
      : `${Math.floor(share * 100)}%  ${megabytes(receivedBytes)} of ${megabytes(totalBytes)}`,
    bytesPerSecond === null ? null : `${megabytes(bytesPerSecond)}/s`,
    remainingSeconds === null ? null : `${clockTime(remainingSeconds)} left`,
    elsewhere ? "(downloaded by another process)" : null,
  ];
  return parts.filter((part) => part !== null).join("  ");
}

/** `0.4 MB`, `252 MB` */
export function megabytes(bytes: number): string {
  const size = bytes / 1e6;
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} MB`;
}

function shareOf({ receivedBytes, totalBytes }: DownloadProgress): number | null {
  return totalBytes === null ? null : receivedBytes / (totalBytes || 1);
}
