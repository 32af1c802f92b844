/** Queries that exceed these limits are rejected. */
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
  /** Number of matching passages in the video. */
  matchCount: number;
  /** The best matching passages, in chronological order. */
  passages: SearchPassageView[];
}

/** The reason why no search ran. */
export type SearchHint = "no_words" | "only_excluded" | "only_common_words";

export interface SearchPageView {
  /** Best match first. */
  data: SearchVideoView[];
  /** Cursor of the next page; null on the last. */
  nextCursor: string | null;
  /** Total over all pages. */
  videoCount: number;
  matchCount: number;
  /** True if more passages match than could be ranked or searched in time; the counts then cover the newest. */
  isTruncated: boolean;
  hint: SearchHint | null;
  /** The languages of the environment's transcripts. */
  languages: string[];
}
