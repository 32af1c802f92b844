/** Renders a table without aligning its columns, so that a change to one row changes only one line. */
export function renderTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `|${cells.map((cell) => ` ${cell.replaceAll("|", "\\|")} `.replace(/^ +$/, " ")).join("|")}|\n`;
  return [line(header), `|${"---|".repeat(header.length)}\n`, ...rows.map(line)].join("");
}
