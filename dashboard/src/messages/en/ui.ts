import { translated } from "../translated.ts";

/** Texts of components and of errors that every page may show. */
export const ui = translated("ui", {
  loading: "Loading…",
  showMore: "Show more",
  notifications: "Notifications",
  close: "Close",
  none: "None",
  noResults: "No results",
  unknownProblem: "Something went wrong",
  pageFailed: (page: string) => `The page “${page}” could not be shown.`,
  tryAgain: "Try again",
  notFound: "Page not found",
  notFoundHint: "It may have been moved or deleted.",
  goToVideos: "Go to Videos",
  forbidden: "Your role doesn't include this page. Ask an owner for access.",
  environmentGone: "This environment no longer exists.",
  unreachable: "Can't reach the server. Check your connection and that Subtext is running.",
  nothingAtAddress: "There is nothing at this address.",
  unexpectedResponse: (status: number) => `Unexpected response (HTTP ${status}). Try again in a moment.`,
  copy: "Copy",
  copied: "Copied",
  copyWhat: (label: string) => `Copy: ${label}`,
  copiedWhat: (label: string) => `Copied: ${label}`,
  copyBlocked: "Your browser blocked copying. Select the text and copy it manually.",
  keyboardShortcuts: "Keyboard shortcuts",
  enableSingleKeys: "Enable single-key shortcuts",
});
