/** A terminal in which a line may be drawn over and over. */
export interface ProgressTerminal {
  write(text: string): void;
  columns(): number;
}

export interface BarState {
  /** How much of the whole is done, 0 … 1; null, and no bar, where nobody knows. */
  share: number | null;
  /** What stands behind the bar. */
  text: string;
}

/** A line that is drawn over itself, a few times a second. */
export interface ProgressBar {
  show(state: BarState): void;
  /** Leaves the last state as a line of its own; nothing where none was shown. */
  end(): void;
  /** Takes the line away. */
  erase(): void;
}

const REDRAW_AFTER_MS = 100;
const CELLS = 24;
/** Where the terminal is narrow the bar gives way to what stands behind it. */
const LEAST_CELLS = 8;
const CLEAR_TO_END = "\u001b[K";

/** @param now milliseconds of a clock that only goes forward */
export function openProgressBar(
  label: string,
  terminal: ProgressTerminal,
  now: () => number = () => performance.now(),
): ProgressBar {
  let drawnAt = Number.NEGATIVE_INFINITY;
  let last: BarState | null = null;
  const draw = ({ share, text }: BarState) => {
    // A line that is as wide as the terminal would begin a new one.
    const columns = terminal.columns() - 1;
    const room = columns - `${label}  []  ${text}`.length;
    const cells = Math.max(LEAST_CELLS, Math.min(CELLS, room));
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

/** `0:07`, `1:02:03`; part of a second counts as one. */
export function clockTime(seconds: number): string {
  const whole = Math.ceil(seconds);
  const two = (part: number) => String(part).padStart(2, "0");
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}
