import { type KeyboardEvent, useDeferredValue, useEffect, useId, useMemo, useState } from "react";
import { ui } from "../../../messages/en/ui.ts";
import { videoDetail as texts } from "../../../messages/en/video-detail.ts";
import { formatNumber } from "../../../messages/numbers.ts";
import controls from "../../../ui/forms/controls.module.css";
import { Button } from "../../../ui/forms/controls.tsx";
import { DownIcon, SearchIcon, UpIcon } from "../../../ui/icons.tsx";
import css from "./transcript.module.css";
import type { TranscriptController } from "./transcript-controller.ts";
import type { Transcript } from "./transcript-model.ts";
import { MAX_MATCHES, type Match, TranscriptSearch } from "./transcript-search.ts";

interface TranscriptSearchFieldProps {
  transcript: Transcript;
  controller: TranscriptController | null;
  inputRef: React.Ref<HTMLInputElement>;
  /** Called on Escape in the empty field. */
  onLeave(): void;
}

export function TranscriptSearchField({
  transcript,
  controller,
  inputRef,
  onLeave,
}: TranscriptSearchFieldProps) {
  const [query, setQuery] = useState("");
  const search = useMemo(() => new TranscriptSearch(transcript.paragraphs), [transcript]);
  const deferred = useDeferredValue(query);
  const matches = useMemo(() => search.find(deferred), [search, deferred]);
  const [selected, setSelected] = useState<{ matches: readonly Match[]; index: number }>({
    matches,
    index: 0,
  });
  // Start a new query at its first match.
  const index = selected.matches === matches ? selected.index : 0;
  const countId = useId();

  useEffect(() => controller?.showMatches(matches), [controller, matches]);
  useEffect(() => controller?.showMatch(matches[index] ?? null), [controller, matches, index]);

  const step = (by: number) => {
    if (matches.length === 0) return;
    const next = (index + by + matches.length) % matches.length;
    setSelected({ matches, index: next });
    // The only match may have been scrolled out of view.
    if (next === index) controller?.showMatch(matches[next]!);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // These keys also confirm or cancel what an input method composes.
    if (event.nativeEvent.isComposing) return;
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
        aria-label={texts.searchTranscript}
        aria-describedby={countId}
        placeholder={texts.searchTranscript}
        maxLength={200}
        value={query}
        onChange={({ currentTarget }) => setQuery(currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <span className={query === "" ? controls.hidden : css.count} id={countId} role="status">
        {query !== "" && countText(matches.length, index)}
      </span>
      {query !== "" && (
        <>
          <Button variant="quiet" iconOnly aria-label={texts.previousMatch} onPress={() => step(-1)}>
            <UpIcon />
          </Button>
          <Button variant="quiet" iconOnly aria-label={texts.nextMatch} onPress={() => step(1)}>
            <DownIcon />
          </Button>
        </>
      )}
    </search>
  );
}

function countText(count: number, index: number): string {
  if (count === 0) return ui.noResults;
  const total = count === MAX_MATCHES ? `${formatNumber(count)}+` : formatNumber(count);
  return texts.matchOf(index + 1, total);
}
