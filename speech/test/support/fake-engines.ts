import type {
  Engine,
  LanguageProbabilities,
  RecognitionResult,
  RecognizeOptions,
} from "../../src/engines/engine.ts";
import { SAMPLE_RATE } from "../../src/media/audio.ts";
import type { Channel, TimedWord } from "../../src/transcript.ts";
import type { Utterance } from "../../src/vad/utterances.ts";
import { packUtterances, type UtteranceGroup } from "../../src/vad/utterances.ts";
import { type ScoredAudio, WINDOW_SAMPLES } from "../../src/vad/voice-activity.ts";

/**
 * Fake engines and fake speech for behavior that tests cannot produce with real models. Each sample's value encodes a
 * language; every half second is one word, named after its start time. If the given language differs from the spoken
 * one, the multilingual engine translates, as Whisper does.
 */

const LANGUAGES = ["en", "es", "pt", "fr", "cy", "noise"] as const;
export type FakeLanguage = (typeof LANGUAGES)[number];
const WORD_SECONDS = 0.5;

/** Seconds of a language; null for silence. */
export type FakeSpeech = [language: FakeLanguage | null, seconds: number];

/** Returns the utterances of fake speech, as `packUtterances` returns them, in groups of about four minutes. */
export async function fakeRecording(
  parts: readonly FakeSpeech[],
  maxUtteranceSeconds = 20,
): Promise<UtteranceGroup[]> {
  const blocks = async function* (): AsyncGenerator<ScoredAudio> {
    for (const [language, seconds] of parts) {
      const windows = Math.round((seconds * SAMPLE_RATE) / WINDOW_SAMPLES);
      yield {
        samples: new Float32Array(windows * WINDOW_SAMPLES).fill(
          language === null ? 0 : LANGUAGES.indexOf(language) + 1,
        ),
        probabilities: new Float32Array(windows).fill(language === null ? 0 : 1),
      };
    }
  };
  const groups: UtteranceGroup[] = [{ utterances: [], settledSeconds: 0 }];
  for await (const group of packUtterances(blocks(), maxUtteranceSeconds)) {
    const last = groups.at(-1)!;
    if (last.utterances.length > 0 && group.settledSeconds - last.utterances[0]!.start > 240)
      groups.push(group);
    else {
      last.utterances.push(...group.utterances);
      last.settledSeconds = group.settledSeconds;
    }
  }
  return groups;
}

/** The utterances of two channels of fake speech, as `decodeUtterances` returns them. */
export async function fakeCall(
  first: readonly FakeSpeech[],
  second: readonly FakeSpeech[],
): Promise<UtteranceGroup[]> {
  const channels = [await fakeRecording(first), await fakeRecording(second)];
  const count = Math.max(...channels.map(({ length }) => length));
  return Array.from({ length: count }, (_, index) => ({
    utterances: channels
      .flatMap((groups, channel) =>
        (groups[index]?.utterances ?? []).map((utterance) => ({
          ...utterance,
          channel: (channel + 1) as Channel,
        })),
      )
      .sort((a, b) => a.start - b.start),
    settledSeconds: Math.min(...channels.map((groups) => (groups[index] ?? groups.at(-1)!).settledSeconds)),
  }));
}

/** Returns the recording's words in a language. */
export function fakeWords(groups: readonly UtteranceGroup[], language: FakeLanguage): string[] {
  return groups
    .flatMap(({ utterances }) => utterances)
    .flatMap((utterance) => wordsIn(utterance))
    .filter((word) => word.language === language)
    .map(({ word }) => word);
}

interface FakeWord extends TimedWord {
  language: FakeLanguage;
}

function wordsIn({ samples, start }: Utterance): FakeWord[] {
  const words: FakeWord[] = [];
  const first = Math.ceil((start - 1e-6) / WORD_SECONDS);
  for (let index = first; ; index++) {
    const at = Math.round((index * WORD_SECONDS - start) * SAMPLE_RATE);
    const value = samples[at];
    if (value === undefined) return words;
    const language = LANGUAGES[value - 1];
    if (language === undefined) continue;
    const from = index * WORD_SECONDS;
    words.push({ word: `${language}-${from}`, start: from, end: from + 0.4, confidence: 0.95, language });
  }
}

interface FakeCall {
  seconds: number;
  language: string | null;
}

export interface FakeEngineOptions {
  name?: string;
  /** Whether the engine detects languages before recognition or only reports them with its results. */
  detects?: "before" | "by result";
  /** Changes the detected languages. */
  detected?: (honest: LanguageProbabilities, utterance: Utterance) => LanguageProbabilities;
  /** Changes the recognition result. */
  alter?: (honest: RecognitionResult, utterance: Utterance) => RecognitionResult;
}

/** Records the calls to a fake engine. */
export interface FakeEngine extends Engine {
  calls: FakeCall[];
  detectedSeconds: number[];
}

/** Transcribes in the given language, or else in the most spoken one. */
export function fakeMultilingual(options: FakeEngineOptions = {}): FakeEngine {
  const engine: FakeEngine = {
    name: options.name ?? "fake-multilingual",
    languages: ["en", "es", "pt", "fr", "cy"],
    maxUtteranceSeconds: 30,
    calls: [],
    detectedSeconds: [],
    recognize: async (utterances, { signal, languages }) => {
      signal.throwIfAborted();
      return utterances.map((utterance, index) => {
        const language = languages?.[index] ?? spokenMost(utterance);
        engine.calls.push({ seconds: utterance.samples.length / SAMPLE_RATE, language });
        const words = wordsIn(utterance)
          .filter((word) => word.language !== "noise")
          .map(({ language: spoken, ...word }) =>
            spoken === language ? word : { ...word, word: `translated-${word.word}` },
          );
        const result = fakeResult(words, { language });
        return options.alter?.(result, utterance) ?? result;
      });
    },
    close: async () => {},
  };
  if (options.detects === "by result") return engine;
  engine.detectLanguages = async (utterances, signal) => {
    signal.throwIfAborted();
    return utterances.map((utterance) => {
      engine.detectedSeconds.push(utterance.samples.length / SAMPLE_RATE);
      const honest = languagesIn(utterance);
      return options.detected?.(honest, utterance) ?? honest;
    });
  };
  return engine;
}

/** Recognizes English well; any other language becomes English with low confidence. */
export function fakeEnglishOnly(): FakeEngine {
  const engine: FakeEngine = {
    name: "fake-english",
    languages: ["en"],
    maxUtteranceSeconds: 30,
    calls: [],
    detectedSeconds: [],
    recognize: async (utterances, { signal }: RecognizeOptions) => {
      signal.throwIfAborted();
      return utterances.map((utterance) => {
        engine.calls.push({ seconds: utterance.samples.length / SAMPLE_RATE, language: null });
        const words = wordsIn(utterance).map(({ language, ...word }) => ({
          ...word,
          word: language === "en" ? word.word : `misheard-${word.word}`,
          confidence: language === "en" ? 0.9 : 0.3,
        }));
        return fakeResult(words, {
          meanLogProbability: words.some(({ confidence }) => confidence < 0.5) ? -1.2 : -0.1,
        });
      });
    },
    close: async () => {},
  };
  return engine;
}

function fakeResult(words: TimedWord[], evidence: Partial<RecognitionResult> = {}): RecognitionResult {
  return {
    words,
    language: null,
    meanLogProbability: -0.2,
    compressionRatio: 1.3,
    noSpeechProbability: 0.02,
    truncated: false,
    ...evidence,
  };
}

/** Each language's share of the speech, slightly smoothed. */
function languagesIn({ samples }: Utterance): LanguageProbabilities {
  const counts = new Map<string, number>();
  let all = 0;
  for (const value of samples) {
    const language = LANGUAGES[value - 1];
    if (language === undefined || language === "noise") continue;
    counts.set(language, (counts.get(language) ?? 0) + 1);
    all++;
  }
  return new Map(
    ["en", "es", "pt", "fr", "cy"].map((code) => [
      code,
      0.005 + (0.975 * (counts.get(code) ?? 0)) / Math.max(1, all),
    ]),
  );
}

function spokenMost(utterance: Utterance): string {
  return Array.from(languagesIn(utterance)).reduce((most, one) => (one[1] > most[1] ? one : most))[0];
}
