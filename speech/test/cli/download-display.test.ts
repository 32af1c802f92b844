import { describe, expect, test } from "vitest";
import { drawBar, writeLines } from "../../src/cli/download-display.ts";
import type { DownloadProgress } from "../../src/models/download-progress.ts";

describe("a download's display", () => {
  const at = (receivedBytes: number, totalBytes: number | null): DownloadProgress => ({
    receivedBytes,
    totalBytes,
    bytesPerSecond: 8.1e6,
    remainingSeconds: totalBytes === null ? null : 19.2,
    elsewhere: false,
  });

  test("is a bar that never fills the terminal's last column, drawn a few times a second", () => {
    const written: string[] = [];
    let now = 0;
    const terminal = { write: (text: string) => void written.push(text), columns: () => 40 };
    const bar = drawBar("whisper-small", terminal, () => now);
    bar.show(at(93e6, 252e6));
    expect(written).toEqual(["\rwhisper-small  [##------]  36%  93 MB o\u001b[K"]);
    bar.show(at(94e6, 252e6));
    now = 100;
    written.length = 0;
    terminal.columns = () => 100;
    bar.show(at(93e6, 252e6));
    expect(written[0]).toBe(
      "\rwhisper-small  [########----------------]  36%  93 MB of 252 MB  8.1 MB/s  0:20 left\u001b[K",
    );
    bar.end();
    expect(written.at(-1)).toBe("\n");
  });

  test("draws nothing if nothing was downloaded", () => {
    const written: string[] = [];
    drawBar("whisper-small", { write: (text) => void written.push(text), columns: () => 80 }).end();
    expect(written).toEqual([]);
  });

  test("is a line for each tenth without a terminal, or for each 50 MB of an unknown size", () => {
    const lines: string[] = [];
    const known = writeLines((line) => lines.push(line));
    for (let percent = 0; percent <= 100; percent += 2) known.show(at(percent * 1e6, 100e6));
    expect(lines.map((line) => /(\d+)%/.exec(line)?.[1])).toEqual([
      "0",
      "10",
      "20",
      "30",
      "40",
      "50",
      "60",
      "70",
      "80",
      "90",
      "100",
    ]);
    lines.length = 0;
    const unknown = writeLines((line) => lines.push(line));
    for (let megabytes = 0; megabytes <= 120; megabytes += 10) unknown.show(at(megabytes * 1e6, null));
    expect(lines).toEqual(["0.0 MB  8.1 MB/s", "50 MB  8.1 MB/s", "100 MB  8.1 MB/s"]);
  });
});
