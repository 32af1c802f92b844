import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Checkpoint, parseResults, serializeResults } from "../../src/checkpoints/checkpoint.ts";
import { CheckpointCache } from "../../src/checkpoints/checkpoint-cache.ts";
import type { Engine } from "../../src/engines/engine.ts";
import type { EngineSelection } from "../../src/engines/registry.ts";
import { openDecoder } from "../../src/media/open-decoder.ts";
import { openVoiceActivityWorker } from "../../src/processes/model-worker.ts";
import { closeEngines, openEngines } from "../../src/processes/open-engines.ts";
import type { RecognizedSpeech } from "../../src/recognition/recognized-speech.ts";
import { createRecognizer, type Engines } from "../../src/recognition/recognizer.ts";
import { transcribe } from "../../src/transcribe.ts";
import type { TranscribeProgress, Transcript } from "../../src/transcript.ts";
import type { VoiceActivityDetector } from "../../src/vad/voice-activity.ts";
import type { Waveform } from "../../src/waveform.ts";
import {
  type FakeLanguage,
  type FakeSpeech,
  fakeCall,
  fakeEnglishOnly,
  fakeMultilingual,
  fakeRecording,
} from "../support/fake-engines.ts";
import {
  type LANGUAGE_RECORDINGS,
  languageRecording,
  tinyWhisperModel,
} from "../support/language-recordings.ts";
import { decoded, ENGLISH, spoken } from "../support/spoken.ts";
import { sequence, wavFile } from "../support/wav.ts";

describe("checkpointed results", () => {
  const probability = fc.float({ min: 0, max: 1, noNaN: true });
  const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
  const result = fc.record({
    words: fc.array(fc.record({ word: fc.string(), start: number, end: number, confidence: number })),
    language: fc.option(fc.string()),
    meanLogProbability: number,
    compressionRatio: number,
    noSpeechProbability: fc.option(number),
    truncated: fc.boolean(),
  });

  test("are restored bit for bit", () => {
    fc.assert(
      fc.property(
        fc.record({
          speech: fc.array(
            fc.tuple(
              fc.string(),
              fc.array(probability).map((values) => Float32Array.from(values)),
            ),
          ),
          recognitions: fc.array(fc.tuple(fc.string(), result)),
          languages: fc.array(
            fc.tuple(
              fc.string(),
              fc.array(fc.tuple(fc.string(), number)).map((entries) => new Map(entries)),
            ),
          ),
        }),
        (results) => {
          expect(parseResults(serializeResults(results))).toEqual(results);
        },
      ),
    );
  });

  test("are ignored if their format is unknown or they are damaged", () => {
    for (const text of ["", "null", "{", "{}", '{"format":0}', '{"format":3}', "[]"])
      expect(parseResults(text)).toBeNull();
    const cache = new CheckpointCache([{ settledSeconds: 300, results: '{"format":0}' }], {
      recordsNew: false,
    });
    expect(cache.settledSeconds).toBe(0);
  });

  test("that JSON cannot represent are computed again", () => {
    const odd = {
      words: [],
      language: null,
      meanLogProbability: Number.NEGATIVE_INFINITY,
      compressionRatio: 1,
      noSpeechProbability: null,
      truncated: false,
    };
    const text = serializeResults({ speech: [], recognitions: [["odd", odd]], languages: [] });
    expect(parseResults(text)?.recognitions).toEqual([]);
  });

  test("belong to their channel", async () => {
    const scoreOf = (samples: Float32Array) => Float32Array.of(samples[0]!);
    const blocks = [Float32Array.from({ length: 512 }, () => 0.25), new Float32Array(512).fill(0.5)] as const;
    const scored = async (checkpoints: Checkpoint[]) => {
      let calls = 0;
      const cache = new CheckpointCache(checkpoints, { recordsNew: true });
      const score = async (samples: Float32Array) => {
        calls++;
        return scoreOf(samples);
      };
      const scores = [cache.wrapScore(score, 1), cache.wrapScore(score, 2), cache.wrapScore(score)] as const;
      const results = [];
      for (const [index, block] of [...blocks, blocks[0]].entries())
        results.push(await scores[index]!(block, new Float32Array(0)));
      return { results, calls, checkpoint: cache.takeCheckpoint(1) };
    };
    const first = await scored([]);
    expect(await scored([first.checkpoint!])).toEqual({ results: first.results, calls: 0, checkpoint: null });
  });

  test("belong to their engine: another one computes its own", async () => {
    const groups = await fakeRecording([["en", 6]]);
    const recognizeWith = async (engine: Engine, checkpoints: Checkpoint[]) => {
      const cache = new CheckpointCache(checkpoints, { recordsNew: true });
      const { bundled } = cache.wrapEngines({ ...NOTHING, bundled: engine });
      const { signal } = new AbortController();
      await bundled!.recognize(
        groups.flatMap(({ utterances }) => utterances),
        { signal },
      );
      return cache.takeCheckpoint(6);
    };
    const [one, same, other] = [fakeEnglishOnly(), fakeEnglishOnly(), fakeEnglishOnly()];
    const checkpoints = await recognizeWith(one, []);
    expect(await recognizeWith(same, [checkpoints!])).toBeNull();
    expect(same.calls).toEqual([]);
    await recognizeWith({ ...other, name: "another", recognize: other.recognize }, [checkpoints!]);
    expect(other.calls).toHaveLength(1);
  });

  test("belong to their recording: another one in its place is recognized from the start", async () => {
    const engine = fakeEnglishOnly();
    const { signal } = new AbortController();
    const recognizeIn = async (louder: number, checkpoints: Checkpoint[]) => {
      const cache = new CheckpointCache(checkpoints, { recordsNew: true });
      const { bundled } = cache.wrapEngines({ ...NOTHING, bundled: engine });
      const groups = await fakeRecording([["en", 6]]);
      const utterances = groups.flatMap(({ utterances }) => utterances);
      const samples = utterances.map(({ samples }) => samples.map((sample) => sample + louder));
      const score = cache.wrapScore(async (block) => new Float32Array(block.length / 512));
      await score(samples[0]!.slice(0, 5120), new Float32Array());
      await bundled!.recognize(
        utterances.map((utterance, index) => ({ ...utterance, samples: samples[index]! })),
        { signal },
      );
      return cache.takeCheckpoint(6);
    };
    const checkpoint = (await recognizeIn(0, []))!;
    expect(await recognizeIn(0, [checkpoint])).toBeNull();
    const other = parseResults((await recognizeIn(0.25, [checkpoint]))!.results)!;
    expect(other.speech).toHaveLength(1);
    expect(other.recognitions.length).toBeGreaterThan(0);
  });

  test("are stored per language if an utterance was transcribed in several", async () => {
    const [{ utterances } = { utterances: [] }] = await fakeRecording([
      [null, 1],
      ["es", 6],
    ]);
    const { signal } = new AbortController();
    const inEach = async (checkpoints: Checkpoint[]) => {
      const cache = new CheckpointCache(checkpoints, { recordsNew: true });
      const { multilingual } = cache.wrapEngines({ ...NOTHING, multilingual: fakeMultilingual() });
      const recognizeIn = (languages?: (string | null)[]) =>
        multilingual!.recognize(utterances, { signal, ...(languages && { languages }) });
      const results = [await recognizeIn(["en"]), await recognizeIn(["es"]), await recognizeIn()];
      return { results, checkpoints: cache.takeCheckpoint(6) };
    };
    const first = await inEach([]);
    expect(await inEach([first.checkpoints!])).toEqual({ results: first.results, checkpoints: null });
  });
});

const NOTHING: Engines = { bundled: null, multilingual: null, bundledTakesEnglish: false, remedy: "" };

describe("a transcription that is interrupted at any time, any number of times, and resumes from its checkpoints", () => {
  const language = fc.constantFrom<FakeLanguage>("en", "es", "pt", "fr", "cy", "noise");
  // Most pauses end an utterance, so that short audio makes many batches.
  const sentence = fc.record({
    seconds: fc.integer({ min: 1, max: 5 }),
    pause: fc.constantFrom(0.6, 0.6, 2.2),
  });
  const talk = fc.array(
    fc.record({ language, sentences: fc.array(sentence, { minLength: 1, maxLength: 6 }) }),
    { minLength: 1, maxLength: 5 },
  );
  const parts = talk.map((runs) =>
    runs.flatMap(({ language, sentences }) =>
      sentences.flatMap(({ seconds, pause }): FakeSpeech[] => [
        [language, seconds],
        [null, pause],
      ]),
    ),
  );
  const makers: Record<string, () => Partial<Engines>> = {
    "the bundled engine alone": () => ({ bundled: fakeEnglishOnly() }),
    "an engine that detects the language first": () => ({ multilingual: fakeMultilingual() }),
    "one that detects it by result": () => ({ multilingual: fakeMultilingual({ detects: "by result" }) }),
    "both engines": () => ({
      bundled: fakeEnglishOnly(),
      multilingual: fakeMultilingual(),
      bundledTakesEnglish: true,
    }),
  };

  const kinds = Object.entries(makers).flatMap(([name, make]) => [
    { name, make, hasChannels: false },
    { name: `${name}, from two channels`, make, hasChannels: true },
  ]);
  for (const { name, make, hasChannels } of kinds) {
    test(`transcribes the same by ${name}`, async () => {
      const lives = fc.array(fc.nat({ max: 6 }), { minLength: 1, maxLength: 4 });
      const lost = fc.array(fc.boolean(), { maxLength: 4 });
      await fc.assert(
        fc.asyncProperty(parts, parts, lives, lost, async (recording, other, calls, losses) => {
          const groups = hasChannels ? await fakeCall(recording, other) : await fakeRecording(recording);
          const whole = await live(groups, make(), [], Number.POSITIVE_INFINITY);
          let checkpoints: Checkpoint[] = [];
          for (const count of calls)
            checkpoints.push(...(await live(groups, make(), checkpoints, count)).checkpoints);
          // Lost checkpoints are transcribed again.
          checkpoints = checkpoints.filter((_, index) => !losses[index]);
          const last = await live(groups, make(), checkpoints, Number.POSITIVE_INFINITY);
          expect(last.outcome).toEqual(whole.outcome);
        }),
        { numRuns: 15 },
      );
    });
  }

  /** Transcribes until the engines have been called this often. */
  async function live(
    groups: Awaited<ReturnType<typeof fakeRecording>>,
    engines: Partial<Engines>,
    before: Checkpoint[],
    calls: number,
  ): Promise<{ checkpoints: Checkpoint[]; outcome: RecognizedSpeech | string }> {
    let left = calls;
    const mortal = (engine: Engine | null | undefined): Engine | null => {
      if (!engine) return null;
      const count = () => {
        if (left-- <= 0) throw new Error("killed");
      };
      const { detectLanguages } = engine;
      return {
        ...engine,
        recognize: async (...args) => {
          count();
          return await engine.recognize(...args);
        },
        ...(detectLanguages && {
          detectLanguages: async (...args) => {
            count();
            return await detectLanguages(...args);
          },
        }),
      };
    };
    const cache = new CheckpointCache(before, { recordsNew: true });
    const checkpoints: Checkpoint[] = [];
    const onSettled = (settled: number) =>
      checkpoints.push(...[cache.takeCheckpoint(settled)].filter((one) => one !== null));
    const options = { signal: new AbortController().signal, onSettled };
    try {
      const { bundled, multilingual } = engines;
      const both = { bundled: mortal(bundled), multilingual: mortal(multilingual) };
      const recognizer = createRecognizer(
        cache.wrapEngines({ ...NOTHING, ...engines, ...both }),
        groups.some(({ utterances }) => utterances.some(({ channel }) => channel !== undefined)),
      );
      for (const { utterances } of groups) await recognizer.recognize(utterances, options);
      return { checkpoints, outcome: await recognizer.finish(1e4, options) };
    } catch (error) {
      return { checkpoints, outcome: (error as Error).message };
    }
  }
});

// Real models, which are slow on a busy machine.
describe("a recording whose transcription is ended again and again", { timeout: 180_000 }, () => {
  const BUNDLED = { bundled: true, multilingual: null, bundledTakesEnglish: false, remedy: "" };

  async function open(parts: EngineSelection) {
    const decoder = await openDecoder();
    const engines = await openEngines(parts, { threads: 2 });
    const voiceActivity = await openVoiceActivityWorker();
    onTestFinished(async () => {
      await voiceActivity.close();
      await closeEngines(engines);
    });
    let scored = 0;
    const counting: VoiceActivityDetector = {
      probabilities: (...args) => {
        scored++;
        return voiceActivity.probabilities(...args);
      },
      close: () => voiceActivity.close(),
    };
    /** Ends after this many checkpoints, or with the recording. */
    const attempt = async (path: string, checkpoints: Checkpoint[], maxCheckpoints: number) => {
      const abort = new AbortController();
      const reported: Checkpoint[] = [];
      const progress: TranscribeProgress[] = [];
      const waveforms: Waveform[] = [];
      scored = 0;
      const result = await transcribe(path, {
        ...{
          decoder,
          engines,
          voiceActivity: counting,
          maxDurationSeconds: 3600,
          signal: abort.signal,
          checkpoints,
        },
        onCheckpoint: (checkpoint) => {
          reported.push(checkpoint);
          if (reported.length >= maxCheckpoints) abort.abort(new Error("ended"));
        },
        onProgress: (one) => progress.push(one),
        onWaveform: (waveform) => waveforms.push(waveform),
      }).catch((error: Error) => {
        if (error.message !== "ended") throw error;
        return null;
      });
      return { transcript: result as Transcript | null, reported, progress, waveforms, scored };
    };
    return attempt;
  }

  function scratch(): string {
    const folder = mkdtempSync(join(tmpdir(), "speech-checkpoints-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    return folder;
  }

  const soundOf = (name: (typeof LANGUAGE_RECORDINGS)[number]) => decoded(languageRecording(name).path);

  /** Every attempt ends after its first checkpoint, until one completes. */
  async function endedAgainAndAgain(attempt: Awaited<ReturnType<typeof open>>, path: string) {
    const checkpoints: Checkpoint[] = [];
    for (let attempts = 1; ; attempts++) {
      const last = await attempt(path, checkpoints, 1);
      if (last.transcript !== null) return { checkpoints, last, attempts };
      checkpoints.push(...last.reported);
    }
  }

  const withoutStages = ({ stages: _, ...transcript }: Transcript) => transcript;

  test("has the words, languages and waveform of an uninterrupted run, and computes nothing twice", async () => {
    const path = join(scratch(), "long.wav");
    const sentences = Array.from({ length: 52 }, (_, index) => [
      spoken(ENGLISH[index % ENGLISH.length]!).samples,
      [0.25, 0.5, 2.5][index % 3]!,
    ]).flat();
    writeFileSync(path, wavFile(sequence(...sentences)));
    const attempt = await open(BUNDLED);
    const whole = await attempt(path, [], Number.POSITIVE_INFINITY);
    expect(whole.transcript!.duration).toBeGreaterThan(241);

    const { checkpoints, last, attempts } = await endedAgainAndAgain(attempt, path);
    expect(attempts).toBeGreaterThan(2);
    expect(withoutStages(last.transcript!)).toEqual(withoutStages(whole.transcript!));
    expect(last.waveforms).toEqual(whole.waveforms);
    expect(last.progress[0]).toEqual({
      done: Math.max(...checkpoints.map(({ settledSeconds }) => settledSeconds)),
      duration: whole.transcript!.duration,
      remainingSeconds: null,
    });
    // The service measures by these reports how long resuming took.
    expect(last.progress[1]).toEqual(last.progress[0]);
    expect(last.scored).toBeLessThan(whole.scored);
    const keys = [...checkpoints, ...last.reported].flatMap(({ results }) =>
      parseResults(results)!.recognitions.map(([key]) => key),
    );
    expect(new Set(keys).size).toBe(keys.length);
  });

  test("detects each language where it is spoken, also if interrupted beside a change", async () => {
    const attempt = await open({
      bundled: true,
      multilingual: { kind: "whisper", folder: tinyWhisperModel },
      bundledTakesEnglish: true,
      remedy: "",
    });
    const path = join(scratch(), "mixed.wav");
    const names = ["mixed", "french"] as const;
    writeFileSync(path, wavFile(sequence(...(await Promise.all(names.map(soundOf))))));
    const whole = await attempt(path, [], Number.POSITIVE_INFINITY);
    expect(new Set(whole.transcript!.languageSegments.map(({ language }) => language)).size).toBe(4);
    const { last, attempts } = await endedAgainAndAgain(attempt, path);
    expect(withoutStages(last.transcript!)).toEqual(withoutStages(whole.transcript!));
    expect(attempts).toBeGreaterThan(2);
  });
});
