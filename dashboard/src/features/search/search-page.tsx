import type { EnvironmentSummaryView } from "@subtext/server/admin/contract/environment";
import { SEARCH_LIMITS, type SearchPageView } from "@subtext/server/admin/contract/search";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type RefObject, useCallback, useEffect, useRef } from "react";
import { rememberEnvironment } from "../../hooks/last-environment.ts";
import { useEnvironment } from "../../hooks/use-environment.ts";
import { useNow } from "../../hooks/use-now.ts";
import { search as texts } from "../../messages/en/search.ts";
import { languageName } from "../../ui/format.ts";
import { Notice } from "../../ui/forms/controls.tsx";
import { QueryField } from "../../ui/forms/query-field.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { PageHeader, ShowMore } from "../../ui/page.tsx";
import { searchQuery } from "./queries.ts";
import css from "./search-page.module.css";
import { SearchResult } from "./search-result.tsx";

const ROUTE = "/signed-in/environments/$environmentId/search";

export function SearchPage() {
  const environment = useEnvironment();
  return <Search key={environment.id} environment={environment} />;
}

function Search({ environment: { id: environmentId, name } }: { environment: EnvironmentSummaryView }) {
  const params = useSearch({ from: ROUTE });
  const { q = "", language } = params;
  useEffect(() => rememberEnvironment(environmentId), [environmentId]);
  const navigate = useNavigate({ from: "/environments/$environmentId/search" });
  const results = useInfiniteQuery(searchQuery(environmentId, params));
  const pages = q === "" ? [] : (results.data?.pages ?? []);
  const languages = pages[0]?.languages ?? [];
  const root = useRef<HTMLDivElement>(null);
  useArrowKeys(root, "[data-initial-focus], [data-result]");

  return (
    <div ref={root}>
      <PageHeader title={texts.title} description={texts.description(name)} />
      <div className={css.form}>
        <QueryField
          className={css.field}
          texts={texts}
          query={q}
          onChange={(next) =>
            navigate({
              search: ({ q: _, ...rest }) => ({ ...rest, ...(next && { q: next }) }),
              replace: true,
            })
          }
          maxLength={SEARCH_LIMITS.characters}
          inputRef={useInitialFocus()}
        />
        {(languages.length > 1 || language !== undefined) && (
          <select
            className={css.language}
            aria-label={texts.language}
            value={language ?? ""}
            onChange={({ currentTarget: { value } }) => {
              void navigate({
                search: { ...(q && { q }), ...(value && { language: value }) },
                replace: true,
              });
            }}
          >
            <option value="">{texts.allLanguages}</option>
            {[...new Set([...languages, ...(language === undefined ? [] : [language])])].map((code) => (
              <option key={code} value={code}>
                {languageName(code)}
              </option>
            ))}
          </select>
        )}
      </div>
      <p className={css.count} role="status">
        {q !== "" && pages[0] && !results.isPlaceholderData && countText(pages[0], q)}
      </p>
      {q === "" ? (
        <Tips title={texts.findAndPlay} />
      ) : (
        <>
          <LoadState query={results} />
          {pages[0] && (
            <div className={css.results} data-stale={results.isPlaceholderData || undefined}>
              <Results environmentId={environmentId} pages={pages} />
              <ShowMore query={results} />
            </div>
          )}
        </>
      )}
    </div>
  );
}

/** Focuses the field when the page opens without a query. */
function useInitialFocus() {
  const { q = "" } = useSearch({ from: ROUTE });
  const isFirst = useRef(q === "");
  return useCallback((field: HTMLInputElement | null) => {
    if (field && isFirst.current) field.focus();
    isFirst.current = false;
  }, []);
}

function countText(
  { data, matchCount, videoCount, isTruncated, hint }: SearchPageView,
  query: string,
): string {
  if (hint !== null) return "";
  if (data.length === 0) {
    return isTruncated ? texts.noNewResults(query) : texts.noResults(query);
  }
  return isTruncated ? texts.foundNewest(matchCount, videoCount) : texts.found(matchCount, videoCount);
}

function Results({ environmentId, pages }: { environmentId: string; pages: SearchPageView[] }) {
  const now = useNow(60_000);
  const { hint } = pages[0]!;
  const videos = pages.flatMap(({ data }) => data);
  if (hint !== null) return <Notice tone="plain">{texts.hints[hint]}</Notice>;
  if (videos.length === 0) return <Tips title={texts.tryOtherWords} />;
  return (
    <ul className={css.videos} aria-label={texts.videos}>
      {videos.map((video) => (
        <li key={video.videoId}>
          <SearchResult environmentId={environmentId} video={video} now={now} />
        </li>
      ))}
    </ul>
  );
}

function Tips({ title }: { title: string }) {
  return (
    <div className={css.tips}>
      <h2>{title}</h2>
      <dl>
        {texts.tips.map(({ example, meaning }) => (
          <div key={example}>
            <dt>
              <code>{example}</code>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** While an element that matches the selector has the focus, the up and down keys focus the previous or next one. */
function useArrowKeys(root: RefObject<HTMLElement | null>, selector: string): void {
  useEffect(() => {
    const element = root.current;
    const onKeyDown = (event: KeyboardEvent) => {
      const { key, altKey, ctrlKey, metaKey, shiftKey } = event;
      if (altKey || ctrlKey || metaKey || shiftKey || (key !== "ArrowDown" && key !== "ArrowUp")) return;
      if (!element || !document.activeElement?.matches(selector)) return;
      if (moveFocus(element, selector, key === "ArrowDown" ? 1 : -1)) event.preventDefault();
    };
    element?.addEventListener("keydown", onKeyDown);
    return () => element?.removeEventListener("keydown", onKeyDown);
  }, [root, selector]);
}

/**
 * Focuses the next or previous matching element, or the first one if none has the focus.
 * @returns false if there is no such element
 */
function moveFocus(root: HTMLElement, selector: string, by: 1 | -1): boolean {
  const elements = [...root.querySelectorAll<HTMLElement>(selector)];
  const index = elements.indexOf(document.activeElement as HTMLElement);
  const next = index < 0 ? elements[0] : elements[index + by];
  next?.focus();
  return next !== undefined;
}
