/** Longer queries and more words are refused. */
export const SEARCH_LIMITS = { characters: 300, words: 24 } as const;

/** A sentence or a part of one. */
export interface SearchPassageView {
  /** Seconds of the video. */
  startSeconds: number;
  endSeconds: number;
  text: string;
  /** Matches: `[start, end]` in UTF-16 units of the text, in order, not overlapping. */
  marks: [start: number, end: number][];
}

export interface SearchVideoView {
  videoId: string;
  filename: string | null;
  language: string | null;
  /** Seconds. */
  duration: number | null;
  createdAt: string;
  /** Number of matching passages. */
  matchCount: number;
  /** The best of them, in chronological order. */
  passages: SearchPassageView[];
}

/** Why nothing was searched. */
export type SearchHint = "no_words" | "only_excluded" | "only_common_words";

export interface SearchPageView {
  /** Best first. */
  data: SearchVideoView[];
  /** Cursor of the next page; null on the last. */
  nextCursor: string | null;
  /** The total of all pages. */
  videoCount: number;
  matchCount: number;
  /** More passages match than could be ranked or searched in time; the counts cover the newest. */
  isTruncated: boolean;
  hint: SearchHint | null;
  /** The languages of the environment's transcripts. */
  languages: string[];
}
