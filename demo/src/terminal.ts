const interactive = process.stdout.isTTY;
const BAR_WIDTH = 30;

export function printStep(step: string, result: string): void {
  console.log(`✓ ${step}: ${result}`);
}

/** The progress bar is visible only if the output is a terminal. */
export function progressLine(label: string): { show(fraction: number, note?: string): void; end(): void } {
  return {
    show(fraction, note = "") {
      if (!interactive) return;
      const filled = Math.round(Math.min(Math.max(fraction, 0), 1) * BAR_WIDTH);
      const bar = "█".repeat(filled) + "░".repeat(BAR_WIDTH - filled);
      process.stdout.write(`\r\x1b[K  ${label} ${bar} ${Math.round(fraction * 100)}% ${note}`);
    },
    end() {
      if (interactive) process.stdout.write("\r\x1b[K");
    },
  };
}

export function printTable(head: string[], rows: string[][]): void {
  const widths = head.map((_, column) =>
    Math.max(...[head, ...rows].map((row) => (row[column] ?? "").length)),
  );
  for (const row of [head, ...rows]) {
    console.log(
      `    ${row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("   ")
        .trimEnd()}`,
    );
  }
}
