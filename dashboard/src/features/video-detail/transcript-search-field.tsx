import { type KeyboardEvent, useDeferredValue, useEffect, useId, useMemo, useState } from "react";
import controls from "../../ui/controls.module.css";
import { Button } from "../../ui/controls.tsx";
import { DownIcon, SearchIcon, UpIcon } from "../../ui/icons.tsx";
import css from "./transcript.module.css";
import type { TranscriptView } from "./transcript-controller.ts";
import type { Transcript } from "./transcript-model.ts";
import { type Match, MOST_MATCHES, TranscriptSearch } from "./transcript-search.ts";

interface TranscriptFindProps {
  transcript: Transcript;
  view: TranscriptView | null;
  inputRef: React.Ref<HTMLInputElement>;
  /** Takes the keyboard back, at what was found. */
  onLeave(): void;
}

export function TranscriptFind({ transcript, view, inputRef, onLeave }: TranscriptFindProps) {
  const [query, setQuery] = useState("");
  const search = useMemo(() => new TranscriptSearch(transcript.paragraphs), [transcript]);
  const deferred = useDeferredValue(query);
  const matches = useMemo(() => search.find(deferred), [search, deferred]);
  const [chosen, setChosen] = useState<{ matches: readonly Match[]; index: number }>({ matches, index: 0 });
  // Another query begins at its first match.
  const index = chosen.matches === matches ? chosen.index : 0;
  const countId = useId();

  useEffect(() => view?.showMatches(matches), [view, matches]);
  useEffect(() => view?.showMatch(matches[index] ?? null), [view, matches, index]);

  const step = (by: number) => {
    if (matches.length > 0) setChosen({ matches, index: (index + by + matches.length) % matches.length });
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
    else if (event.key !== "Escape") return;
    else if (query !== "") setQuery("");
    else onLeave();
    event.preventDefault();
  };
  return (
    <search className={css.search}>
      <SearchIcon />
      <input
        ref={inputRef}
        type="text"
        enterKeyHint="search"
        spellCheck={false}
        autoComplete="off"
        dir="auto"
        aria-label="Search transcript"
        aria-describedby={countId}
        placeholder="Search transcript"
        maxLength={200}
        value={query}
        onChange={({ currentTarget }) => setQuery(currentTarget.value)}
        onKeyDown={press}
      />
      <span className={query === "" ? controls.hidden : css.count} id={countId} role="status">
        {query !== "" && countInWords(matches.length, index)}
      </span>
      {query !== "" && (
        <>
          <Button look="quiet" square aria-label="Previous match" onPress={() => step(-1)}>
            <UpIcon />
          </Button>
          <Button look="quiet" square aria-label="Next match" onPress={() => step(1)}>
            <DownIcon />
          </Button>
        </>
      )}
    </search>
  );
}

function countInWords(count: number, index: number): string {
  if (count === 0) return "No results";
  const total = count === MOST_MATCHES ? `${count.toLocaleString("en")}+` : count.toLocaleString("en");
  return `${(index + 1).toLocaleString("en")} of ${total}`;
}
