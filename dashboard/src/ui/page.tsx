import { type ReactNode, useEffect } from "react";
import { ui as texts } from "../messages/en/ui.ts";
import controls from "./forms/controls.module.css";
import { Button } from "./forms/controls.tsx";
import css from "./page.module.css";
import logo from "./theme/logo.svg";

export function Brand() {
  return (
    <div className={css.brand}>
      <img src={logo} alt="" />
      Subtext
    </div>
  );
}

/**
 * @param props.title a generic title, such as "Video", until the item's name has loaded
 * @param props.children the page's actions
 */
export function PageHeader({
  title,
  isLoading = false,
  description,
  children,
}: {
  title: string;
  isLoading?: boolean;
  description?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <div className={css.header}>
      <PageTitle title={title} isLoading={isLoading} description={description} />
      {children}
    </div>
  );
}

/** Also sets the document's title. The shell focuses the heading when the page opens. */
export function PageTitle({
  title,
  isLoading = false,
  description,
}: {
  title: string;
  isLoading?: boolean;
  description?: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Subtext`;
  }, [title]);
  return (
    <div>
      <h1 className={css.title} tabIndex={-1} data-loading={isLoading || undefined}>
        {title}
      </h1>
      {description && <p className={css.description}>{description}</p>}
    </div>
  );
}

/** A skeleton. Invisible at first, so that it does not flash if the response is fast. */
export function Loading() {
  return (
    <div className={css.loading} role="status">
      <span className={controls.hidden}>{texts.loading}</span>
      <div data-skeleton="" />
      <div data-skeleton="" />
      <div data-skeleton="" />
    </div>
  );
}

export function Section({
  title,
  description,
  children,
}: {
  title: string;
  description?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section className={css.section} aria-label={title}>
      <div>
        <h2>{title}</h2>
        {description && <p className={css.sectionDescription}>{description}</p>}
      </div>
      {children}
    </section>
  );
}

export function EmptyState({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className={css.empty}>
      <h2>{title}</h2>
      {children && <p>{children}</p>}
    </div>
  );
}

/** Loads the next page of an infinite query. Renders nothing on the last page. */
export function ShowMore({
  query,
}: {
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage(): Promise<unknown> };
}) {
  if (!query.hasNextPage) return null;
  return (
    <div className={css.more}>
      <Button onPress={() => query.fetchNextPage()} isPending={query.isFetchingNextPage}>
        {texts.showMore}
      </Button>
    </div>
  );
}
