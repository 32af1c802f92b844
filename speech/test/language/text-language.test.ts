import { describe, expect, test } from "vitest";
import type { Engine, RecognitionResult } from "../../src/engines/engine.ts";
import { languageDetector } from "../../src/language/language-detector.ts";
import { textLanguage } from "../../src/language/text-language.ts";
import { MultilingualRecognizer } from "../../src/recognition/multilingual-recognizer.ts";
import type { SpokenUtterance } from "../../src/vad/utterances.ts";
import { CONFUSABLE_PROSE } from "../support/confusable-prose.ts";
import { PROSE, PROSE_SAMPLES } from "../support/prose.ts";

const RATE = 16_000;
const signal = new AbortController().signal;

describe("the language of a text", () => {
  test("is never another language", async () => {
    const wrong: string[] = [];
    for (const { long, name, numbers } of PROSE_SAMPLES) {
      for (const { language, text } of [long, name, numbers]) {
        const detected = await textLanguage(text);
        if (detected !== null && detected !== "und" && detected !== language)
          wrong.push(`${language} as ${detected}: ${text}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test("is identified in at least nine of ten languages if the text is long", async () => {
    const detected = await Promise.all(PROSE_SAMPLES.map(({ long }) => textLanguage(long.text)));
    const identified = PROSE_SAMPLES.filter(({ long }, index) => detected[index] === long.language);
    expect(identified.length).toBeGreaterThanOrEqual(0.9 * PROSE_SAMPLES.length);
  });

  test.each(CONFUSABLE_PROSE)(
    "is not a similar one: $name is reported as $language",
    async ({ language, text }) => {
      expect(await textLanguage(text)).toBe(language);
    },
  );

  test("is unknown if the text is short and its script has several languages", async () => {
    expect(await textLanguage("Buenos días.")).toBeNull();
  });

  test.each(["km", "my", "si"])("%s is identified by its script, even in a few words", async (language) => {
    const { text } = PROSE[language]!;
    expect(await textLanguage(text.slice(0, 8))).toBe(language);
  });
});

test("text in another language, or in an unknown one, is not requested again in the language of its neighbors", async () => {
  const [first = "", second = "", third = "", fourth = ""] = PROSE.en!.text.match(/.{50,60}(?= )/g)!;
  const start = (language: string) => PROSE[language]!.text.slice(0, 90);
  const texts = [first, start("km"), second, "Yes, I think so.", third, start("id"), fourth];
  const requests: (string | null)[] = [];
  const engine = new TextOnly(texts, requests);
  const recognizer = new MultilingualRecognizer(engine, null);
  const utterances = texts.map((_, index) => utteranceAt(10 * index));
  await recognizer.recognize(utterances, { signal, onSettled: () => {} });
  const recognized = await recognizer.finishUtterances({ signal, onSettled: () => {} });
  expect(recognized.language).toBe("en");
  expect(recognized.utterances.map(({ language }) => language)).toEqual([
    "en",
    "km",
    "en",
    "en",
    "en",
    "und",
    "en",
  ]);
  expect(requests).toEqual(texts.map(() => null));
});

test("every engine that reports no language has its text identified", async () => {
  const engine = new TextOnly([PROSE.fr!.text], []);
  const [probabilities] = await languageDetector(engine).detect([utteranceAt(0)], signal);
  expect([...probabilities!.keys()]).toEqual(["fr"]);
});

/** An engine that reports no language; each utterance has one text. */
class TextOnly implements Engine {
  readonly name = "text-only";
  readonly languages = ["en", "fr", "id", "km"];
  readonly maxUtteranceSeconds = 30;
  readonly #texts: readonly string[];
  readonly #requests: (string | null)[];

  constructor(texts: readonly string[], requests: (string | null)[]) {
    this.#texts = texts;
    this.#requests = requests;
  }

  async recognize(
    utterances: readonly { start: number }[],
    { languages }: { languages?: readonly (string | null)[] },
  ): Promise<RecognitionResult[]> {
    return utterances.map(({ start }, index) => {
      const language = languages?.[index] ?? null;
      this.#requests.push(language);
      const words = this.#texts[start / 10]!.split(" ");
      const seconds = 8 / words.length;
      return {
        words: words.map((word, at) => ({
          word,
          start: start + at * seconds,
          end: start + (at + 1) * seconds,
          confidence: 0.9,
        })),
        language,
        meanLogProbability: -0.2,
        compressionRatio: 1.2,
        noSpeechProbability: null,
        truncated: false,
      };
    });
  }

  async close() {}
}

function utteranceAt(start: number): SpokenUtterance {
  return {
    start,
    samples: new Float32Array(8 * RATE).fill(0.1),
    speech: [{ start, end: start + 8, probability: 0.95 }],
  };
}
