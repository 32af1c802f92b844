import type { ReactNode } from "react";
import css from "./card.module.css";

export function Card({
  title,
  id,
  aside,
  wide,
  children,
}: {
  title: string;
  /** That links lead to. */
  id?: string;
  /** Beside the title: a figure, a time, a button. */
  aside?: ReactNode;
  wide?: boolean;
  children: ReactNode;
}) {
  return (
    <section className={css.card} id={id} data-wide={wide} aria-label={title}>
      <div className={css.head}>
        <h2>{title}</h2>
        {aside && <div className={css.aside}>{aside}</div>}
      </div>
      {children}
    </section>
  );
}

/** One number that is read at a glance. */
export function Figure({
  name,
  value,
  unit,
  text,
}: {
  name: string;
  value: string;
  unit?: string;
  text: string;
}) {
  return (
    <section className={css.card} aria-label={name}>
      <h2 className={css.name}>{name}</h2>
      <p className={css.value}>
        {value}
        {unit && <span> {unit}</span>}
      </p>
      <p className={css.text}>{text}</p>
    </section>
  );
}
