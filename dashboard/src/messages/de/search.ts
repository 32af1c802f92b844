import type { search as english } from "../en/search.ts";
import { plural } from "../numbers.ts";

const matches = (count: number) => plural(count, "Treffer", "Treffer");
const videos = (count: number) => plural(count, "Video", "Videos");

export const search: typeof english = {
  title: "Suche",
  description: (environment) => `Gesprochene Wörter in ${environment} suchen.`,
  label: "Alle Transkripte durchsuchen",
  placeholder: 'Wörter oder eine "genaue Wortfolge" suchen',
  language: "Sprache",
  allLanguages: "Alle Sprachen",
  videos: "Videos",
  findAndPlay: "Gesprochene Wörter finden und ab dort abspielen",
  tryOtherWords: "Versuchen Sie andere Wörter",
  noResults: (query) => `Keine Ergebnisse für „${query}“`,
  noNewResults: (query) => `Keine Ergebnisse für „${query}“ in den neuesten Transkripten`,
  found: (matchCount, videoCount) => `${matches(matchCount)} in ${videos(videoCount)}`,
  foundNewest: (matchCount, videoCount) =>
    `Die neuesten ${matches(matchCount)} in ${videos(videoCount)}. Es gibt weitere: Ergänzen Sie ein Wort, um die Suche einzugrenzen.`,
  topShown: (matchCount, shown) => `${matches(matchCount)}, die besten ${shown} werden angezeigt`,
  hints: {
    no_words: "Suchen Sie nach Buchstaben oder Zahlen.",
    only_excluded: "Ergänzen Sie mindestens ein Wort, nach dem gesucht werden soll.",
    only_common_words: "Diese Wörter sind zu häufig. Ergänzen Sie ein spezifischeres.",
  },
  tips: [
    {
      example: "jährliches Budget",
      meaning: "beide Wörter in einem Satz, auch in anderen Formen (jährlichen, Budgets)",
    },
    { example: "„jährliches Budget“", meaning: "genaue Wortfolge" },
    { example: "Budget OR Prognose", meaning: "eines der beiden Wörter" },
    { example: "Budget -Entwurf", meaning: "ein Wort ausschließen" },
  ],
};
