import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RecognizedSpeech } from "../../src/recognition/recognized-speech.ts";
import { createRecognizer, type Engines } from "../../src/recognition/recognizer.ts";
import {
  type FakeEngine,
  type FakeLanguage,
  type FakeSpeech,
  fakeCall,
  fakeEnglishOnly,
  fakeMultilingual,
  fakeRecording,
  fakeWords,
} from "../support/fake-engines.ts";

const REMEDY = "Install a multilingual model.";
const NOTHING: Engines = { bundled: null, multilingual: null, bundledTakesEnglish: false, remedy: REMEDY };

interface Recognition extends RecognizedSpeech {
  progress: number[];
  /** The words that the recording says, by their language. */
  said: (language: FakeLanguage) => string[];
}

async function recognize(parts: readonly FakeSpeech[], engines: Partial<Engines>): Promise<Recognition> {
  const recognizer = createRecognizer({ ...NOTHING, ...engines });
  const groups = await fakeRecording(parts);
  const progress: number[] = [];
  const options = {
    signal: new AbortController().signal,
    onSettled: (settled: number) => progress.push(settled),
  };
  for (const { utterances } of groups) await recognizer.recognize(utterances, options);
  const duration = parts.reduce((sum, [, seconds]) => sum + seconds, 0);
  return {
    ...(await recognizer.finish(duration, options)),
    progress,
    said: (language) => fakeWords(groups, language),
  };
}

const texts = ({ words }: RecognizedSpeech) => words.map(({ word }) => word);
const languages = ({ languageSegments }: RecognizedSpeech) =>
  languageSegments.map(({ language }) => language);

/** Sentences of some seconds with pauses between them. */
function talk(language: FakeLanguage, sentences: number, seconds = 6, pause = 0.6): FakeSpeech[] {
  return Array.from({ length: sentences }, (): FakeSpeech[] => [
    [language, seconds],
    [null, pause],
  ]).flat();
}

async function recognizeCall(
  first: readonly FakeSpeech[],
  second: readonly FakeSpeech[],
  engines: Partial<Engines>,
): Promise<RecognizedSpeech & { progress: number[] }> {
  const recognizer = createRecognizer({ ...NOTHING, ...engines }, true);
  const progress: number[] = [];
  const options = {
    signal: new AbortController().signal,
    onSettled: (settled: number) => progress.push(settled),
  };
  for (const { utterances } of await fakeCall(first, second)) await recognizer.recognize(utterances, options);
  return { ...(await recognizer.finish(1000, options)), progress };
}

describe("a call with a speaker on each channel", () => {
  const waits = (seconds: number): FakeSpeech => [null, seconds];

  test("has the words of both in the language of each, and the language with more speech", async () => {
    const english = [...talk("en", 3), waits(40), ...talk("en", 2)];
    const spanish = [waits(22), ...talk("es", 4)];
    for (const make of [
      () => ({ multilingual: fakeMultilingual() }),
      () => ({ multilingual: fakeMultilingual({ detects: "by result" }) }),
      () => ({ multilingual: fakeMultilingual(), bundled: fakeEnglishOnly(), bundledTakesEnglish: true }),
    ]) {
      const call = await recognizeCall(english, spanish, make());
      expectInOrder(call);
      const of = (channel: number) => call.words.filter((word) => word.channel === channel);
      expect(of(1).every(({ word }) => word.startsWith("en-"))).toBe(true);
      expect(of(2).every(({ word }) => word.startsWith("es-"))).toBe(true);
      const alone = async (parts: readonly FakeSpeech[]) => (await recognize(parts, make())).words.length;
      expect([of(1).length, of(2).length]).toEqual([await alone(english), await alone(spanish)]);
      expect(call.language).toBe("en");
      expect(languages(call)).toEqual(["en", "es", "en"]);
    }
  });

  test("has the words of both from the English engine, which classifies the recording as a whole", async () => {
    const call = await recognizeCall(talk("en", 4), [waits(30), ...talk("en", 2)], {
      bundled: fakeEnglishOnly(),
    });
    expect(call).toMatchObject({ language: "en" });
    expect(new Set(call.words.map(({ channel }) => channel))).toEqual(new Set([1, 2]));
    expectInOrder(call);
  });

  test("is settled as far as the mean of its channels", async () => {
    const { progress } = await recognizeCall(talk("en", 8), talk("en", 8), {
      multilingual: fakeMultilingual(),
    });
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
    expect(progress.length).toBeGreaterThan(1);
  });
});

function expectInOrder({ words, languageSegments }: RecognizedSpeech): void {
  for (const parts of [words, languageSegments]) {
    let free = 0;
    for (const { start, end } of parts) {
      expect(start).toBeGreaterThanOrEqual(free);
      expect(end).toBeGreaterThanOrEqual(start);
      free = end;
    }
  }
  let at = 0;
  for (const segment of languageSegments) {
    expect(segment.words).toBeGreaterThan(0);
    for (const { start, end } of words.slice(at, at + segment.words)) {
      expect(start).toBeGreaterThanOrEqual(segment.start);
      expect(end).toBeLessThanOrEqual(segment.end);
    }
    at += segment.words;
  }
  expect(at).toBe(words.length);
}

describe.each(["before", "by result"] as const)("an engine that detects the language %s", (detects) => {
  test("a recording in one language is written in it, each word once", async () => {
    const result = await recognize(talk("es", 30), { multilingual: fakeMultilingual({ detects }) });
    expect(result.language).toBe("es");
    expect(texts(result)).toEqual(result.said("es"));
    expect(result.languageSegments).toMatchObject([
      { language: "es", engine: "fake-multilingual", words: result.words.length },
    ]);
    expectInOrder(result);
  });

  test("three languages in turn are written segment by segment, none translated", async () => {
    const parts = [...talk("es", 5, 3), ...talk("en", 5, 3), ...talk("pt", 9, 3)];
    const result = await recognize(parts, { multilingual: fakeMultilingual({ detects }) });
    expect(texts(result).filter((word) => word.startsWith("translated"))).toEqual([]);
    expect(texts(result)).toEqual([...result.said("es"), ...result.said("en"), ...result.said("pt")]);
    expect(languages(result)).toEqual(["es", "en", "pt"]);
    expect(result.language).toBe("pt");
    expectInOrder(result);
  });

  test("a language that changes without a long pause, inside an utterance, changes at the pause", async () => {
    const parts = [...talk("es", 3, 5.5, 0.3), ...talk("en", 5, 5.5, 0.3), ...talk("es", 4, 5.5, 0.3)];
    const result = await recognize(parts, { multilingual: fakeMultilingual({ detects }) });
    expect(languages(result)).toEqual(["es", "en", "es"]);
    expect(texts(result).filter((word) => word.startsWith("translated"))).toEqual([]);
  });

  test("a recording in which nobody says anything has no language", async () => {
    const result = await recognize(talk("noise", 4), { multilingual: fakeMultilingual({ detects }) });
    expect(result).toMatchObject({ words: [], language: "zxx", languageSegments: [] });
    expect(result.speechSeconds).toBeGreaterThan(20);
  });

  test("a recording without utterances has no language", async () => {
    const result = await recognize([[null, 30]], { multilingual: fakeMultilingual({ detects }) });
    expect(result).toMatchObject({ words: [], language: "zxx", languageSegments: [], speechSeconds: 0 });
  });

  test("every word of any mixture is written once, in order, in its segment", async () => {
    const sentence = fc.tuple(
      fc.constantFrom<FakeLanguage>("en", "es", "pt", "noise"),
      fc.integer({ min: 1, max: 12 }),
      fc.constantFrom(0.3, 1, 3),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(sentence, { maxLength: 30 }), async (sentences) => {
        const parts = sentences.flatMap(([language, seconds, pause]): FakeSpeech[] => [
          [language, seconds],
          [null, pause],
        ]);
        const result = await recognize(parts, { multilingual: fakeMultilingual({ detects }) });
        expectInOrder(result);
        const starts = result.words.map(({ word }) => Number(word.split("-").at(-1)));
        const said = (["en", "es", "pt"] as const).flatMap((language) => result.said(language));
        expect(starts).toEqual(said.map((word) => Number(word.split("-").at(-1))).toSorted((a, b) => a - b));
        const reported = result.words.length === 0 ? ["zxx"] : ["und", ...languages(result)];
        expect(reported).toContain(result.language);
      }),
      { numRuns: 25 },
    );
  });
});

describe("doubtful languages", () => {
  test("one sentence that is detected wrongly is written in the language around it", async () => {
    let count = 0;
    const multilingual = fakeMultilingual({
      detected: (honest) =>
        ++count === 4
          ? new Map([
              ["cy", 0.8],
              ["en", 0.15],
            ])
          : honest,
    });
    const result = await recognize(talk("en", 12, 6, 2.5), { multilingual });
    expect(languages(result)).toEqual(["en"]);
    expect(texts(result)).toEqual(result.said("en"));
  });

  test("a sentence that an engine recognized in the wrong language is transcribed again in the right one", async () => {
    const parts = [...talk("en", 3, 6, 2.5), ...talk("cy", 1, 2, 2.5), ...talk("en", 3, 6, 2.5)];
    const multilingual = fakeMultilingual({ detects: "by result" });
    const result = await recognize(parts, { multilingual });
    expect(languages(result)).toEqual(["en"]);
    expect(multilingual.calls.filter(({ seconds }) => seconds < 4).map(({ language }) => language)).toEqual([
      "cy",
      "en",
    ]);
  });

  test("a dialect between two languages is not split again and again", async () => {
    const multilingual = fakeMultilingual({
      detected: () =>
        new Map([
          ["es", 0.6],
          ["pt", 0.35],
        ]),
    });
    await recognize(talk("es", 120, 6, 0.5), { multilingual });
    expect(multilingual.detectedSeconds.length).toBeLessThan(70);
  });

  test("no language is detected if the detector is unsure and few words are recognized", async () => {
    const multilingual = fakeMultilingual({
      detected: () =>
        new Map([
          ["es", 0.3],
          ["pt", 0.25],
          ["fr", 0.2],
        ]),
      alter: (honest) => ({ ...honest, words: honest.words.slice(0, 3) }),
    });
    const result = await recognize(talk("es", 10, 3.5, 2.5), { multilingual });
    expect(result.words.length).toBeGreaterThan(0);
    expect(result.language).toBe("es");
    const mumbled = await recognize([...talk("es", 10, 3.5, 2.5), ...talk("noise", 20)], { multilingual });
    expect(mumbled.language).toBe("und");
  });

  /** Recognizes the first utterances, then the others. */
  async function recognizeInTwo(parts: readonly FakeSpeech[], first: number, multilingual: FakeEngine) {
    const all = (await fakeRecording(parts)).flatMap(({ utterances }) => utterances);
    const recognizer = createRecognizer({ ...NOTHING, multilingual });
    const options = { signal: new AbortController().signal, onSettled: () => {} };
    await recognizer.recognize(all.slice(0, first), options);
    await recognizer.recognize(all.slice(first), options);
    return { all, result: await recognizer.finish(1_000, options) };
  }

  test("a sentence at the end of a group is determined by what follows in the next", async () => {
    const parts = [...talk("en", 4, 6, 2.5), ...talk("es", 6, 1.5, 2.5)];
    const { all, result } = await recognizeInTwo(parts, 5, fakeMultilingual());
    expect(result.languageSegments).toMatchObject([
      { language: "en" },
      { language: "es", start: all[4]!.speech[0]!.start },
    ]);
  });

  test("a doubtful sentence in the next group is determined by what was transcribed before", async () => {
    let count = 0;
    const doubtful = new Map([
      ["es", 0.5],
      ["en", 0.4],
    ]);
    const multilingual = fakeMultilingual({ detected: (honest) => (++count > 4 ? doubtful : honest) });
    const { result } = await recognizeInTwo(talk("en", 5, 6, 2.5), 4, multilingual);
    expect(languages(result)).toEqual(["en"]);
  });

  test("a change in the first utterance of a group is found although the model reports one language for it", async () => {
    const change: FakeSpeech[] = [
      ["es", 3],
      [null, 0.5],
      ["en", 9],
      [null, 2.5],
    ];
    const onlyMost = fakeMultilingual({
      detected: (honest) => {
        const most = Math.max(...honest.values());
        return new Map(Array.from(honest, ([language, share]) => [language, share === most ? 0.97 : 0.005]));
      },
    });
    const parts = [...talk("es", 4, 6, 2.5), ...change, ...talk("en", 2, 6, 2.5)];
    const { result } = await recognizeInTwo(parts, 4, onlyMost);
    expect(texts(result).filter((word) => word.startsWith("translated"))).toEqual([]);
  });

  test("of two languages with equal speech the first is reported", async () => {
    const parts = [...talk("pt", 4, 6, 3), ...talk("es", 4, 6, 3)];
    const result = await recognize(parts, { multilingual: fakeMultilingual() });
    expect(languages(result)).toEqual(["pt", "es"]);
    expect(result.language).toBe("pt");
  });
});

describe("the bundled engine beside one of many languages", () => {
  const both = () => {
    const bundled = fakeEnglishOnly();
    const multilingual = fakeMultilingual();
    return { bundled, multilingual, bundledTakesEnglish: true };
  };
  const seconds = ({ calls }: FakeEngine) => calls.reduce((sum, one) => sum + one.seconds, 0);

  test("English is transcribed by the bundled engine alone, with a few probes", async () => {
    const engines = both();
    const result = await recognize(talk("en", 100), engines);
    expect(texts(result)).toEqual(result.said("en"));
    expect(result.languageSegments).toMatchObject([{ language: "en", engine: "fake-english" }]);
    expect(result.languageSegments[0]!.probability).toBeGreaterThanOrEqual(0.9);
    expect(engines.multilingual.calls).toEqual([]);
    const probed = engines.multilingual.detectedSeconds.reduce((sum, one) => sum + one, 0);
    expect(probed).toBeLessThan(0.45 * result.speechSeconds);
  });

  test("another language is transcribed by the other engine alone", async () => {
    const engines = both();
    const result = await recognize(talk("es", 100), engines);
    expect(texts(result)).toEqual(result.said("es"));
    expect(result.languageSegments).toMatchObject([{ language: "es", engine: "fake-multilingual" }]);
    expect(engines.bundled.calls).toEqual([]);
  });

  test("Spanish in the middle of English goes to the other engine, and nothing is transcribed twice or lost", async () => {
    const engines = both();
    const parts = [...talk("en", 20), ...talk("es", 4), ...talk("en", 30)];
    const result = await recognize(parts, engines);
    expect(texts(result).filter((word) => /translated|misheard/.test(word))).toEqual([]);
    expect(texts(result).toSorted()).toEqual([...result.said("en"), ...result.said("es")].toSorted());
    expect(languages(result).filter((language) => language === "es")).toEqual(["es"]);
    expect(result.language).toBe("en");
    expect(seconds(engines.multilingual)).toBeLessThan(80);
    expectInOrder(result);
  });

  test("an utterance that it transcribes well although another language is spoken in a part of it is not its own", async () => {
    const both20: FakeSpeech[] = [
      ["en", 14.5],
      [null, 0.3],
      ["es", 4.8],
      [null, 2.5],
    ];
    const result = await recognize(
      [...talk("en", 6, 19.5, 2.5), ...both20, ...talk("es", 4, 19.5, 2.5)],
      both(),
    );
    expect(texts(result).filter((word) => /translated|misheard/.test(word))).toEqual([]);
    expect(result.languageSegments.map(({ engine, language }) => `${language} by ${engine}`)).toEqual([
      "en by fake-english",
      "en by fake-multilingual",
      "es by fake-multilingual",
    ]);
  });

  test("if it is less accurate, the other engine transcribes everything", async () => {
    const engines = { ...both(), bundledTakesEnglish: false };
    const result = await recognize(talk("en", 10), engines);
    expect(result.languageSegments).toMatchObject([{ engine: "fake-multilingual" }]);
    expect(engines.bundled.calls).toEqual([]);
  });

  test("beside an engine that detects languages only by transcribing, it transcribes nothing", async () => {
    const engines = { ...both(), multilingual: fakeMultilingual({ detects: "by result" }) };
    const result = await recognize(talk("en", 10), engines);
    expect(result.languageSegments).toMatchObject([{ engine: "fake-multilingual", language: "en" }]);
    expect(engines.bundled.calls).toEqual([]);
  });
});

describe("the bundled engine alone", () => {
  test("English is detected, with one segment", async () => {
    const result = await recognize(talk("en", 10), { bundled: fakeEnglishOnly() });
    expect(result).toMatchObject({
      language: "en",
      languageSegments: [{ language: "en", engine: "fake-english" }],
    });
    expect(texts(result)).toEqual(result.said("en"));
    expectInOrder(result);
  });

  test("another language is rejected with a remedy", async () => {
    await expect(recognize(talk("es", 6), { bundled: fakeEnglishOnly() })).rejects.toMatchObject({
      code: "language_unsupported",
      message: expect.stringContaining(REMEDY),
    });
  });

  /** Recognizes Spanish with this confidence, and other languages than English with less. */
  const surerOfSpanish = (spanish: number): FakeEngine => {
    const engine = fakeEnglishOnly();
    const { recognize } = engine;
    engine.recognize = async (utterances, options) =>
      (await recognize(utterances, options)).map((result) => ({
        ...result,
        words: result.words.map((word) =>
          word.word.startsWith("misheard-es") ? { ...word, confidence: spanish } : word,
        ),
      }));
    return engine;
  };

  test("clear speech of which nothing is recognized with confidence is undetermined, with a remedy", async () => {
    await expect(recognize(talk("es", 2, 2), { bundled: surerOfSpanish(0.55) })).rejects.toMatchObject({
      code: "language_undetermined",
      message: expect.stringContaining(REMEDY),
      retryable: false,
    });
  });

  test("two seconds of such speech are no failure, and have no words", async () => {
    const result = await recognize(talk("es", 1, 2), { bundled: surerOfSpanish(0.55) });
    expect(result).toMatchObject({ language: "und", words: [] });
  });

  test("a recording of an undetermined language has only the words that are English by themselves", async () => {
    const pause: FakeSpeech = [null, 2.5];
    const parts = [...talk("en", 3, 2), pause, ...talk("es", 3, 2), pause, ...talk("pt", 7, 2)];
    const result = await recognize(parts, { bundled: surerOfSpanish(0.62) });
    expect(result.language).toBe("und");
    expect(texts(result)).toEqual(result.said("en"));
  });

  test("the rest of a long recording in another language is not recognized", async () => {
    const bundled = fakeEnglishOnly();
    await expect(recognize(talk("es", 120), { bundled })).rejects.toMatchObject({
      code: "language_unsupported",
    });
    expect(bundled.calls.reduce((sum, { seconds }) => sum + seconds, 0)).toBeLessThan(300);
  });
});

test("a model of one language determines the language", async () => {
  const multilingual = fakeEnglishOnly();
  const result = await recognize(talk("en", 5), { multilingual, bundledTakesEnglish: true });
  expect(result).toMatchObject({ language: "en", languageSegments: [{ language: "en", probability: 1 }] });
});

describe("speech that an engine leaves out", () => {
  /** Stops at the first pause, as models do that mistake the end of a sentence for the end of the audio. */
  const untilPause = (detects: "before" | "by result") =>
    fakeMultilingual({
      detects,
      alter: (honest) => {
        const pause = honest.words.findIndex(
          ({ start }, index) => start - (honest.words[index - 1]?.end ?? start) > 0.7,
        );
        return pause === -1 ? honest : { ...honest, words: honest.words.slice(0, pause) };
      },
    });

  test.each(["before", "by result"] as const)(
    "is recognized in a second pass, and nothing twice (language detected %s)",
    async (detects) => {
      const multilingual = untilPause(detects);
      const result = await recognize(talk("es", 9, 3, 1.5), { multilingual });
      expect(texts(result)).toEqual(result.said("es"));
      expect(new Set(multilingual.calls.map(({ language }) => language))).toEqual(new Set(["es"]));
      expectInOrder(result);
    },
  );

  test("is not added if the rest is noise", async () => {
    const result = await recognize([...talk("es", 2, 3, 1), ["noise", 4]], {
      multilingual: untilPause("before"),
    });
    expect(texts(result)).toEqual(result.said("es"));
  });
});

test("text that a model hallucinates from noise is in no transcript", async () => {
  const multilingual = fakeMultilingual({
    alter: (honest, { start, samples }) =>
      honest.words.length > 0
        ? honest
        : {
            ...honest,
            noSpeechProbability: 0.4,
            words: [{ word: "Thanks.", start, end: start + samples.length / 16_000, confidence: 0.6 }],
          },
  });
  const result = await recognize([...talk("noise", 3, 9, 3), ...talk("es", 5), ...talk("noise", 3, 9, 3)], {
    multilingual,
  });
  expect(texts(result)).toEqual(result.said("es"));
});

test.each([
  ["the bundled engine", "bundled"],
  ["an engine of many languages", "multilingual"],
] as const)("a phrase that %s repeats faster than anyone speaks is published once", async (_, role) => {
  const engine = fakeMultilingual({
    ...(role === "bundled" && { detects: "by result" }),
    alter: (honest) => {
      const [first] = honest.words;
      if (first === undefined) return honest;
      const phrase = "please leave your message after the tone".split(" ");
      const looped = [...phrase, ...phrase, ...phrase, ...phrase.slice(0, 3)];
      const words = looped.map((word, index) => {
        const start = first.start + (3 * index) / looped.length;
        return { word, start, end: start + 3 / looped.length, confidence: 0.95 };
      });
      return { ...honest, words };
    },
  });
  const result = await recognize(talk("en", 1, 4), { [role]: engine });
  expect(texts(result).join(" ")).toBe("please leave your message after the tone");
});

test("progress rises batch by batch to the end of the speech", async () => {
  const result = await recognize(talk("es", 100), { multilingual: fakeMultilingual() });
  expect(result.progress.length).toBeGreaterThan(8);
  expect(result.progress).toEqual(result.progress.toSorted((a, b) => a - b));
  expect(result.progress.at(-1)).toBeGreaterThan(655);
});

test("an abort ends it", async () => {
  const [group] = await fakeRecording(talk("es", 10));
  const recognizer = createRecognizer({ ...NOTHING, multilingual: fakeMultilingual() });
  const signal = AbortSignal.abort(new Error("deleted"));
  await expect(recognizer.recognize(group!.utterances, { signal, onSettled: () => {} })).rejects.toThrow(
    "deleted",
  );
});

test("without an engine nothing can be recognized", () => {
  expect(() => createRecognizer(NOTHING)).toThrow("no speech engine");
});
