/** A table without the alignment of its columns, so that a change of one row is one changed line. */
export function renderTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `|${cells.map((cell) => ` ${cell.replaceAll("|", "\\|")} `.replace(/^ +$/, " ")).join("|")}|\n`;
  return [line(header), `|${"---|".repeat(header.length)}\n`, ...rows.map(line)].join("");
}
