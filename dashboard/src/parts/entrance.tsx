import type { ReactNode } from "react";
import css from "./entrance.module.css";
import { Brand } from "./shell.tsx";
import { useTitle } from "./use-title.ts";

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
  useTitle(title);
  return (
    <main className={css.page}>
      <div className={css.column}>
        <Brand />
        <div className={css.card}>
          <div>
            <h1>{title}</h1>
            {lead && <p className={css.lead}>{lead}</p>}
          </div>
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
