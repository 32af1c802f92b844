import type { ReactNode } from "react";
import { Brand } from "../shell/shell.tsx";
import css from "./entrance.module.css";
import { PageTitle } from "./page.tsx";

/** A page before the sign-in: one card, one thing to do. */
export function Entrance({
  title,
  lead,
  children,
}: {
  title: string;
  lead?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <main className={css.page}>
      <div className={css.column}>
        <Brand />
        <div className={css.card}>
          <PageTitle title={title} lead={lead} />
          {children}
        </div>
      </div>
    </main>
  );
}

export function Group({ name, children }: { name: string; children: ReactNode }) {
  return (
    <section className={css.group} aria-label={name}>
      <h2>{name}</h2>
      {children}
    </section>
  );
}
