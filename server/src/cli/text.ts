/** Formats a table with aligned columns; returns `none` if there are no rows. */
export function table(headings: readonly string[], rows: readonly string[][], none: string): string {
  if (rows.length === 0) return none;
  const lines = [headings.map((heading) => heading.toUpperCase()), ...rows];
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => widthOf(line[column] ?? ""))));
  return lines.map((line) => alignLine(line, widths)).join("\n");
}

/** Formats a record with one property per line. Null properties are omitted. */
export function properties(pairs: readonly (readonly [string, string | null])[]): string {
  const shown = pairs.filter((pair): pair is [string, string] => pair[1] !== null);
  const width = Math.max(...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join("\n");
}

/** Formats a time as `2026-11-21 02:23 UTC`. */
export function time(iso: string | null): string {
  return iso === null ? "–" : `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
}

/** Formats a duration as `1:02:03` or `0:07`. */
export function length(seconds: number | null): string {
  if (seconds === null) return "–";
  const whole = Math.round(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (part: number) => String(part).padStart(2, "0");
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/** Formats a number with its noun: `1 video`, `2,000 videos`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

export function onOff(on: boolean): string {
  return on ? "on" : "off";
}

function alignLine(cells: readonly string[], widths: readonly number[]): string {
  const padded = cells.map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - widthOf(cell)));
  return padded.join("  ").trimEnd();
}

/** Counts code points, so columns with wide characters are not aligned exactly. */
function widthOf(text: string): number {
  return [...text].length;
}
