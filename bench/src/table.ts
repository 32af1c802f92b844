import { saveFigures } from "./figures.ts";

/** Prints a table with a left-aligned first column, and saves it for the documentation if SAVE_FIGURES is set. */
export function printTable(title: string, head: string[], rows: string[][]): void {
  saveFigures({ title, head, rows });
  const widths = head.map((_, column) =>
    Math.max(...[head, ...rows].map((row) => (row[column] ?? "").length)),
  );
  console.log(`\n${title}\n`);
  for (const row of [head, ...rows]) {
    const cells = row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    console.log(`  ${cells.join("   ")}`);
  }
}
