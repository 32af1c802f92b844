import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The folder of the model that truly listens: see `../tiny-whisper/README.md`. */
export const listeningModel = fileURLToPath(new URL("../tiny-whisper/model", import.meta.url));

/** A recording that `../fixtures/languages/make.ts` made for that model, of voices it was not trained on. */
export interface ListeningRecording {
  /** An MP4 file with AAC sound. */
  path: string;
  seconds: number;
  /** ISO codes of the languages spoken, in order; none where nobody speaks. */
  languages: string[];
  sentences: ListeningSentence[];
}

/** Times are seconds of the recording. */
export interface ListeningSentence {
  language: string;
  text: string;
  words: {
    word: string;
    start: number;
    end: number /** False if the voice reported no start. */;
    measured: boolean;
  }[];
}

export const LISTENING_RECORDINGS = [
  "spanish",
  "portuguese",
  "english",
  "french",
  "mixed",
  "nobody",
] as const;

export function listeningRecording(name: (typeof LISTENING_RECORDINGS)[number]): ListeningRecording {
  const file = (ending: string) =>
    fileURLToPath(new URL(`../fixtures/languages/${name}.${ending}`, import.meta.url));
  const { seconds, sentences } = JSON.parse(readFileSync(file("json"), "utf8")) as Omit<
    ListeningRecording,
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
