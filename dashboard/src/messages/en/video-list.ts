import type { ReactNode } from "react";
import { formatNumber, plural, pluralForm } from "../numbers.ts";
import { parts } from "../parts.ts";
import { translated } from "../translated.ts";

interface EarlyEnd {
  isDeletion: boolean;
  isCanceled: boolean;
  processed: number;
  matched: number;
}

export const videoList = translated("videoList", {
  title: "Videos",
  transcribedAutomatically: "New uploads are transcribed automatically.",
  transcriptionOff: (turnOn: (label: string) => ReactNode) =>
    parts`AI Transcription is off. New uploads won't be transcribed. ${turnOn("Turn on")}`,
  upload: "Upload videos",
  dropToUpload: (environment: string) => `Drop to upload to ${environment}`,
  filterVideos: "Filter videos",
  findVideos: "Find videos",
  findPlaceholder: "Name, ID or metadata",
  all: "All",
  filtersAndSorting: "Filters and sorting",
  language: "Language",
  allLanguages: "All languages",
  failure: "Failure",
  anyFailure: "All videos",
  uploadedFrom: "Uploaded on or after",
  uploadedUntil: "Uploaded on or before",
  sortBy: "Sort by",
  orders: {
    "uploaded desc": "Newest first",
    "uploaded asc": "Oldest first",
    "name asc": "Name, A to Z",
    "name desc": "Name, Z to A",
    "duration desc": "Longest first",
    "duration asc": "Shortest first",
    "words desc": "Most words",
    "words asc": "Fewest words",
  },
  columns: {
    name: "Name",
    state: "State",
    language: "Language",
    duration: "Duration",
    words: "Words",
    uploaded: "Uploaded",
  },
  wordUnit: (count: number) => pluralForm(count, "word", "words"),
  retrying: "Retrying.",
  noMatching: "No matching videos",
  clearFilters: "Clear filters",
  noneYet: "No videos yet",
  noneInState: {
    uploading: "No videos uploading",
    pending: "No pending videos",
    processing: "No videos processing",
    completed: "No completed videos",
    failed: "No failed videos",
    skipped: "No skipped videos",
    untranscribed: "No untranscribed videos",
  },
  howToUpload: "Drag and drop files here, or upload with the API.",
  outdated: "This list is out of date.",
  reload: "Reload",
  shortcuts: {
    next: "Next video",
    previous: "Previous video",
    firstOrLast: "First or last loaded video",
    open: "Open video",
    select: "Select video",
    selectRange: "Select a range",
    search: "Search all transcripts",
    help: "Show keyboard shortcuts",
  },
  keys: { home: "Home", end: "End", enter: "Enter", space: "Space" },
  select: (name: string) => `Select ${name}`,
  selectLoaded: "Select all loaded videos",
  selectedVideos: "Selected videos",
  selected: (count: number) => `${formatNumber(count)} selected`,
  allMatching: (count: number) =>
    count === 1 ? "1 matching video selected" : `All ${formatNumber(count)} matching videos selected`,
  selectAllMatching: (count: number) => `Select all ${formatNumber(count)} matching videos`,
  clearSelection: "Clear selection",
  retryFailed: "Retry failed videos",
  download: "Download",
  downloadTranscripts: "Download transcripts",
  deleteSelected: "Delete…",
  delete: "Delete",
  deleteTitle: (count: number) => `Delete ${plural(count, "video", "videos")}?`,
  deleteConsequence: (count: number): string =>
    count === 1
      ? "This permanently deletes the video with its transcript and captions."
      : "This permanently deletes the videos with their transcripts and captions.",
  unfinishedOperations: "Bulk actions in progress",
  deleting: (count: number) => `Deleting ${plural(count, "video", "videos")}`,
  retryingVideos: (count: number) => `Queuing ${plural(count, "video", "videos")} for retry`,
  queued: "Queued",
  processed: (count: number, matched: number) => `${formatNumber(count)} of ${formatNumber(matched)}`,
  cancel: "Cancel",
  cancelOperation: (title: string) => `Cancel: ${title}`,
  deleted: (count: number) => `Deleted ${plural(count, "video", "videos")}`,
  retried: (count: number) => `Queued ${plural(count, "video", "videos")} for retry`,
  endedEarly: ({ isDeletion, isCanceled, processed, matched }: EarlyEnd) =>
    `${isDeletion ? "Deletion" : "Retry"} ${isCanceled ? "canceled" : "failed"} after ${formatNumber(processed)} of ${plural(matched, "video", "videos")}`,
  failedVideos: (count: number) => `${formatNumber(count)} failed`,
  skippedVideos: (count: number) => `${formatNumber(count)} skipped`,
});
