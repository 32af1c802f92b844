import type { ReactNode } from "react";
import css from "./card.module.css";

export function Card({
  title,
  id,
  aside,
  isWide,
  children,
}: {
  title: string;
  id?: string;
  aside?: ReactNode;
  isWide?: boolean;
  children: ReactNode;
}) {
  return (
    <section className={css.card} id={id} data-wide={isWide} aria-label={title}>
      <div className={css.head}>
        <h2>{title}</h2>
        {aside && <div className={css.aside}>{aside}</div>}
      </div>
      {children}
    </section>
  );
}

export function StatCard({
  title,
  value,
  unit,
  text,
}: {
  title: string;
  value: string;
  unit: string;
  text: string;
}) {
  return (
    <section className={css.card} aria-label={title}>
      <h2 className={css.statTitle}>{title}</h2>
      <p className={css.value}>
        {value}
        {unit && <span> {unit}</span>}
      </p>
      <p className={css.text}>{text}</p>
    </section>
  );
}

/** Renders text between backticks as code. */
export function TextWithCode({ text }: { text: string }) {
  return text.split("`").map((part, index, { length }) => {
    const isCode = index % 2 === 1 && index < length - 1;
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text never reorder
    return isCode ? <code key={index}>{part}</code> : part;
  });
}
