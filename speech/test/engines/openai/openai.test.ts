import { describe, expect, test } from "vitest";
import type { Engine } from "../../../src/engines/engine.ts";
import type { SpokenUtterance, Utterance } from "../../../src/vad/utterances.ts";
import { failure, inMedia, saying, serversAndEngines, texts } from "../../support/openai-engines.ts";
import { ENGLISH_WORDS, JAPANESE_WORDS, SPANISH_WORDS, tones } from "../../support/tone-words.ts";
import {
  gpt4oTranscribe,
  localAi,
  openAi,
  type Responder,
  speaches,
  textOnly,
  vllm,
  vllmWithoutTimestamps,
  whisperCpp,
  withoutWords,
} from "../../support/transcription-server-formats.ts";

const { started, engineOf } = serversAndEngines();
const { signal } = new AbortController();

/** Words as long as their letters, with long pauses between them. */
const pausingWords = ["The", "The", "fine!", "fine!"].map((word, index) => {
  const start = 0.4 + 2 * index;
  return { word, start, end: start + (word === "The" ? 0.3 : 0.4) };
});
const pausing: Utterance = { samples: tones(pausingWords, 9), start: 0 };

/** That the middle of each word is where it is said; its ends may lie anywhere in the pauses beside it. */
async function expectMiddlesRecognized(engine: Engine): Promise<void> {
  const [result] = await engine.recognize([pausing], { signal });
  expect(texts(result!)).toEqual(pausingWords.map(({ word }) => word));
  for (const [index, { start, end }] of pausingWords.entries()) {
    const word = result!.words[index]!;
    expect(word.start).toBeLessThan((start + end) / 2);
    expect(word.end).toBeGreaterThan((start + end) / 2);
  }
}

describe("every server's words come back as they are written, when they are said", () => {
  for (const [name, responder] of Object.entries({ openAi, speaches, whisperCpp }) as [string, Responder][]) {
    for (const [language, words] of [
      ["en", ENGLISH_WORDS],
      ["es", SPANISH_WORDS],
      ["ja", JAPANESE_WORDS],
    ] as const) {
      test(`${name}, ${language}`, async () => {
        const server = await started({ responder });
        const engine = await engineOf([`${server.origin}/v1`]);
        const utterance = saying(words, 100);
        const [result] = await engine.recognize([utterance], { signal });
        expect(texts(result!)).toEqual(words);
        expect(result!.language).toBe(language);
        expect(result!.truncated).toBe(false);
        for (const [index, { start, end }] of inMedia(utterance.said, 100).entries()) {
          const recognized = result!.words[index]!;
          expect(recognized.start).toBeCloseTo(start, 1);
          // Some servers give punctuation separate times, which are not speech.
          expect(recognized.end).toBeGreaterThan(start + 0.1);
          expect(recognized.end).toBeLessThan(end + 0.03);
          expect(recognized.confidence).toBeGreaterThan(0.7);
        }
      });
    }
  }

  for (const [name, responder] of Object.entries({ vllm, localAi, withoutWords }) as [string, Responder][]) {
    test(`${name} reports segments only: words have shares of them`, async () => {
      const server = await started({ responder });
      const engine = await engineOf([server.origin]);
      const utterance = saying(ENGLISH_WORDS, 50);
      const [result] = await engine.recognize([utterance], { signal });
      expect(texts(result!)).toEqual(ENGLISH_WORDS);
      expect(result!.language).toBe(responder === localAi ? null : "en");
      const [first, last] = [utterance.said[0]!, utterance.said.at(-1)!];
      expect(result!.words[0]!.start).toBeCloseTo(50 + first.start, 1);
      expect(result!.words.at(-1)!.end).toBeCloseTo(50 + last.end, 1);
      const gaps = result!.words.slice(1).map(({ start }, index) => start - result!.words[index]!.end);
      expect(Math.max(...gaps.map(Math.abs))).toBeLessThan(1e-9);
    });
  }

  for (const [name, responder, formats] of [
    ["gpt-4o-transcribe", gpt4oTranscribe, ["verbose_json", "json", "json"]],
    ["vLLM without timestamps", vllmWithoutTimestamps, ["verbose_json", "json", "json"]],
    ["a server of plain text", textOnly, ["verbose_json", "json", "text", "text"]],
  ] as const) {
    test(`${name} is asked for the format that it has, from then on, and its times are estimated`, async () => {
      const server = await started({ responder });
      const engine = await engineOf([server.origin], { concurrency: 1 });
      const results = await engine.recognize([saying(ENGLISH_WORDS), pausing], { signal });
      expect(results.map(texts)).toEqual([ENGLISH_WORDS, pausingWords.map(({ word }) => word)]);
      expect(server.requests.map(({ responseFormat }) => responseFormat)).toEqual(formats);
      expect(results.map(({ hasEstimatedTimes }) => hasEstimatedTimes)).toEqual([true, true]);
      await expectMiddlesRecognized(engine);
    });
  }

  test("a server that refuses every format is reported with its message", async () => {
    const server = await started({ responder: () => "response_format is unknown" });
    const error = await failure((await engineOf([server.origin])).recognize([saying(["The"])], { signal }));
    expect([error.code, error.message]).toEqual([
      "engine_refused",
      expect.stringContaining("response_format is unknown"),
    ]);
    expect(server.requests).toHaveLength(3);
  });

  test("without any times, words are where voice activity detection found speech, not where it is loud", async () => {
    const server = await started({ responder: () => ({ text: "The weather is fine!" }) });
    const engine = await engineOf([server.origin]);
    const music = Float32Array.from({ length: 6 * 16_000 }, (_, index) => 0.5 * Math.sin(index / 10));
    const speech = [{ start: 22, end: 23, probability: 0.9 }];
    const utterance: SpokenUtterance = { samples: music, start: 20, speech };
    const [result] = await engine.recognize([utterance], { signal });
    expect(result!.words[0]!.end).toBeGreaterThan(22);
    expect(result!.words.at(-1)!.start).toBeLessThan(23);
  });

  test("if there is text only, words share the time in which it is loud", async () => {
    const server = await started({
      responder: ({ words }) => ({ text: words.map(({ word }) => word).join(" ") }),
    });
    const engine = await engineOf([server.origin]);
    await expectMiddlesRecognized(engine);
    const [result] = await engine.recognize([pausing], { signal });
    expect(result!.language).toBeNull();
  });

  test("words of a segment share the time in which it is loud", async () => {
    const server = await started({ responder: vllm });
    await expectMiddlesRecognized(await engineOf([server.origin]));
  });

  test("if nothing is said there are no words and no language", async () => {
    for (const responder of [openAi, speaches, whisperCpp, vllm]) {
      const server = await started({ responder });
      const engine = await engineOf([server.origin]);
      const [result] = await engine.recognize([saying([])], { signal });
      expect(result).toMatchObject({ words: [], language: null, truncated: false });
    }
  });
});

describe("a request", () => {
  test("is a transcript with times of words, of the utterance alone", async () => {
    const server = await started({ apiKey: "sk-right" });
    const engine = await engineOf([], { servers: [{ url: `${server.origin}/v1/`, apiKey: "sk-right" }] });
    const utterance = saying(ENGLISH_WORDS);
    await engine.recognize([utterance], { signal });
    expect(server.requests).toEqual([
      {
        path: "/v1/audio/transcriptions",
        authorization: "Bearer sk-right",
        model: "whisper-1",
        language: null,
        responseFormat: "verbose_json",
        prompt: null,
        granularities: ["word", "segment"],
        fields: expect.arrayContaining(["file", "model", "response_format", "temperature"]),
        audioBytes: 44 + 2 * utterance.samples.length,
      },
    ]);
  });

  test("names the language if it is known, as Whisper calls it", async () => {
    const server = await started({ responder: openAi });
    const engine = await engineOf([server.origin], { concurrency: 1 });
    const utterance = saying(["hace"]);
    const results = await engine.recognize([utterance, utterance, utterance], {
      signal,
      languages: ["es", null, "jv"],
    });
    expect(server.requests.map(({ language }) => language)).toEqual(["es", null, "jw"]);
    expect(results.map(({ language }) => language)).toEqual(["es", "es", "jv"]);
  });

  test("is asked again of whisper.cpp, which takes all for English unless reported to report, but only once", async () => {
    const server = await started({ responder: whisperCpp });
    const engine = await engineOf([server.origin], { concurrency: 1 });
    const results = await engine.recognize([saying(SPANISH_WORDS), saying(SPANISH_WORDS)], { signal });
    expect(results.map(texts)).toEqual([SPANISH_WORDS, SPANISH_WORDS]);
    expect(server.requests.map(({ language }) => language)).toEqual([null, "auto", "auto"]);
    expect(server.requests.at(-1)!.fields).toContain("suppress_nst");
  });

  test("leaves out what a server refuses, from then on", async () => {
    const server = await started({ responder: withoutWords });
    const engine = await engineOf([server.origin], { concurrency: 1 });
    await engine.recognize([saying(["The"]), saying(["The"])], { signal });
    expect(server.requests.map(({ granularities }) => granularities.length)).toEqual([2, 0, 0]);
  });

  test("is padded if it is shorter than a server takes", async () => {
    const server = await started();
    const engine = await engineOf([server.origin]);
    const samples = tones([{ word: "The", start: 0.1, end: 0.4 }], 0.5);
    const [result] = await engine.recognize([{ samples, start: 3 }], { signal });
    expect(server.requests[0]!.audioBytes).toBeGreaterThan(32_000);
    expect(result!.words).toMatchObject([
      { word: "The", start: expect.closeTo(3.1), end: expect.closeTo(3.4) },
    ]);
  });

  for (const [url, path] of [
    ["", "/v1/audio/transcriptions"],
    ["/", "/v1/audio/transcriptions"],
    ["/v1/", "/v1/audio/transcriptions"],
    ["/openai/v1", "/openai/v1/audio/transcriptions"],
    ["/v1/audio/transcriptions", "/v1/audio/transcriptions"],
    ["/inference", "/inference"],
  ] as const) {
    test(`goes to ${path} if the base URL ends in "${url}"`, async () => {
      const server = await started({ path });
      const engine = await engineOf([server.origin + url]);
      const [result] = await engine.recognize([saying(["fine!"])], { signal });
      expect(texts(result!)).toEqual(["fine!"]);
    });
  }

  test("fits into the largest request that is allowed", async () => {
    const engine = await engineOf(["http://127.0.0.1:9/v1"], { maxRequestBytes: 200_000 });
    const longest = { samples: new Float32Array(engine.maxUtteranceSeconds * 16_000), start: 0 };
    expect(engine.maxUtteranceSeconds).toBeGreaterThan(6);
    const server = await started({ maxBytes: 200_000 });
    const small = await engineOf([server.origin], { maxRequestBytes: 200_000 });
    await small.recognize([longest], { signal });
    expect((await engineOf([server.origin])).maxUtteranceSeconds).toBeLessThanOrEqual(30);
  });

  for (const url of ["", "gpu1:8000", "ftp://gpu1/v1", "/v1"]) {
    test(`cannot be asked of "${url}"`, async () => {
      const { code, message } = await failure(engineOf([url]));
      expect([code, message]).toEqual(["engine_refused", expect.not.stringContaining("null")]);
    });
  }

  test("cannot be opened without a server", async () => {
    expect((await failure(engineOf([]))).code).toBe("engine_refused");
  });
});

describe("statistics in a response", () => {
  test("if it believes that nobody speaks, there are no words", async () => {
    const doubt = { no_speech_prob: 0.9, avg_logprob: -1.4, compression_ratio: 0.8 };
    const text = " Thank you for watching.";
    const responder: Responder = () => ({
      text,
      language: "en",
      segments: [{ start: 0, end: 2, text, ...doubt }],
    });
    const server = await started({ responder });
    const [result] = await (await engineOf([server.origin])).recognize([saying(["The"])], { signal });
    expect(result).toMatchObject({ words: [], language: null, noSpeechProbability: 0.9 });
    expect(result!.meanLogProbability).toBeCloseTo(-1.4);
  });

  test("a segment that nobody speaks in does not take the others with it", async () => {
    const responder: Responder = () => ({
      text: "Well then. Thank you.",
      language: "english",
      segments: [
        { start: 0, end: 1, text: " Well then.", no_speech_prob: 0.1, avg_logprob: -0.2 },
        { start: 1, end: 2, text: " Thank you.", no_speech_prob: 0.9, avg_logprob: -1.2 },
      ],
    });
    const server = await started({ responder });
    const [result] = await (await engineOf([server.origin])).recognize([saying(["The"])], { signal });
    expect(texts(result!)).toEqual(["Well", "then."]);
    expect(result!.noSpeechProbability).toBe(0.1);
  });

  test("repetition is measured on the text itself, whatever the server reports", async () => {
    const loop = "so it goes ".repeat(20);
    const sentence = "The library opens at nine.";
    for (const [text, compression_ratio] of [
      [loop, 1.1],
      [loop, null],
      [sentence, 7],
    ] as const) {
      const responder: Responder = () => ({
        text,
        segments: [{ start: 0, end: 2, text, compression_ratio }],
      });
      const server = await started({ responder });
      const [result] = await (await engineOf([server.origin])).recognize([saying(["The"])], { signal });
      expect(result!.compressionRatio > 2.4).toBe(text === loop);
    }
  });

  for (const text of [" [BLANK_AUDIO]", "(music playing)", "♪ ♪", "*laughs*", " ..."]) {
    test(`"${text}" is nobody's word`, async () => {
      const server = await started({ responder: () => ({ text, segments: [{ start: 0, end: 2, text }] }) });
      const [result] = await (await engineOf([server.origin])).recognize([saying(["The"])], { signal });
      expect(result!.words).toEqual([]);
    });
  }
});

test("anyone who asks for the name gets the model", async () => {
  const engine = await engineOf(["http://127.0.0.1:9"]);
  expect(engine.name).toBe("openai:whisper-1");
  expect(engine.languages).toHaveLength(100);
});

describe("a vocabulary", () => {
  const recognize = async (engine: Engine, vocabulary: string[]) => {
    const [result] = await engine.recognize([saying(ENGLISH_WORDS)], { signal, vocabulary });
    return texts(result!);
  };

  test("is sent as the prompt, up to 600 bytes", async () => {
    const server = await started();
    const engine = await engineOf([`${server.origin}/v1`]);
    await recognize(engine, []);
    await recognize(engine, ["Subtext", "Anna Weber"]);
    await recognize(
      engine,
      Array.from({ length: 100 }, (_, index) => `Überraschung${index}`),
    );
    const [none, two, hundred] = server.requests.map(({ prompt }) => prompt);
    expect([none, two]).toEqual([null, "Subtext, Anna Weber."]);
    expect(hundred).toMatch(/^Überraschung0, .*\d\.$/);
    expect(Buffer.byteLength(hundred!)).toBeGreaterThan(580);
    expect(Buffer.byteLength(hundred!)).toBeLessThanOrEqual(600);
  });

  test("is left out for servers that reject prompts", async () => {
    const server = await started({
      responder: (speech, request) =>
        request.prompt === null
          ? speaches(speech, request)
          : "Prompt is not supported: unknown field prompt.",
    });
    const engine = await engineOf([`${server.origin}/v1`]);
    expect(await recognize(engine, ["Subtext"])).toEqual(ENGLISH_WORDS);
    expect(await recognize(engine, ["Subtext"])).toEqual(ENGLISH_WORDS);
    expect(server.requests.map(({ prompt }) => prompt)).toEqual(["Subtext.", null, null]);
  });

  describe("that the server repeats", () => {
    /** Whether voice activity detection is sure that somebody speaks. */
    const sound = (isClear: boolean): SpokenUtterance => {
      const { samples, start } = saying(ENGLISH_WORDS);
      const end = start + samples.length / 16_000;
      return { samples, start, speech: [{ start, end, probability: isClear ? 0.97 : 0.8 }] };
    };
    const recognized = async (utterance: SpokenUtterance, answers: { prompted: string; plain: string }) => {
      const server = await started({
        responder: (_, { prompt }) => ({ text: prompt === null ? answers.plain : answers.prompted }),
      });
      const engine = await engineOf([`${server.origin}/v1`]);
      const [result] = await engine.recognize([utterance], { signal, vocabulary: ["Subtext", "Anna Weber"] });
      return { text: texts(result!).join(" "), requests: server.requests.length };
    };

    test.each([
      ["Subtext.", "Thank you."],
      ["Subtext, Anna Weber.", ""],
      ["The Subtext.", "So."],
      ["Anna Weber!", "Bye bye."],
    ])("is dropped if nobody clearly speaks: %s", async (prompted, plain) => {
      expect((await recognized(sound(false), { prompted, plain })).text).toBe(plain);
    });

    test.each([
      ["Subtext.", "Sub text."],
      ["Anna Weber.", "Anna Vaber."],
      ["Subtext.", "Subtext."],
    ])("stays if the term is spoken, however quietly: %s", async (prompted, plain) => {
      expect((await recognized(sound(false), { prompted, plain })).text).toBe(prompted);
      expect((await recognized(sound(true), { prompted, plain })).text).toBe(prompted);
    });

    test("costs no second request if somebody clearly speaks other words too", async () => {
      const answers = { prompted: "The Subtext.", plain: "The sub text." };
      expect(await recognized(sound(true), answers)).toEqual({ text: "The Subtext.", requests: 1 });
      const sentence = { prompted: "Good morning, Anna Weber.", plain: "Good morning, Anna Vaber." };
      expect(await recognized(sound(false), sentence)).toEqual({ text: sentence.prompted, requests: 1 });
    });
  });
});
