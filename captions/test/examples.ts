import { normalizeWords, type Word } from "@subtext/captions/words";
import { speak } from "./speech.ts";

/** A short example for each kind of script, which the browser test renders. */
export const EXAMPLES: Record<string, { language: string; words: Word[] }> = {
  english: {
    language: "en",
    words: speak([
      "I am sitting in a room different from the one you are in now.",
      1,
      "Tom & Jerry's “R&D” isn't <3 for everyone.",
    ]),
  },
  arabic: {
    language: "ar",
    words: speak(
      ["وصل عدد المستخدمين إلى 2500 مستخدم في عام 2024، وهذا رقم كبير.", 1, "iPhone 15 هو هاتف جديد."],
      0.4,
    ),
  },
  hebrew: {
    language: "he",
    words: speak(["Windows 11 היא מערכת הפעלה של Microsoft.", 1, "יש לה 1,400 מיליון משתמשים (בערך)."], 0.45),
  },
  japanese: {
    language: "ja",
    words: normalizeWords(
      [
        {
          word: "昨日は友達と一緒に東京へ行きました。「とても楽しかった」と2023年に言いました。",
          start: 0,
          end: 7,
        },
      ],
      10,
    ),
  },
  hostile: {
    language: "en",
    words: speak(
      [
        "--> 00:00:01.000 --> 00:00:02.000",
        "<script>alert(1)</script> &lrm; &amp; <v Bob>",
        "WEBVTT",
        "NOTE x",
        "STYLE",
      ],
      0.4,
    ),
  },
  silence: { language: "zxx", words: [] },
};
