import {
  SORT_DIRECTIONS,
  type SortDirection,
  VIDEO_SORTS,
  VIDEO_STATES,
  type VideoSort,
  type VideoState,
} from "@subtext/server/db/enums";

/** The video list's filters and order, as in the URL. Dates are days in the user's time zone, such as 2026-11-24. */
export interface VideoListView {
  q?: string;
  state?: VideoState;
  language?: string;
  failure?: string;
  /** First and last day on which uploads began. */
  from?: string;
  to?: string;
  /** By default `uploaded`. */
  sort?: VideoSort;
  /** By default `desc`. */
  order?: SortDirection;
}

/** Must not exceed the server's limit. */
const MAX_TEXT_LENGTH = 200;

/** Ignores invalid search parameters. The router has already parsed values such as `2026` and `true` as JSON. */
export function parseVideoListView(params: Record<string, unknown>): VideoListView {
  const { q, language, failure, from, to } = params;
  const text = ["string", "number", "boolean"].includes(typeof q) ? String(q).slice(0, MAX_TEXT_LENGTH) : "";
  const state = VIDEO_STATES.find((value) => value === params.state);
  const sort = VIDEO_SORTS.find((value) => value === params.sort);
  const order = SORT_DIRECTIONS.find((value) => value === params.order);
  return {
    ...(text.trim() !== "" && { q: text }),
    ...(state && { state }),
    ...(typeof language === "string" && /^[A-Za-z-]{2,20}$/.test(language) && { language }),
    ...(typeof failure === "string" && /^[a-z_]{1,64}$/.test(failure) && { failure }),
    ...(isDay(from) && { from }),
    ...(isDay(to) && { to }),
    ...(sort && { sort }),
    ...(order && { order }),
  };
}

export function toListQuery({ q, state, language, failure, from, to, sort, order }: VideoListView) {
  return {
    text: q?.trim(),
    state,
    language,
    failure,
    from: from && startOfDay(from).toISOString(),
    until: to && startOfDay(to, 1).toISOString(),
    sort,
    order,
  };
}

/** Whether the list is newest first without a filter other than the state, so that the position of any video is known. */
export function isNewestFirst({
  state: _,
  order = "desc",
  sort = "uploaded",
  ...filter
}: VideoListView): boolean {
  return sort === "uploaded" && order === "desc" && Object.keys(filter).length === 0;
}

/** Returns whether the text is a date such as 2026-11-24, in the years from 1000 to 2999. */
export function isDay(text: unknown): text is string {
  return (
    typeof text === "string" &&
    /^[12]\d{3}-\d\d-\d\d$/.test(text) &&
    !Number.isNaN(startOfDay(text).getTime())
  );
}

function startOfDay(day: string, daysLater = 0): Date {
  const date = new Date(`${day}T00:00`);
  date.setDate(date.getDate() + daysLater);
  return date;
}
