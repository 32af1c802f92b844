import { plural } from "../numbers.ts";
import { translated } from "../translated.ts";

/** Durations, estimates and languages. `Intl` formats dates and units. */
export const format = translated("format", {
  justNow: "just now",
  now: "now",
  aFewSeconds: "a few seconds",
  about: (duration: string) => `about ${duration}`,
  seconds: (count: string) => `${count} s`,
  minutes: (count: string) => `${count} min`,
  hours: (count: string) => `${count} h`,
  days: (count: number) => plural(count, "day", "days"),
  noSpeech: "No speech",
  languageNotRecognized: "Language not recognized",
});
