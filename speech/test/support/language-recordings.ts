import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The folder of a real, trained model: see `../tiny-whisper/README.md`. */
export const tinyWhisperModel = fileURLToPath(new URL("../tiny-whisper/model", import.meta.url));

/** A recording that `../fixtures/languages/make.ts` created with voices that the tiny Whisper model was not trained on. */
export interface LanguageRecording {
  /** An MP4 file with AAC audio. */
  path: string;
  seconds: number;
  /** ISO codes of the languages spoken, in order; empty without speech. */
  languages: string[];
  sentences: RecordedSentence[];
}

/** Times are in seconds from the start of the recording. */
export interface RecordedSentence {
  language: string;
  text: string;
  words: {
    word: string;
    start: number;
    end: number;
    /** False if the voice reported no start. */
    measured: boolean;
  }[];
}

export const LANGUAGE_RECORDINGS = ["spanish", "portuguese", "english", "french", "mixed", "nobody"] as const;

export function languageRecording(name: (typeof LANGUAGE_RECORDINGS)[number]): LanguageRecording {
  const file = (ending: string) =>
    fileURLToPath(new URL(`../fixtures/languages/${name}.${ending}`, import.meta.url));
  const { seconds, sentences } = JSON.parse(readFileSync(file("json"), "utf8")) as Omit<
    LanguageRecording,
    "path" | "languages"
  >;
  const spoken = sentences.map(({ language }) => language);
  return {
    path: file("mp4"),
    seconds,
    languages: spoken.filter((language, index) => language !== spoken[index - 1]),
    sentences,
  };
}
