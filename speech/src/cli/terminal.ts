import type { MemoryLimit } from "../processes/memory-limit.ts";

export interface Terminal {
  env: Record<string, string | undefined>;
  out(text: string): void;
  err(text: string): void;
  /** Width of the terminal that `err` writes to; null if it writes to a file or another program. */
  errColumns(): number | null;
  /** The memory that the command may use; null if the system does not report it. */
  memoryLimit(): MemoryLimit | null;
}

export interface ProgressTerminal {
  write(text: string): void;
  columns(): number;
}

/** Returns null if there is no terminal to draw on. */
export function progressTerminal({
  err,
  errColumns,
}: Pick<Terminal, "err" | "errColumns">): ProgressTerminal | null {
  return errColumns() === null ? null : { write: err, columns: () => errColumns() ?? 80 };
}

export interface BarState {
  /** Completed share, 0 … 1. If null, no bar is drawn. */
  share: number | null;
  text: string;
}

/** A line that is redrawn at most once every 100 ms. */
export interface ProgressBar {
  show(state: BarState): void;
  /** Draws the last state and ends the line. */
  end(): void;
  erase(): void;
}

const REDRAW_AFTER_MS = 100;
const CELLS = 24;
/** In a narrow terminal, the bar shrinks to make room for the text. */
const MIN_CELLS = 8;
const CLEAR_TO_END = "\u001b[K";

/** @param now milliseconds of a monotonic clock */
export function openProgressBar(
  label: string,
  terminal: ProgressTerminal,
  now: () => number = () => performance.now(),
): ProgressBar {
  let drawnAt = Number.NEGATIVE_INFINITY;
  let last: BarState | null = null;
  const draw = ({ share, text }: BarState) => {
    // A line as wide as the terminal may wrap.
    const columns = terminal.columns() - 1;
    const room = columns - `${label}  []  ${text}`.length;
    const cells = Math.max(MIN_CELLS, Math.min(CELLS, room));
    const bar = share === null ? "" : `${barOf(share, cells)}  `;
    const line = `${label}  ${bar}${text}`.slice(0, columns);
    terminal.write(`\r${line}${CLEAR_TO_END}`);
  };
  return {
    show(state) {
      last = state;
      if (now() - drawnAt < REDRAW_AFTER_MS) return;
      drawnAt = now();
      draw(state);
    },
    end() {
      if (last === null) return;
      draw(last);
      terminal.write("\n");
    },
    erase() {
      if (last !== null) terminal.write(`\r${CLEAR_TO_END}`);
      last = null;
    },
  };
}

function barOf(share: number, cells: number): string {
  const full = Math.min(cells, Math.floor(share * cells));
  return `[${"#".repeat(full)}${"-".repeat(cells - full)}]`;
}

/** Returns `0:07` or `1:02:03`. Fractions of a second are rounded up. */
export function clockTime(seconds: number): string {
  const whole = Math.ceil(seconds);
  const two = (part: number) => String(part).padStart(2, "0");
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}
