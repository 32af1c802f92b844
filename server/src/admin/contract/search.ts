/** Longer ones are refused, as are more words. */
export const SEARCH_LIMITS = { characters: 300, words: 24 } as const;

/** A sentence, or a part of a long one. */
export interface SearchPassageView {
  /** Seconds of the video. */
  startSeconds: number;
  endSeconds: number;
  text: string;
  /** What was looked for: `[start, end]` in UTF-16 units of the text, in order, apart from each other. */
  marks: [start: number, end: number][];
}

export interface SearchVideoView {
  videoId: string;
  filename: string | null;
  language: string | null;
  /** Seconds. */
  duration: number | null;
  createdAt: string;
  /** Passages of it that were found. */
  matchCount: number;
  /** The best of them, in the order of time. */
  passages: SearchPassageView[];
}

/** Why nothing was looked for. */
export type SearchHint = "no_words" | "only_excluded" | "only_common_words";

export interface SearchPageView {
  /** The best first. */
  data: SearchVideoView[];
  /** For the next page; null on the last. */
  nextCursor: string | null;
  /** Of all pages. */
  videoCount: number;
  matchCount: number;
  /** There is more than could be ranked, or looked through in time; the counts are of the newest. */
  isTruncated: boolean;
  hint: SearchHint | null;
  /** Of the environment's transcripts. */
  languages: string[];
}
