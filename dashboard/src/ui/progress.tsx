import css from "./progress.module.css";

/** @param props.value 0 … 1 */
export function Progress({ label, value }: { label: string; value: number }) {
  return (
    <progress className={css.progress} aria-label={label} value={Math.min(Math.max(value, 0), 1)} max={1} />
  );
}
