import { SEARCH_LIMITS, type SearchPageView } from "@subtext/server/admin/contract/search";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useCallback, useEffect, useRef, useState } from "react";
import { Input, Label, SearchField } from "react-aria-components";
import { messageOf } from "../../admin-client/request.ts";
import { keepLastEnvironment } from "../../hooks/last-environment.ts";
import { useArrows } from "../../hooks/use-arrow-keys.ts";
import { useNow } from "../../hooks/use-now.ts";
import controls from "../../ui/controls.module.css";
import { Button, Notice } from "../../ui/controls.tsx";
import { language as languageName } from "../../ui/format.ts";
import { CloseIcon, SearchIcon } from "../../ui/icons.tsx";
import { InEnvironment } from "../../ui/in-environment.tsx";
import { PageHeader } from "../../ui/page.tsx";
import { searchQuery } from "./queries.ts";
import css from "./search-page.module.css";
import { FoundVideo } from "./search-result.tsx";

const ROUTE = "/signed-in/environments/$environmentId/search";
/** Long enough that not every letter of a quick typist is asked for. */
const TYPING_PAUSE_MS = 180;

/** Every transcript of an environment, searched while one types. */
export function SearchPage() {
  const { environmentId } = useParams({ from: ROUTE });
  return (
    <InEnvironment environmentId={environmentId}>
      {(environment) => (
        <Search key={environment.id} environmentId={environment.id} name={environment.name} />
      )}
    </InEnvironment>
  );
}

function Search({ environmentId, name }: { environmentId: string; name: string }) {
  const address = useSearch({ from: ROUTE });
  const { q = "", language } = address;
  const [typed, setTyped] = useTyped(q);
  useEffect(() => keepLastEnvironment(environmentId), [environmentId]);
  const navigate = useNavigate({ from: "/environments/$environmentId/search" });
  const found = useInfiniteQuery(searchQuery(environmentId, address));
  const pages = q === "" ? [] : (found.data?.pages ?? []);
  const languages = pages[0]?.languages ?? [];
  const body = useRef<HTMLDivElement>(null);
  // From the field through the results and back.
  useArrows(body, "[data-begin], [data-result]");

  return (
    <div ref={body}>
      <PageHeader title="Search" lead={`Search spoken words in ${name}.`} />
      <div className={css.form}>
        <SearchField
          className={css.field ?? ""}
          value={typed}
          onChange={setTyped}
          maxLength={SEARCH_LIMITS.characters}
        >
          <Label className={controls.hidden ?? ""}>Search all transcripts</Label>
          <SearchIcon />
          <Input
            className={css.input ?? ""}
            placeholder='Search words or an "exact phrase"'
            data-begin=""
            enterKeyHint="search"
            ref={useFocusOnce()}
          />
          {typed !== "" && (
            <Button look="quiet" square aria-label="Clear">
              <CloseIcon />
            </Button>
          )}
        </SearchField>
        {(languages.length > 1 || language !== undefined) && (
          <select
            className={css.language}
            aria-label="Language"
            value={language ?? ""}
            onChange={({ currentTarget: { value } }) => {
              void navigate({
                search: { ...(q && { q }), ...(value && { language: value }) },
                replace: true,
              });
            }}
          >
            <option value="">All languages</option>
            {[...new Set([...languages, ...(language === undefined ? [] : [language])])].map((code) => (
              <option key={code} value={code}>
                {languageName(code)}
              </option>
            ))}
          </select>
        )}
      </div>
      <p className={css.count} role="status">
        {q !== "" && pages[0] && !found.isPlaceholderData && countInWords(pages[0], q)}
      </p>
      {q === "" ? (
        <Tips />
      ) : found.error ? (
        <Notice tone="bad">{messageOf(found.error)}</Notice>
      ) : (
        pages[0] && (
          <div className={css.results} data-stale={found.isPlaceholderData || undefined}>
            <Results environmentId={environmentId} pages={pages} />
            {found.hasNextPage && (
              <div className={css.more}>
                <Button onPress={() => found.fetchNextPage()} isPending={found.isFetchingNextPage}>
                  Show more videos
                </Button>
              </div>
            )}
          </div>
        )
      )}
    </div>
  );
}

/** What stands in the field; a pause in the typing brings it into the address, and the address back. */
function useTyped(q: string): [string, (text: string) => void] {
  const navigate = useNavigate({ from: "/environments/$environmentId/search" });
  const [typed, setTyped] = useState(q);
  const sent = useRef(q);
  useEffect(() => {
    // By a link or the way back, not by what was typed here.
    if (q !== sent.current) {
      sent.current = q;
      setTyped(q);
    }
  }, [q]);
  useEffect(() => {
    const next = typed.trim();
    if (next === sent.current.trim()) return;
    const timer = setTimeout(() => {
      sent.current = next;
      void navigate({
        search: ({ q: _, ...rest }) => ({ ...rest, ...(next && { q: next }) }),
        replace: true,
      });
    }, TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed, navigate]);
  return [typed, setTyped];
}

/** Whoever opens the page wants to type, unless there are results to read. */
function useFocusOnce() {
  const { q = "" } = useSearch({ from: ROUTE });
  const isFirst = useRef(q === "");
  return useCallback((field: HTMLInputElement | null) => {
    if (field && isFirst.current) field.focus();
    isFirst.current = false;
  }, []);
}

function countInWords(
  { data, matchCount, videoCount, isTruncated, hint }: SearchPageView,
  query: string,
): string {
  if (hint !== null) return "";
  if (data.length === 0) {
    return `No results for “${query}”${isTruncated ? " in the newest transcripts" : ""}`;
  }
  const matches = `${matchCount.toLocaleString("en")} ${matchCount === 1 ? "match" : "matches"}`;
  const videos = `${videoCount.toLocaleString("en")} ${videoCount === 1 ? "video" : "videos"}`;
  return isTruncated
    ? `The newest ${matches} in ${videos}. There are more: add a word to narrow the search.`
    : `${matches} in ${videos}`;
}

function Results({ environmentId, pages }: { environmentId: string; pages: SearchPageView[] }) {
  const now = useNow(60_000);
  const { hint } = pages[0]!;
  const videos = pages.flatMap(({ data }) => data);
  if (hint !== null) return <Notice tone="plain">{HINTS[hint]}</Notice>;
  if (videos.length === 0) return <Tips title="Try other words" />;
  return (
    <ul className={css.videos} aria-label="Videos">
      {videos.map((video) => (
        <li key={video.videoId}>
          <FoundVideo environmentId={environmentId} video={video} now={now} />
        </li>
      ))}
    </ul>
  );
}

const HINTS = {
  no_words: "Search for letters or numbers.",
  only_excluded: "Add at least one word to search for.",
  only_common_words: "These words are too common. Add a more specific one.",
};

function Tips({ title = "Find what was said and play from there" }: { title?: string }) {
  return (
    <div className={css.tips}>
      <h2>{title}</h2>
      <dl>
        {TIPS.map(([example, meaning]) => (
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

const TIPS = [
  ["annual budget", "both words in one sentence, including variants (budgets, budgeted)"],
  ["“annual budget”", "exact phrase"],
  ["budget OR forecast", "either word"],
  ["budget -draft", "exclude a word"],
] as const;
