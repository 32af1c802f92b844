import type {
  Engine,
  LanguageProbabilities,
  RecognitionResult,
  RecognizeOptions,
} from "../../src/engines/engine.ts";
import { SAMPLE_RATE } from "../../src/media/audio.ts";
import type { TimedWord } from "../../src/transcript.ts";
import type { Utterance } from "../../src/vad/utterances.ts";
import { packUtterances, type UtteranceGroup } from "../../src/vad/utterances.ts";
import { type ScoredAudio, WINDOW_SAMPLES } from "../../src/vad/voice-activity.ts";

/**
 * Fake engines for fake speech, for what no real model can be made to do at will: speech is a sample value
 * that stands for a language, and says one word every half second, which is named after its time. An engine
 * that is told another language than is spoken translates, as Whisper does.
 */

const LANGUAGES = ["en", "es", "pt", "fr", "cy", "noise"] as const;
export type FakeLanguage = (typeof LANGUAGES)[number];
const WORD_SECONDS = 0.5;

/** Seconds of a language, or of silence. */
export type FakeSpeech = [language: FakeLanguage | null, seconds: number];

/** The utterances of fake speech, as voice activity and the packer would give them. */
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
    // As many as four minutes bring.
    if (last.utterances.length > 0 && group.settledSeconds - last.utterances[0]!.start > 240)
      groups.push(group);
    else {
      last.utterances.push(...group.utterances);
      last.settledSeconds = group.settledSeconds;
    }
  }
  return groups;
}

/** The words that the recording says, by their language. */
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

interface FakeHearing {
  seconds: number;
  language: string | null;
}

export interface FakeEngineOptions {
  name?: string;
  /** Tells languages before it hears, only by hearing, or not at all. */
  tells?: "before" | "by result";
  /** Changes what is detected. */
  detected?: (honest: LanguageProbabilities, utterance: Utterance) => LanguageProbabilities;
  /** Changes what is heard. */
  heard?: (honest: RecognitionResult, utterance: Utterance) => RecognitionResult;
}

/** What a fake engine was asked for. */
export interface FakeEngine extends Engine {
  heard: FakeHearing[];
  detectedSeconds: number[];
}

/** Writes any language that it is told; where it is told none, the one spoken most. */
export function fakeMultilingual(options: FakeEngineOptions = {}): FakeEngine {
  const engine: FakeEngine = {
    name: options.name ?? "fake-multilingual",
    languages: ["en", "es", "pt", "fr", "cy"],
    maxUtteranceSeconds: 30,
    heard: [],
    detectedSeconds: [],
    recognize: async (utterances, { signal, languages }) => {
      signal.throwIfAborted();
      return utterances.map((utterance, index) => {
        const language = languages?.[index] ?? spokenMost(utterance);
        engine.heard.push({ seconds: utterance.samples.length / SAMPLE_RATE, language });
        const words = wordsIn(utterance)
          .filter((word) => word.language !== "noise")
          .map(({ language: spoken, ...word }) =>
            spoken === language ? word : { ...word, word: `translated-${word.word}` },
          );
        const result = fakeHearing(words, { language });
        return options.heard?.(result, utterance) ?? result;
      });
    },
    close: async () => {},
  };
  if (options.tells === "by result") return engine;
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

/** Hears English well, and makes unsure English of anything else. */
export function fakeEnglishOnly(): FakeEngine {
  const engine: FakeEngine = {
    name: "fake-english",
    languages: ["en"],
    maxUtteranceSeconds: 30,
    heard: [],
    detectedSeconds: [],
    recognize: async (utterances, { signal }: RecognizeOptions) => {
      signal.throwIfAborted();
      return utterances.map((utterance) => {
        engine.heard.push({ seconds: utterance.samples.length / SAMPLE_RATE, language: null });
        const words = wordsIn(utterance).map(({ language, ...word }) => ({
          ...word,
          word: language === "en" ? word.word : `misheard-${word.word}`,
          confidence: language === "en" ? 0.9 : 0.3,
        }));
        return fakeHearing(words, {
          meanLogProbability: words.some(({ confidence }) => confidence < 0.5) ? -1.2 : -0.1,
        });
      });
    },
    close: async () => {},
  };
  return engine;
}

function fakeHearing(words: TimedWord[], evidence: Partial<RecognitionResult> = {}): RecognitionResult {
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

/** By their share of the speech, a little blurred. */
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
