import { plural } from "../numbers.ts";
import { translated } from "../translated.ts";

export const search = translated("search", {
  title: "Search",
  description: (environment: string) => `Search spoken words in ${environment}.`,
  label: "Search all transcripts",
  placeholder: 'Search words or an "exact phrase"',
  language: "Language",
  allLanguages: "All languages",
  videos: "Videos",
  findAndPlay: "Find spoken words and play from there",
  tryOtherWords: "Try other words",
  noResults: (query: string) => `No results for “${query}”`,
  noNewResults: (query: string) => `No results for “${query}” in the newest transcripts`,
  found: (matches: number, videos: number) =>
    `${plural(matches, "match", "matches")} in ${plural(videos, "video", "videos")}`,
  foundNewest: (matches: number, videos: number) =>
    `The newest ${plural(matches, "match", "matches")} in ${plural(videos, "video", "videos")}. There are more: add a word to narrow the search.`,
  topShown: (matches: number, shown: number) => `${plural(matches, "match", "matches")}, top ${shown} shown`,
  hints: {
    no_words: "Search for letters or numbers.",
    only_excluded: "Add at least one word to search for.",
    only_common_words: "These words are too common. Add a more specific one.",
  },
  tips: [
    {
      example: "annual budget",
      meaning: "both words in one sentence, including variants (budgets, budgeted)",
    },
    { example: "“annual budget”", meaning: "exact phrase" },
    { example: "budget OR forecast", meaning: "either word" },
    { example: "budget -draft", meaning: "exclude a word" },
  ],
});
