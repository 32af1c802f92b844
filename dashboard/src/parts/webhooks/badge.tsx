import table from "../table.module.css";
import type { Tone } from "./words.ts";

export function Badge({ name, tone }: { name: string; tone: Tone }) {
  return (
    <span className={table.badge} data-tone={tone}>
      {name}
    </span>
  );
}
