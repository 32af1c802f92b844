import type { ToneWord } from "./tone-words.ts";

/** The response formats of real transcription servers. */

/** A request as the server parsed it. */
export interface TranscriptionRequest {
  path: string;
  authorization: string | undefined;
  model: string | null;
  language: string | null;
  responseFormat: string | null;
  prompt: string | null;
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

/** Returns a server's response: an object for JSON, a buffer for plain text, or a string for the message of a 400. */
export type Responder = (speech: RecognizedSpeech, request: TranscriptionRequest) => unknown;

const plain = (word: string) => word.replace(/^[¿]|[,:!?.。]+$/gu, "");
const spoken = ({ words, language }: RecognizedSpeech) =>
  words.map(({ word }) => word).join(language === "japanese" ? "" : " ");
const certain = { temperature: 0, avg_logprob: -0.2, compression_ratio: 1.1, no_speech_prob: 0.01 };

function segmentOf(speech: RecognizedSpeech) {
  const { words, seconds } = speech;
  return {
    id: 0,
    seek: 0,
    start: words[0]?.start ?? 0,
    end: words.at(-1)?.end ?? seconds,
    text: ` ${spoken(speech)}`,
    tokens: [],
    ...certain,
  };
}

/** Without punctuation; hyphenated words are split. */
function bareWords({ word, start, end }: ToneWord): ToneWord[] {
  const parts = plain(word).split("-");
  const step = (end - start) / parts.length;
  return parts.map((part, at) => ({ word: part, start: start + at * step, end: start + (at + 1) * step }));
}

/** OpenAI, whisper-1: words without punctuation, the language by name. */
export const openAi: Responder = (speech, { granularities, language }) => {
  if (language === "auto")
    return "Invalid language 'auto'. Language parameter must be specified in ISO-639-1.";
  return {
    task: "transcribe",
    language: speech.language,
    duration: speech.seconds,
    text: spoken(speech),
    ...(granularities.includes("word") && { words: speech.words.flatMap(bareWords) }),
    ...(granularities.includes("segment") && { segments: [segmentOf(speech)] }),
  };
};

/** speaches (faster-whisper): words with punctuation, the language by code. */
export const speaches: Responder = (speech) => ({
  task: "transcribe",
  language: CODES[speech.language],
  duration: speech.seconds,
  text: spoken(speech),
  words: speech.words.map(({ word, start, end }) => ({
    word: speech.language === "japanese" ? word : ` ${word}`,
    start,
    end,
    probability: 0.8,
  })),
  segments: [segmentOf(speech)],
});

/** whisper.cpp's server: assumes English by default; returns parts of words in short segments. */
export const whisperCpp: Responder = (speech, request) => {
  const understood = request.language ?? "en";
  const isTranslated = understood === "en" && speech.language !== "english";
  const pieces = speech.words.flatMap(({ word, start, end }, index) => {
    const text = isTranslated ? "translated" : word;
    // As in its tokens, only the first part of a word has a leading space.
    const parts = text.match(/^¿|\p{L}{1,3}|[\p{N}.]+|./gu) ?? [];
    const step = (end - start) / parts.length;
    return parts.map((part, at) => ({
      // A character that is split between two tokens becomes U+FFFD.
      word: (at === 0 && speech.language !== "japanese" ? " " : "") + (part === "天気" ? "天\ufffd" : part),
      text: (at === 0 && speech.language !== "japanese" ? " " : "") + part,
      start: start + at * step,
      end: start + (at + 1) * step,
      probability: 0.9,
      t_dtw: -1,
      index,
    }));
  });
  const segments = [];
  // It starts a new segment at a fixed length, even in the middle of a word.
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
    language: understood === "auto" ? speech.language : understood === "en" ? "english" : understood,
    duration: speech.seconds,
    text: segments.map(({ text }) => `${text}\n`).join(""),
    segments,
    detected_language: speech.language,
    detected_language_probability: 0.98,
    language_probabilities: {},
  };
};

/** vLLM: segments only, unknown numbers as null, the duration as a string. */
export const vllm: Responder = (speech) => ({
  duration: String(speech.seconds),
  language: CODES[speech.language],
  text: ` ${spoken(speech)}`,
  segments:
    speech.words.length === 0
      ? []
      : [{ ...segmentOf(speech), no_speech_prob: null, compression_ratio: null }],
  words: null,
});

/** LocalAI: times in nanoseconds, no language. */
export const localAi: Responder = (speech) => {
  const { start, end } = segmentOf(speech);
  return {
    segments: [{ id: 0, start: start * 1e9, end: end * 1e9, text: spoken(speech), tokens: null }],
    text: spoken(speech),
  };
};

/** Early Groq: rejects requests for word timestamps. */
export const withoutWords: Responder = (speech, request) =>
  request.granularities.length > 0
    ? "`timestamp_granularities[]` not supported by this model"
    : vllm(speech, request);

/** OpenAI, gpt-4o-transcribe: text only, and a message that names the parameter. */
export const gpt4oTranscribe: Responder = (speech, { responseFormat }) =>
  responseFormat === "json"
    ? { text: spoken(speech), usage: { type: "tokens", total_tokens: 40 } }
    : `response_format '${responseFormat}' is not compatible with model 'gpt-4o-transcribe-api-ev3'. Use 'json' instead.`;

/** vLLM with a model without timestamps. */
export const vllmWithoutTimestamps: Responder = (speech, { responseFormat }) =>
  responseFormat === "json"
    ? { text: spoken(speech), usage: { type: "duration", seconds: Math.ceil(speech.seconds) } }
    : `Currently do not support ${responseFormat} for Qwen/Qwen3-ASR-1.7B`;

/** A server that sends nothing but text. */
export const textOnly: Responder = (speech, { responseFormat }) =>
  responseFormat === "text" ? Buffer.from(`${spoken(speech)}\n`) : "response_format must be 'text'";
