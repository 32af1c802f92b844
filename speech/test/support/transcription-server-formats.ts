import type { ToneWord } from "./tone-words.ts";

/** How transcription servers answer: each of the real ones in its own way. */

/** What a server was asked, as it understood it. */
export interface Question {
  path: string;
  authorization: string | undefined;
  model: string | null;
  language: string | null;
  granularities: string[];
  fields: string[];
  audioBytes: number;
}

export interface RecognizedSpeech {
  words: ToneWord[];
  seconds: number;
  language: "english" | "spanish" | "japanese";
}

const CODES = { english: "en", spanish: "es", japanese: "ja" } as const;

/** How a server answers; a string is the message of a 400. */
export type Manner = (heard: RecognizedSpeech, question: Question) => unknown;

const plain = (word: string) => word.replace(/^[¿]|[,:!?.。]+$/gu, "");
const spoken = ({ words, language }: RecognizedSpeech) =>
  words.map(({ word }) => word).join(language === "japanese" ? "" : " ");
const certain = { temperature: 0, avg_logprob: -0.2, compression_ratio: 1.1, no_speech_prob: 0.01 };

function segmentOf(heard: RecognizedSpeech) {
  const { words, seconds } = heard;
  return {
    id: 0,
    seek: 0,
    start: words[0]?.start ?? 0,
    end: words.at(-1)?.end ?? seconds,
    text: ` ${spoken(heard)}`,
    tokens: [],
    ...certain,
  };
}

/** Without punctuation; what is joined by a hyphen is two words. */
function bareWords({ word, start, end }: ToneWord): ToneWord[] {
  const parts = plain(word).split("-");
  const step = (end - start) / parts.length;
  return parts.map((part, at) => ({ word: part, start: start + at * step, end: start + (at + 1) * step }));
}

/** OpenAI, whisper-1: words bare of punctuation, the language by its name. */
export const openAi: Manner = (heard, { granularities, language }) => {
  if (language === "auto")
    return "Invalid language 'auto'. Language parameter must be specified in ISO-639-1.";
  return {
    task: "transcribe",
    language: heard.language,
    duration: heard.seconds,
    text: spoken(heard),
    ...(granularities.includes("word") && { words: heard.words.flatMap(bareWords) }),
    ...(granularities.includes("segment") && { segments: [segmentOf(heard)] }),
  };
};

/** speaches (faster-whisper): words as they are written, the language by its code. */
export const speaches: Manner = (heard) => ({
  task: "transcribe",
  language: CODES[heard.language],
  duration: heard.seconds,
  text: spoken(heard),
  words: heard.words.map(({ word, start, end }) => ({
    word: heard.language === "japanese" ? word : ` ${word}`,
    start,
    end,
    probability: 0.8,
  })),
  segments: [segmentOf(heard)],
});

/** whisper.cpp's server: takes all for English unless asked; pieces of words, in segments of few letters. */
export const whisperCpp: Manner = (heard, question) => {
  const understood = question.language ?? "en";
  const isTranslated = understood === "en" && heard.language !== "english";
  const pieces = heard.words.flatMap(({ word, start, end }, index) => {
    const text = isTranslated ? "translated" : word;
    // As its tokens are: the rest of a word, and its punctuation, are pieces without a space.
    const parts = text.match(/^¿|\p{L}{1,3}|[\p{N}.]+|./gu) ?? [];
    const step = (end - start) / parts.length;
    return parts.map((part, at) => ({
      // A character that two tokens share can not be shown by either.
      word: (at === 0 && heard.language !== "japanese" ? " " : "") + (part === "天気" ? "天\ufffd" : part),
      text: (at === 0 && heard.language !== "japanese" ? " " : "") + part,
      start: start + at * step,
      end: start + (at + 1) * step,
      probability: 0.9,
      t_dtw: -1,
      index,
    }));
  });
  const segments = [];
  // It begins a new segment after so many letters, in the middle of a word if need be.
  for (let at = 0; at < pieces.length; at += 5) {
    const own = pieces.slice(at, at + 5);
    segments.push({
      id: segments.length,
      text: own.map(({ text }) => text).join(""),
      start: own[0]!.start,
      end: own.at(-1)!.end,
      tokens: [],
      words: own.map(({ word, start, end, probability, t_dtw }) => ({
        word,
        start,
        end,
        probability,
        t_dtw,
      })),
      temperature: 0,
      avg_logprob: -0.2,
      no_speech_prob: 0.01,
    });
  }
  return {
    task: "transcribe",
    language: understood === "auto" ? heard.language : understood === "en" ? "english" : understood,
    duration: heard.seconds,
    text: segments.map(({ text }) => `${text}\n`).join(""),
    segments,
    detected_language: heard.language,
    detected_language_probability: 0.98,
    language_probabilities: {},
  };
};

/** vLLM: segments only, numbers that it does not know as null, the duration as a string. */
export const vllm: Manner = (heard) => ({
  duration: String(heard.seconds),
  language: CODES[heard.language],
  text: ` ${spoken(heard)}`,
  segments:
    heard.words.length === 0 ? [] : [{ ...segmentOf(heard), no_speech_prob: null, compression_ratio: null }],
  words: null,
});

/** LocalAI: times in nanoseconds, no language. */
export const localAi: Manner = (heard) => {
  const { start, end } = segmentOf(heard);
  return {
    segments: [{ id: 0, start: start * 1e9, end: end * 1e9, text: spoken(heard), tokens: null }],
    text: spoken(heard),
  };
};

/** Groq as it was in its beginnings: refuses to be asked for words. */
export const withoutWords: Manner = (heard, question) =>
  question.granularities.length > 0
    ? "`timestamp_granularities[]` not supported by this model"
    : vllm(heard, question);
