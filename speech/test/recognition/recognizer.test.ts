import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RecognizedSpeech } from "../../src/recognition/recognized-speech.ts";
import { createRecognizer, type Engines } from "../../src/recognition/recognizer.ts";
import {
  type FakeEngine,
  type FakeLanguage,
  type FakeSpeech,
  fakeEnglishOnly,
  fakeMultilingual,
  fakeRecording,
  fakeWords,
} from "../support/fake-engines.ts";

const REMEDY = "Install a multilingual model.";
const NOTHING: Engines = { bundled: null, multilingual: null, bundledTakesEnglish: false, remedy: REMEDY };

interface Listened extends RecognizedSpeech {
  progress: number[];
  /** The words that the recording says, by their language. */
  said: (language: FakeLanguage) => string[];
}

async function listen(parts: readonly FakeSpeech[], engines: Partial<Engines>): Promise<Listened> {
  const listener = createRecognizer({ ...NOTHING, ...engines });
  const groups = await fakeRecording(parts);
  const progress: number[] = [];
  const options = {
    signal: new AbortController().signal,
    onSettled: (settled: number) => progress.push(settled),
  };
  for (const { utterances } of groups) await listener.recognize(utterances, options);
  const duration = parts.reduce((sum, [, seconds]) => sum + seconds, 0);
  return {
    ...(await listener.finish(duration, options)),
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
  for (const stretch of languageSegments) {
    expect(stretch.words).toBeGreaterThan(0);
    for (const { start, end } of words.slice(at, at + stretch.words)) {
      expect(start).toBeGreaterThanOrEqual(stretch.start);
      expect(end).toBeLessThanOrEqual(stretch.end);
    }
    at += stretch.words;
  }
  expect(at).toBe(words.length);
}

describe.each(["before", "by result"] as const)("an engine that tells the language %s", (tells) => {
  test("a recording in one language is written in it, each word once", async () => {
    const heard = await listen(talk("es", 30), { multilingual: fakeMultilingual({ tells }) });
    expect(heard.language).toBe("es");
    expect(texts(heard)).toEqual(heard.said("es"));
    expect(heard.languageSegments).toMatchObject([
      { language: "es", engine: "fake-multilingual", words: heard.words.length },
    ]);
    expectInOrder(heard);
  });

  test("three languages in turn are written segment by segment, none translated", async () => {
    const parts = [...talk("es", 5, 3), ...talk("en", 5, 3), ...talk("pt", 9, 3)];
    const heard = await listen(parts, { multilingual: fakeMultilingual({ tells }) });
    expect(texts(heard).filter((word) => word.startsWith("translated"))).toEqual([]);
    expect(texts(heard)).toEqual([...heard.said("es"), ...heard.said("en"), ...heard.said("pt")]);
    expect(languages(heard)).toEqual(["es", "en", "pt"]);
    expect(heard.language).toBe("pt");
    expectInOrder(heard);
  });

  test("a language that changes without a long pause, inside an utterance, changes at the pause", async () => {
    const parts = [...talk("es", 3, 5.5, 0.3), ...talk("en", 5, 5.5, 0.3), ...talk("es", 4, 5.5, 0.3)];
    const heard = await listen(parts, { multilingual: fakeMultilingual({ tells }) });
    expect(languages(heard)).toEqual(["es", "en", "es"]);
    expect(texts(heard).filter((word) => word.startsWith("translated"))).toEqual([]);
  });

  test("a recording in which nobody says anything has no language", async () => {
    const heard = await listen(talk("noise", 4), { multilingual: fakeMultilingual({ tells }) });
    expect(heard).toMatchObject({ words: [], language: "zxx", languageSegments: [] });
    expect(heard.speechSeconds).toBeGreaterThan(20);
  });

  test("a recording without utterances has no language", async () => {
    const heard = await listen([[null, 30]], { multilingual: fakeMultilingual({ tells }) });
    expect(heard).toMatchObject({ words: [], language: "zxx", languageSegments: [], speechSeconds: 0 });
  });

  test("of any mixture every word is written once, in order, in the segment that it belongs to", async () => {
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
        const heard = await listen(parts, { multilingual: fakeMultilingual({ tells }) });
        expectInOrder(heard);
        const starts = heard.words.map(({ word }) => Number(word.split("-").at(-1)));
        const said = (["en", "es", "pt"] as const).flatMap((language) => heard.said(language));
        expect(starts).toEqual(said.map((word) => Number(word.split("-").at(-1))).toSorted((a, b) => a - b));
        const told = heard.words.length === 0 ? ["zxx"] : ["und", ...languages(heard)];
        expect(told).toContain(heard.language);
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
    const heard = await listen(talk("en", 12, 6, 2.5), { multilingual });
    expect(languages(heard)).toEqual(["en"]);
    expect(texts(heard)).toEqual(heard.said("en"));
  });

  test("a sentence that an engine recognized in the wrong language is transcribed again in the right one", async () => {
    const parts = [...talk("en", 3, 6, 2.5), ...talk("cy", 1, 2, 2.5), ...talk("en", 3, 6, 2.5)];
    const multilingual = fakeMultilingual({ tells: "by result" });
    const heard = await listen(parts, { multilingual });
    expect(languages(heard)).toEqual(["en"]);
    expect(multilingual.heard.filter(({ seconds }) => seconds < 4).map(({ language }) => language)).toEqual([
      "cy",
      "en",
    ]);
  });

  test("a dialect between two languages is not cut up for ever", async () => {
    const multilingual = fakeMultilingual({
      detected: () =>
        new Map([
          ["es", 0.6],
          ["pt", 0.35],
        ]),
    });
    await listen(talk("es", 120, 6, 0.5), { multilingual });
    expect(multilingual.detectedSeconds.length).toBeLessThan(70);
  });

  test("if most is unsure and hardly a word is transcribed no language is detected", async () => {
    const multilingual = fakeMultilingual({
      detected: () =>
        new Map([
          ["es", 0.3],
          ["pt", 0.25],
          ["fr", 0.2],
        ]),
      heard: (honest) => ({ ...honest, words: honest.words.slice(0, 3) }),
    });
    const heard = await listen(talk("es", 10, 3.5, 2.5), { multilingual });
    expect(heard.words.length).toBeGreaterThan(0);
    expect(heard.language).toBe("es");
    const mumbled = await listen([...talk("es", 10, 3.5, 2.5), ...talk("noise", 20)], { multilingual });
    expect(mumbled.language).toBe("und");
  });

  /** Some utterances now, the others when these are heard. */
  async function listenInTwo(parts: readonly FakeSpeech[], first: number, multilingual: FakeEngine) {
    const all = (await fakeRecording(parts)).flatMap(({ utterances }) => utterances);
    const listener = createRecognizer({ ...NOTHING, multilingual });
    const options = { signal: new AbortController().signal, onSettled: () => {} };
    await listener.recognize(all.slice(0, first), options);
    await listener.recognize(all.slice(first), options);
    return { all, heard: await listener.finish(1_000, options) };
  }

  test("a sentence at the end of a group is determined by what follows in the next", async () => {
    const parts = [...talk("en", 4, 6, 2.5), ...talk("es", 6, 1.5, 2.5)];
    const { all, heard } = await listenInTwo(parts, 5, fakeMultilingual());
    expect(heard.languageSegments).toMatchObject([
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
    const { heard } = await listenInTwo(talk("en", 5, 6, 2.5), 4, multilingual);
    expect(languages(heard)).toEqual(["en"]);
  });

  test("a change in the first utterance of a group is found though the model reports one language of it", async () => {
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
    const { heard } = await listenInTwo(parts, 4, onlyMost);
    expect(texts(heard).filter((word) => word.startsWith("translated"))).toEqual([]);
  });

  test("of two languages spoken for as long the first is reported", async () => {
    const parts = [...talk("pt", 4, 6, 3), ...talk("es", 4, 6, 3)];
    const heard = await listen(parts, { multilingual: fakeMultilingual() });
    expect(languages(heard)).toEqual(["pt", "es"]);
    expect(heard.language).toBe("pt");
  });
});

describe("the bundled engine beside one of many languages", () => {
  const both = () => {
    const bundled = fakeEnglishOnly();
    const multilingual = fakeMultilingual();
    return { bundled, multilingual, bundledTakesEnglish: true };
  };
  const seconds = ({ heard }: FakeEngine) => heard.reduce((sum, one) => sum + one.seconds, 0);

  test("English is transcribed by the bundled engine alone, with a few probes", async () => {
    const engines = both();
    const heard = await listen(talk("en", 100), engines);
    expect(texts(heard)).toEqual(heard.said("en"));
    expect(heard.languageSegments).toMatchObject([{ language: "en", engine: "fake-english" }]);
    expect(heard.languageSegments[0]!.probability).toBeGreaterThanOrEqual(0.9);
    expect(engines.multilingual.heard).toEqual([]);
    const probed = engines.multilingual.detectedSeconds.reduce((sum, one) => sum + one, 0);
    expect(probed).toBeLessThan(0.45 * heard.speechSeconds);
  });

  test("another language is transcribed by the other engine alone", async () => {
    const engines = both();
    const heard = await listen(talk("es", 100), engines);
    expect(texts(heard)).toEqual(heard.said("es"));
    expect(heard.languageSegments).toMatchObject([{ language: "es", engine: "fake-multilingual" }]);
    expect(engines.bundled.heard).toEqual([]);
  });

  test("Spanish in the middle of English goes to the other engine, and nothing is transcribed twice or lost", async () => {
    const engines = both();
    const parts = [...talk("en", 20), ...talk("es", 4), ...talk("en", 30)];
    const heard = await listen(parts, engines);
    expect(texts(heard).filter((word) => /translated|misheard/.test(word))).toEqual([]);
    expect(texts(heard).toSorted()).toEqual([...heard.said("en"), ...heard.said("es")].toSorted());
    expect(languages(heard).filter((language) => language === "es")).toEqual(["es"]);
    expect(heard.language).toBe("en");
    expect(seconds(engines.multilingual)).toBeLessThan(80);
    expectInOrder(heard);
  });

  test("an utterance that it transcribes well although another language is spoken in a part of it is not its own", async () => {
    const both20: FakeSpeech[] = [
      ["en", 14.5],
      [null, 0.3],
      ["es", 4.8],
      [null, 2.5],
    ];
    const heard = await listen([...talk("en", 6, 19.5, 2.5), ...both20, ...talk("es", 4, 19.5, 2.5)], both());
    expect(texts(heard).filter((word) => /translated|misheard/.test(word))).toEqual([]);
    expect(heard.languageSegments.map(({ engine, language }) => `${language} by ${engine}`)).toEqual([
      "en by fake-english",
      "en by fake-multilingual",
      "es by fake-multilingual",
    ]);
  });

  test("if it is not as good the other engine transcribes everything", async () => {
    const engines = { ...both(), bundledTakesEnglish: false };
    const heard = await listen(talk("en", 10), engines);
    expect(heard.languageSegments).toMatchObject([{ engine: "fake-multilingual" }]);
    expect(engines.bundled.heard).toEqual([]);
  });

  test("beside an engine that detects languages only by transcribing it transcribes nothing", async () => {
    const engines = { ...both(), multilingual: fakeMultilingual({ tells: "by result" }) };
    const heard = await listen(talk("en", 10), engines);
    expect(heard.languageSegments).toMatchObject([{ engine: "fake-multilingual", language: "en" }]);
    expect(engines.bundled.heard).toEqual([]);
  });
});

describe("the bundled engine alone", () => {
  test("English is detected, with one segment", async () => {
    const heard = await listen(talk("en", 10), { bundled: fakeEnglishOnly() });
    expect(heard).toMatchObject({
      language: "en",
      languageSegments: [{ language: "en", engine: "fake-english" }],
    });
    expect(texts(heard)).toEqual(heard.said("en"));
    expectInOrder(heard);
  });

  test("another language is refused with what would help", async () => {
    await expect(listen(talk("es", 6), { bundled: fakeEnglishOnly() })).rejects.toMatchObject({
      code: "language_unsupported",
      message: expect.stringContaining(REMEDY),
    });
  });

  test("of a long recording in another language the rest is not recognized", async () => {
    const bundled = fakeEnglishOnly();
    await expect(listen(talk("es", 120), { bundled })).rejects.toMatchObject({
      code: "language_unsupported",
    });
    expect(bundled.heard.reduce((sum, { seconds }) => sum + seconds, 0)).toBeLessThan(300);
  });
});

test("a model of one language is taken at its word", async () => {
  const multilingual = fakeEnglishOnly();
  const heard = await listen(talk("en", 5), { multilingual, bundledTakesEnglish: true });
  expect(heard).toMatchObject({ language: "en", languageSegments: [{ language: "en", probability: 1 }] });
});

describe("speech that an engine leaves out", () => {
  /** Stops at the first pause, as models do that take the end of a sentence for the end of all. */
  const untilPause = (tells: "before" | "by result") =>
    fakeMultilingual({
      tells,
      heard: (honest) => {
        const pause = honest.words.findIndex(
          ({ start }, index) => start - (honest.words[index - 1]?.end ?? start) > 0.7,
        );
        return pause === -1 ? honest : { ...honest, words: honest.words.slice(0, pause) };
      },
    });

  test.each(["before", "by result"] as const)(
    "is heard in a second go, and nothing twice (language told %s)",
    async (tells) => {
      const multilingual = untilPause(tells);
      const heard = await listen(talk("es", 9, 3, 1.5), { multilingual });
      expect(texts(heard)).toEqual(heard.said("es"));
      expect(new Set(multilingual.heard.map(({ language }) => language))).toEqual(new Set(["es"]));
      expectInOrder(heard);
    },
  );

  test("is not there if the rest is noise", async () => {
    const heard = await listen([...talk("es", 2, 3, 1), ["noise", 4]], {
      multilingual: untilPause("before"),
    });
    expect(texts(heard)).toEqual(heard.said("es"));
  });
});

test("text that a model makes up of noise is in no transcript", async () => {
  const multilingual = fakeMultilingual({
    heard: (honest, { start, samples }) =>
      honest.words.length > 0
        ? honest
        : {
            ...honest,
            noSpeechProbability: 0.4,
            words: [{ word: "Thanks.", start, end: start + samples.length / 16_000, confidence: 0.6 }],
          },
  });
  const heard = await listen([...talk("noise", 3, 9, 3), ...talk("es", 5), ...talk("noise", 3, 9, 3)], {
    multilingual,
  });
  expect(texts(heard)).toEqual(heard.said("es"));
});

test("progress rises batch by batch to the end of what is spoken", async () => {
  const heard = await listen(talk("es", 100), { multilingual: fakeMultilingual() });
  expect(heard.progress.length).toBeGreaterThan(8);
  expect(heard.progress).toEqual(heard.progress.toSorted((a, b) => a - b));
  expect(heard.progress.at(-1)).toBeGreaterThan(655);
});

test("an abort ends it", async () => {
  const [group] = await fakeRecording(talk("es", 10));
  const listener = createRecognizer({ ...NOTHING, multilingual: fakeMultilingual() });
  const signal = AbortSignal.abort(new Error("deleted"));
  await expect(listener.recognize(group!.utterances, { signal, onSettled: () => {} })).rejects.toThrow(
    "deleted",
  );
});

test("without an engine nothing can be recognized", () => {
  expect(() => createRecognizer(NOTHING)).toThrow("no speech engine");
});
