import type { format as english } from "../en/format.ts";
import { plural } from "../numbers.ts";

export const format: typeof english = {
  justNow: "gerade eben",
  now: "jetzt",
  aFewSeconds: "einige Sekunden",
  about: (duration) => `etwa ${duration}`,
  seconds: (count) => `${count} s`,
  minutes: (count) => `${count} min`,
  hours: (count) => `${count} h`,
  days: (count) => plural(count, "Tag", "Tage"),
  noSpeech: "Keine Sprache",
  languageNotRecognized: "Sprache nicht erkannt",
};
