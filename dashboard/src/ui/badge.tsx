import css from "./badge.module.css";

/** `busy`: it goes on at this moment. */
export type Tone = "good" | "bad" | "wait" | "busy" | "plain";

/** How something is, in a word. */
export function Badge({ name, tone }: { name: string; tone: Tone }) {
  return (
    <span className={css.badge} data-tone={tone}>
      {name}
    </span>
  );
}
