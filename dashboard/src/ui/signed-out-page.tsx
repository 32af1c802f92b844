import type { ReactNode } from "react";
import { Brand, PageTitle } from "./page.tsx";
import css from "./signed-out-page.module.css";

/** The layout of the pages outside the shell: setup, joining and sign-in. */
export function SignedOutPage({
  title,
  description,
  children,
}: {
  title: string;
  description?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <main className={css.page}>
      <div className={css.column}>
        <Brand />
        <div className={css.card}>
          <PageTitle title={title} description={description} />
          {children}
        </div>
      </div>
    </main>
  );
}

export function FieldGroup({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={css.group} aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}
