import { MAX_COUNTED_VIDEOS, type VideoCountsView } from "@subtext/server/admin/contract/video";
import { SORT_DIRECTIONS, VIDEO_SORTS, VIDEO_STATES, type VideoState } from "@subtext/server/db/enums";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { videoCountsQuery, videoFiltersQuery } from "../../admin-client/queries.ts";
import { isDay, type VideoListView } from "../../admin-client/video-list-view.ts";
import { videoList as texts } from "../../messages/en/video-list.ts";
import { formatNumber } from "../../messages/numbers.ts";
import { languageName } from "../../ui/format.ts";
import controls from "../../ui/forms/controls.module.css";
import { Select } from "../../ui/forms/form-fields.tsx";
import { QueryField } from "../../ui/forms/query-field.tsx";
import { failureText, STATE_NAMES } from "../../ui/video-state.tsx";
import { withSort } from "./columns.ts";
import css from "./filters.module.css";

const ANY = "any";

export function StateFilter({ environmentId, view }: { environmentId: string; view: VideoListView }) {
  const { data: counts, isPending } = useQuery(videoCountsQuery(environmentId));
  const { state: current, ...rest } = view;
  const link = (state: VideoState | undefined) => (
    <li key={state ?? "all"}>
      <Link
        className={css.filter}
        to="/environments/$environmentId/videos"
        params={{ environmentId }}
        search={{ ...rest, ...(state && { state }) }}
        activeOptions={{ exact: true, includeSearch: true }}
        aria-current={state === current ? "page" : undefined}
      >
        {state === undefined ? texts.all : STATE_NAMES[state]}{" "}
        <span className={css.count}>{hasFilter(rest) ? "" : countText(counts, state)}</span>
      </Link>
    </li>
  );
  return (
    <nav aria-label={texts.filterVideos}>
      {/* Hidden until the counts are loaded, because they move the names. */}
      <ul className={css.filters} data-loading={isPending || undefined}>
        {[undefined, ...VIDEO_STATES].map(link)}
      </ul>
    </nav>
  );
}

export function hasFilter({ sort: _, order: __, ...filter }: VideoListView): boolean {
  return Object.keys(filter).length > 0;
}

/** Returns e.g. `12` or `10,000+`, or an empty text for zero and until the counts are loaded. */
function countText(counts: VideoCountsView | undefined, state: VideoState | undefined): string {
  if (!counts) return "";
  const counted = state === undefined ? Object.values(counts) : [counts[state]];
  const sum = counted.reduce((total, count) => total + count, 0);
  if (sum === 0) return "";
  return `${formatNumber(sum)}${counted.includes(MAX_COUNTED_VIDEOS) ? "+" : ""}`;
}

export function NameFilter({ view, onChange }: { view: VideoListView; onChange(view: VideoListView): void }) {
  const { q = "", ...rest } = view;
  return (
    <QueryField
      className={css.field}
      texts={{ label: texts.findVideos, placeholder: texts.findPlaceholder }}
      query={q}
      onChange={(next) => onChange({ ...rest, ...(next && { q: next }) })}
      maxLength={200}
    />
  );
}

export function MoreFilters({
  environmentId,
  view,
  onChange,
}: {
  environmentId: string;
  view: VideoListView;
  onChange(view: VideoListView): void;
}) {
  const { data = { languages: [], failures: [] } } = useQuery(videoFiltersQuery(environmentId));
  const { language, failure, from, to, sort = "uploaded", order = "desc" } = view;
  const set = (key: "language" | "failure" | "from" | "to", value: string) => {
    const { [key]: _, ...rest } = view;
    onChange({ ...rest, ...(value !== "" && value !== ANY && { [key]: value }) });
  };
  const count = [language, failure, from, to].filter((value) => value !== undefined).length;
  const [isOpen, setOpen] = useState(count > 0);
  return (
    <details className={css.more} open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        {texts.filtersAndSorting}
        {count > 0 && <span className={css.count}> {count}</span>}
      </summary>
      <div className={css.fields}>
        <Select
          label={texts.language}
          options={optionsOf(data.languages, language, texts.allLanguages, languageName)}
          value={language ?? ANY}
          onChange={(value) => set("language", value)}
        />
        <Select
          label={texts.failure}
          options={optionsOf(data.failures, failure, texts.anyFailure, failureName)}
          value={failure ?? ANY}
          onChange={(value) => set("failure", value)}
        />
        <Day label={texts.uploadedFrom} value={from} onChange={(value) => set("from", value)} />
        <Day label={texts.uploadedUntil} value={to} onChange={(value) => set("to", value)} />
        <Select
          label={texts.sortBy}
          options={texts.orders}
          value={`${sort} ${order}`}
          onChange={(value) => {
            const [name, direction] = value.split(" ");
            const newSort = VIDEO_SORTS.find((each) => each === name)!;
            onChange(withSort(view, newSort, SORT_DIRECTIONS.find((each) => each === direction)!));
          }}
        />
      </div>
    </details>
  );
}

/** Includes the selected value even if it no longer occurs. */
function optionsOf(
  values: readonly string[],
  selected: string | undefined,
  any: string,
  nameOf: (value: string) => string,
): Record<string, string> {
  const all = new Set([...values, ...(selected === undefined ? [] : [selected])]);
  return { [ANY]: any, ...Object.fromEntries([...all].map((value) => [value, nameOf(value)])) };
}

function failureName(code: string): string {
  return failureText({ code, message: code }).problem;
}

/** While the year is typed, browsers report years such as 0002. The filter changes only when the date is complete. */
function Day({
  label,
  value = "",
  onChange,
}: {
  label: string;
  value: string | undefined;
  onChange(value: string): void;
}) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const change = (next: string) => {
    setText(next);
    if (next === "" || isDay(next)) onChange(next);
  };
  return (
    <label className={controls.field}>
      <span className={controls.label}>{label}</span>
      <input
        className={css.day}
        type="date"
        value={text}
        max="2999-12-31"
        onChange={(event) => change(event.target.value)}
        // A date that was left incomplete filters nothing.
        onBlur={() => setText(value)}
      />
    </label>
  );
}

/** Returns a function that shows another view of the list in place of the current one. */
export function useChangeView(): (view: VideoListView) => void {
  const navigate = useNavigate({ from: "/environments/$environmentId/videos" });
  return (view) => void navigate({ search: view, replace: true });
}
