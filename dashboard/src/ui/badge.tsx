import css from "./badge.module.css";

export type Tone = "good" | "bad" | "wait" | "busy" | "plain";

export function Badge({ label, tone }: { label: string; tone: Tone }) {
  return (
    <span className={css.badge} data-tone={tone}>
      {label}
    </span>
  );
}
