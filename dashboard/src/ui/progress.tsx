import css from "./progress.module.css";

/** @param share 0 … 1 */
export function Progress({ name, share }: { name: string; share: number }) {
  return (
    <progress className={css.progress} aria-label={name} value={Math.min(Math.max(share, 0), 1)} max={1} />
  );
}
