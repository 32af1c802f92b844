import type { ReactNode } from "react";
import { CopyButton } from "./copy-button.tsx";
import css from "./page.module.css";
import { useTitle } from "./use-title.ts";

/** The head of a page: its name, what it is for, and what can be done. */
export function PageHeader({
  title,
  lead,
  children,
}: {
  title: string;
  lead?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <div className={css.header}>
      <PageTitle title={title} lead={lead} />
      {children}
    </div>
  );
}

/** What a page is called, for the window and screen readers too; where the focus goes when the page opens. */
export function PageTitle({ title, lead }: { title: string; lead?: ReactNode }) {
  useTitle(title);
  return (
    <div>
      <h1 className={css.title} tabIndex={-1}>
        {title}
      </h1>
      {lead && <p className={css.lead}>{lead}</p>}
    </div>
  );
}

/** Placeholder while content loads; invisible at first, so that it does not flash if the response is fast. */
export function Loading() {
  return (
    <p className={css.loading} role="status">
      Loading…
    </p>
  );
}

export function Section({ title, lead, children }: { title: string; lead?: ReactNode; children: ReactNode }) {
  return (
    <section className={css.section} aria-label={title}>
      <div>
        <h2>{title}</h2>
        {lead && <p className={css.sectionLead}>{lead}</p>}
      </div>
      {children}
    </section>
  );
}

/** Something that is shown this once, to be copied. */
export function Secret({ name, value }: { name: string; value: string }) {
  return (
    <div className={css.secret}>
      <input aria-label={name} readOnly value={value} onFocus={(event) => event.currentTarget.select()} />
      <CopyButton name={name} text={value} />
    </div>
  );
}
