/** Queries that exceed these limits are rejected. */
export const SEARCH_LIMITS = { characters: 300, words: 24 } as const;

/** A sentence or a part of one. */
export interface SearchPassageView {
  /** Position in the video. */
  startSeconds: number;
  endSeconds: number;
  text: string;
  /** Matches as `[start, end]` offsets in UTF-16 code units, in order and without overlaps. */
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

/** Why a query was not searched. */
export type SearchHint = "no_words" | "only_excluded" | "only_common_words";

export interface SearchPageView {
  /** Best match first. */
  data: SearchVideoView[];
  nextCursor: string | null;
  /** Total over all pages. */
  videoCount: number;
  matchCount: number;
  /** True if there are too many matches to rank, or finding them took too long. The counts then cover only the newest. */
  isTruncated: boolean;
  hint: SearchHint | null;
  /** The languages of the environment's transcripts. */
  languages: string[];
}
