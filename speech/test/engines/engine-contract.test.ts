import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Engine, RecognitionResult } from "../../src/engines/engine.ts";
import { readMoonshine } from "../../src/engines/moonshine/model.ts";
import { openMoonshine } from "../../src/engines/moonshine/moonshine.ts";
import { openOpenAi } from "../../src/engines/openai/openai.ts";
import { openWhisper } from "../../src/engines/whisper/whisper.ts";
import type { Utterance } from "../../src/vad/utterances.ts";
import { tinyWhisperModel } from "../support/language-recordings.ts";
import { saying } from "../support/openai-engines.ts";
import { spoken } from "../support/spoken.ts";
import { ENGLISH_WORDS } from "../support/tone-words.ts";
import { gpt4oTranscribe, type Responder, speaches } from "../support/transcription-server-formats.ts";
import { startTranscriptionServer, type TranscriptionServer } from "../support/transcription-servers.ts";

const RATE = 16_000;
const { signal } = new AbortController();

interface Candidate {
  open(): Promise<Engine>;
  /** Speech that the engine recognizes. */
  speech(): Float32Array;
  stop?(): Promise<void>;
}

/** Every engine is added here, and must behave as `engine.ts` describes. */
const CANDIDATES: Record<string, Candidate> = {
  moonshine: {
    open: async () => await openMoonshine({ model: await readMoonshine(), threads: 1 }),
    speech: () => spoken("english-1").samples,
  },
  whisper: {
    open: async () => await openWhisper({ folder: tinyWhisperModel, threads: 1 }),
    speech: () => wav("../tiny-whisper/fixtures/testA_pt_2.wav"),
  },
  "openai, a server with word times": server(speaches),
  "openai, a server of plain text": server(gpt4oTranscribe),
};

function server(responder: Responder): Candidate {
  let started: TranscriptionServer;
  return {
    open: async () => {
      started = await startTranscriptionServer({ responder });
      return await openOpenAi({ servers: [{ url: started.origin, apiKey: null }], model: "whisper-1" });
    },
    speech: () => saying(ENGLISH_WORDS).samples,
    stop: () => started.stop(),
  };
}

describe.each(Object.entries(CANDIDATES))("the engine %s", (_name, { open, speech, stop }) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await open();
  });
  afterAll(async () => {
    await engine.close();
    await stop?.();
  });
  const at = (start: number): Utterance => ({ samples: speech(), start });
  const silent = (seconds: number): Utterance => ({ samples: new Float32Array(seconds * RATE), start: 5 });
  const text = ({ words }: RecognitionResult) => words.map(({ word }) => word).join(" ");

  test("declares its languages and a maximum length", () => {
    expect(engine.languages.length).toBeGreaterThan(0);
    expect(engine.languages.filter((language) => !/^[a-z]{2,3}$/.test(language))).toEqual([]);
    expect(engine.maxUtteranceSeconds).toBeGreaterThanOrEqual(5);
  });

  test("returns one result for each utterance in order, with times of the media inside the utterance", async () => {
    const utterances = [at(100), silent(2), at(200)];
    const results = await engine.recognize(utterances, { signal });
    expect(results.map(({ words }) => words.length > 0)).toEqual([true, false, true]);
    for (const [index, { words, language, ...evidence }] of results.entries()) {
      const { start, samples } = utterances[index]!;
      const times = words.flatMap((word) => [word.start, word.end]);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      for (const time of times) {
        expect(time).toBeGreaterThanOrEqual(start);
        expect(time).toBeLessThanOrEqual(start + samples.length / RATE);
      }
      for (const { word, confidence } of words) {
        expect(word).toMatch(/^\S+$/);
        expect(confidence).toBeGreaterThanOrEqual(0);
        expect(confidence).toBeLessThanOrEqual(1);
      }
      expect([null, ...engine.languages]).toContain(language);
      expect(evidence.meanLogProbability).toBeLessThanOrEqual(0);
      expect(evidence.truncated).toBe(false);
    }
  });

  test("moves the times with the start of the utterance, and remembers nothing of earlier ones", async () => {
    const [first] = await engine.recognize([at(0)], { signal });
    const [second] = await engine.recognize([at(3600)], { signal });
    expect(text(second!)).toBe(text(first!));
    for (const [index, { start, end }] of second!.words.entries()) {
      expect(start - 3600).toBeCloseTo(first!.words[index]!.start, 6);
      expect(end - 3600).toBeCloseTo(first!.words[index]!.end, 6);
    }
  });

  test("accepts no utterances, and utterances of a few samples", async () => {
    expect(await engine.recognize([], { signal })).toEqual([]);
    const results = await engine.recognize([silent(0.1), { samples: new Float32Array(1), start: 0 }], {
      signal,
    });
    expect(results.map(({ words }) => words)).toEqual([[], []]);
  });

  test("transcribes in the language that is given, and accepts a vocabulary", async () => {
    const language = engine.languages[0]!;
    const options = { signal, languages: [language], vocabulary: ["Weber", "Subtext"] };
    const [result] = await engine.recognize([at(0)], options);
    // An engine with one language does not report it.
    expect(result!.language ?? engine.languages[0]).toBe(language);
    expect(result!.words.length).toBeGreaterThan(0);
  });

  test("detects only languages that it declares, if it detects them before it transcribes", async () => {
    const detected = (await engine.detectLanguages?.([at(0), silent(1)], signal)) ?? [];
    expect(detected).toHaveLength(engine.detectLanguages === undefined ? 0 : 2);
    for (const probabilities of detected) {
      const sum = [...probabilities.values()].reduce((total, value) => total + value, 0);
      expect(sum).toBeLessThanOrEqual(1.000_001);
      expect([...probabilities.keys()].filter((each) => !engine.languages.includes(each))).toEqual([]);
    }
  });

  test("ends with the reason of an abort", async () => {
    const reason = new Error("canceled");
    await expect(engine.recognize([at(0)], { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});

function wav(path: string): Float32Array {
  const file = readFileSync(fileURLToPath(new URL(path, import.meta.url)));
  const pcm = file.subarray(file.indexOf("data") + 8);
  return Float32Array.from({ length: pcm.length >> 1 }, (_, index) => pcm.readInt16LE(2 * index) / 32_768);
}
