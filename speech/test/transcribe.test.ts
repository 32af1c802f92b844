import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Engine } from "../src/engines/engine.ts";
import { openOpenAi } from "../src/engines/openai/openai.ts";
import type { Decoder } from "../src/media/media.ts";
import { openDecoder } from "../src/media/open-decoder.ts";
import { openVoiceActivityWorker } from "../src/processes/model-worker.ts";
import { closeEngines, openEngines } from "../src/processes/open-engines.ts";
import type { Engines } from "../src/recognition/recognizer.ts";
import { type TranscribeOptions, transcribe } from "../src/transcribe.ts";
import type { TranscribeProgress, Transcript } from "../src/transcript.ts";
import type { VoiceActivityDetector } from "../src/vad/voice-activity.ts";
import { delayed, mixed, raised, textsOfCall, twoChannelCall } from "./support/calls.ts";
import { nonSpeech } from "./support/sounds.ts";
import { compareWords, ENGLISH, plainWords, quantile, realSpeech, spoken } from "./support/spoken.ts";
import { startTranscriptionServer } from "./support/transcription-servers.ts";
import { sequence, theChildren, theWeather, wavFile } from "./support/wav.ts";

const BUNDLED = {
  bundled: true,
  multilingual: null,
  bundledTakesEnglish: false,
  remedy: "Install a multilingual model.",
};
let folder: string;
let decoder: Decoder;
let engines: Engines;
let voiceActivity: VoiceActivityDetector;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "speech-transcribe-"));
  decoder = await openDecoder();
  engines = await openEngines(BUNDLED, { threads: 2 });
  voiceActivity = await openVoiceActivityWorker();
});
afterAll(async () => {
  await voiceActivity.close();
  await closeEngines(engines);
  rmSync(folder, { recursive: true });
});

function run(path: string, options: Partial<TranscribeOptions> = {}) {
  const signal = new AbortController().signal;
  return transcribe(path, {
    decoder,
    engines,
    voiceActivity,
    maxDurationSeconds: 43_200,
    signal,
    ...options,
  });
}

async function transcriptOf(path: string, options?: Partial<TranscribeOptions>): Promise<Transcript> {
  const result = await run(path, options);
  if (result.outcome !== "transcribed") throw new Error(`skipped: ${result.reason}`);
  return result;
}

function written(name: string, samples: Float32Array): string {
  const path = join(folder, name);
  writeFileSync(path, wavFile(samples));
  return path;
}

function fixture(path: string): string {
  return fileURLToPath(new URL(`fixtures/${path}`, import.meta.url));
}

function expectTimesInOrder({ words, duration }: Transcript): void {
  let free = 0;
  for (const { word, start, end } of words) {
    expect(word).toMatch(/^\S+$/);
    expect(start).toBeGreaterThanOrEqual(free);
    expect(end).toBeGreaterThanOrEqual(start);
    free = end;
  }
  expect(free).toBeLessThanOrEqual(duration);
}

describe("a recording with two channels", () => {
  const call = twoChannelCall({ pauseSeconds: -0.3 });
  const stereo = (name: string, first: Float32Array, second: Float32Array): string => {
    const path = join(folder, name);
    writeFileSync(path, wavFile(first, second));
    return path;
  };

  test("of a call has the words of each speaker, without the leakage from the other channel", async () => {
    const [first, second] = call;
    const leaking = [
      mixed(first, delayed(raised(second, -20), 3)),
      mixed(second, delayed(raised(first, -20), 3)),
    ] as const;
    const transcript = await transcriptOf(stereo("call.wav", ...leaking));
    expectTimesInOrder(transcript);
    expect(transcript.language).toBe("en");
    for (const [index, text] of textsOfCall().entries()) {
      const words = transcript.words.filter(({ channel }) => channel === index + 1);
      const recognized = plainWords(words.map(({ word }) => word).join(" "));
      expect(compareWords(plainWords(text), recognized).errorRate).toBeLessThan(0.15);
    }
    expect(new Set(transcript.words.map(({ channel }) => channel))).toEqual(new Set([1, 2]));
  });

  test("of ordinary stereo has exactly the words of the same sound in mono", async () => {
    const sound = mixed(...twoChannelCall({ sentences: 3 }));
    const mono = await transcriptOf(written("sound.wav", sound));
    expect(mono.words.length).toBeGreaterThan(20);
    const { words } = await transcriptOf(stereo("same.wav", sound, sound));
    expect(words).toEqual(mono.words);
    const half = await transcriptOf(written("half.wav", raised(sound, -6.0206)));
    const silent = await transcriptOf(stereo("silent.wav", sound, new Float32Array(sound.length)));
    expect(silent.words.map(({ word }) => word)).toEqual(half.words.map(({ word }) => word));
    expect(silent.words.some(({ channel }) => channel !== undefined)).toBe(false);
  });
});

describe("where nobody speaks there are no words", () => {
  const { silence, ...sounds } = nonSpeech(6);

  for (const [name, samples] of Object.entries(sounds)) {
    test(`${name} is a transcript without language`, async () => {
      const transcript = await transcriptOf(written("sound.wav", samples));
      expect(transcript).toMatchObject({ words: [], language: "zxx", duration: 6 });
    });
  }

  test.each(Object.keys(sounds))(
    "%s that is quiet, and therefore raised, has no words either",
    async (name) => {
      const quiet = sounds[name]!.map((sample) => 0.02 * sample);
      expect(await transcriptOf(written("quiet.wav", quiet))).toMatchObject({ words: [], language: "zxx" });
    },
  );

  test("digital silence is skipped", async () => {
    const result = await run(written("silence.wav", silence!));
    expect(result).toEqual({ outcome: "skipped", reason: "silent_audio_track", duration: 6 });
  });

  test("a video without sound is skipped", async () => {
    expect(await run(fixture("media/video-only.mp4"))).toMatchObject({
      outcome: "skipped",
      reason: "no_audio_track",
    });
  });
});

describe("words stand if they are spoken", () => {
  test.each([-20, -40, -50])("although the recording is %d dB quieter", async (decibels) => {
    const parts = ENGLISH.slice(0, 3).map((name) => spoken(name));
    const samples = Float32Array.from(parts.flatMap((part) => [...part.samples, ...new Float32Array(8_000)]));
    const textAt = async (gain: number) => {
      const { words } = await transcriptOf(
        written(
          "level.wav",
          samples.map((sample) => sample * gain),
        ),
      );
      return words.flatMap(({ word }) => plainWords(word));
    };
    const [ordinary, quiet] = [await textAt(1), await textAt(10 ** (decibels / 20))];
    expect(compareWords(ordinary, quiet).agreeing.length).toBeGreaterThanOrEqual(0.85 * ordinary.length);
  });

  test("although they are a term of the vocabulary that a server was sent", async () => {
    const answer = (prompt: string | null) => (prompt === null ? "Sub text." : "Subtext.");
    const server = await startTranscriptionServer({
      responder: (_, { prompt }) => ({ text: answer(prompt) }),
    });
    const multilingual = await openOpenAi({ servers: [{ url: server.origin, apiKey: null }], model: "made" });
    try {
      const { words } = await transcriptOf(written("term", sequence(0.5, theChildren, 0.5)), {
        engines: { bundled: null, multilingual, bundledTakesEnglish: false, remedy: "" },
        vocabulary: ["Subtext"],
      });
      expect(words.map(({ word }) => word)).toEqual(["Subtext."]);
    } finally {
      await multilingual.close();
      await server.stop();
    }
  });

  test("although every second turn is 30 dB quieter", async () => {
    const turns = ENGLISH.slice(0, 4).map((name) => spoken(name).samples);
    const textWith = async (decibels: number) => {
      const parts = turns.flatMap((turn, index) => [index % 2 === 0 ? turn : raised(turn, decibels), 0.4]);
      const { words } = await transcriptOf(written("turns.wav", sequence(...parts)));
      return words.flatMap(({ word }) => plainWords(word));
    };
    const [ordinary, alternating] = [await textWith(0), await textWith(-30)];
    expect(compareWords(ordinary, alternating).agreeing.length).toBeGreaterThanOrEqual(0.9 * ordinary.length);
  });

  test("words beside a pause begin within 100 ms of the truth and end within 200 ms", async () => {
    const [before, after] = [spoken("english-1"), spoken("english-2")];
    for (const pause of [0.4, 1, 1.7, 4]) {
      const path = written("pause.wav", sequence(1, before.samples, pause, after.samples, 1));
      const transcript = await transcriptOf(path);
      expectTimesInOrder(transcript);
      const pauseStarts = 1 + before.samples.length / 16_000;
      const next = transcript.words.findIndex(({ start }) => start > pauseStarts);
      const first = transcript.words[0]!;
      const last = transcript.words[next - 1]!;
      expect([last.word, transcript.words[next]!.word]).toEqual(["umbrella.", "The"]);
      expect(Math.abs(first.start - 1)).toBeLessThan(0.1);
      expect(Math.abs(last.end - pauseStarts)).toBeLessThan(0.2);
      expect(Math.abs(transcript.words[next]!.start - (pauseStarts + pause))).toBeLessThan(0.1);
      expect(Math.abs(transcript.words.at(-1)!.end - (transcript.duration - 1))).toBeLessThan(0.2);
    }
  });

  test("audio that begins after the picture is timed as the player plays it", async () => {
    const transcript = await transcriptOf(fixture("vad/the-children-late.mp4"));
    expectTimesInOrder(transcript);
    expect(Math.abs(transcript.words[0]!.start - 3)).toBeLessThan(0.1);
  });

  test("a recording of many minutes has every sentence once, in order, at its time", async () => {
    const { parts, said } = manyMinutes();
    const transcript = await transcriptOf(written("long.wav", sequence(...parts)));
    expect(transcript.duration).toBeGreaterThan(300);
    expectTimesInOrder(transcript);
    const { agreeing, errorRate } = compareWords(
      said.map(({ word }) => word),
      transcript.words.map(({ word }) => plain(word)),
    );
    expect(errorRate).toBeLessThan(0.15);
    const errors = agreeing
      .filter(([at]) => said[at]!.start !== null)
      .map(([at, index]) => Math.abs(transcript.words[index]!.start - said[at]!.start!));
    expect(quantile(errors, 0.5)).toBeLessThan(0.08);
    expect(quantile(errors, 0.9)).toBeLessThan(0.25);
    expect(Math.max(...errors)).toBeLessThan(1);
    expect(transcript.language).toBe("en");
  });
});

/** Six rounds of ten English sentences with pauses of all lengths, and each word with its start where it is known. */
function manyMinutes() {
  const parts: (Float32Array | number)[] = [];
  const said: { word: string; start: number | null }[] = [];
  let at = 0;
  const add = (part: Float32Array | number) => {
    parts.push(part);
    at += typeof part === "number" ? part : part.length / 16_000;
  };
  for (let sentence = 0; sentence < 60; sentence++) {
    const { samples, words } = spoken(ENGLISH[sentence % ENGLISH.length]!);
    for (const { word, start } of words)
      said.push({ word: plain(word), start: start === null ? null : at + start });
    add(samples);
    add([0.25, 0.5, 1, 0.125, 3][sentence % 5]!);
  }
  return { parts, said };
}

function plain(word: string): string {
  return plainWords(word).join("");
}

describe("the language", () => {
  test("English is detected", async () => {
    const transcript = await transcriptOf(
      written("english.wav", sequence(0.3, theWeather, 0.5, theChildren)),
    );
    expect(transcript.language).toBe("en");
    expect(transcript.engine).toBe("moonshine-tiny");
    expect(transcript.decoder).toBe(decoder.name);
  });

  test("another language fails, without hallucinated English, and says what to install", async () => {
    await expect(run(fixture("speech/es.wav"))).rejects.toMatchObject({
      code: "language_unsupported",
      retryable: false,
      message: expect.stringContaining("Install a multilingual model"),
    });
  });

  test("a few seconds of another language are refused as undetermined, without hallucinated words", async () => {
    await expect(run(fixture("speech/fr.wav"))).rejects.toMatchObject({ code: "language_undetermined" });
  });
});

describe("while it works", () => {
  test("progress reaches the end only when the utterances that were held back are recognized", async () => {
    const seen: TranscribeProgress[] = [];
    const seenByEngine: (number | undefined)[] = [];
    const engine: Engine = {
      name: "fake",
      languages: ["en", "de"],
      maxUtteranceSeconds: 28,
      detectLanguages: async (utterances) => utterances.map(() => new Map([["en", 0.9]])),
      recognize: async (utterances) => {
        seenByEngine.push(seen.at(-1)?.done);
        const statistics = { meanLogProbability: -0.1, compressionRatio: 1, noSpeechProbability: 0 };
        return utterances.map(() => ({ words: [], language: "en", truncated: false, ...statistics }));
      },
      close: async () => {},
    };
    const { duration } = await transcriptOf(written("held-back.wav", sequence(0.5, theChildren, 0.5)), {
      engines: { ...BUNDLED, bundled: null, multilingual: engine },
      onProgress: (progress) => seen.push(progress),
    });
    expect(seenByEngine).toHaveLength(1);
    expect(seenByEngine[0]).toBeLessThan(1);
    expect(seen.at(-1)).toEqual({ done: duration, duration, remainingSeconds: 0 });
  });

  test("progress grows from nothing towards the end", async () => {
    const seen: TranscribeProgress[] = [];
    const path = written("progress.wav", sequence(...manyMinutes().parts));
    const { duration } = await transcriptOf(path, { onProgress: (progress) => seen.push(progress) });
    expect(seen[0]).toEqual({ done: 0, duration, remainingSeconds: null });
    expect(seen.at(-1)).toEqual({ done: duration, duration, remainingSeconds: 0 });
    expect(seen.length).toBeGreaterThan(1);
    for (const [index, { done }] of seen.entries()) {
      expect(done).toBeGreaterThan(seen[index - 1]?.done ?? -1);
      expect(done).toBeLessThanOrEqual(duration);
    }
  });

  test("an abort ends it with the signal's reason and leaves its parts usable", async () => {
    const path = written("aborted.wav", sequence(...manyMinutes().parts));
    const abort = new AbortController();
    const onProgress = () => setTimeout(() => abort.abort(new Error("deleted")), 100);
    await expect(run(path, { signal: abort.signal, onProgress })).rejects.toThrow("deleted");
    const transcript = await transcriptOf(written("after.wav", sequence(0.5, theChildren, 0.5)));
    expect(transcript.words[0]!.word).toBe("Children");
  });

  test("a recording longer than allowed is refused", async () => {
    const path = written("too-long.wav", sequence(theWeather, 1, theChildren));
    await expect(run(path, { maxDurationSeconds: 2 })).rejects.toMatchObject({ code: "media_too_long" });
  });
});

describe("real recordings", () => {
  const jfk = realSpeech("jfk.wav");
  const lucier = realSpeech("lucier.mp3");
  const reason = "the recordings are not beside the project";

  test("a clear address is transcribed word for word", async ({ skip }) => {
    if (jfk === null) return skip(reason);
    const { words } = await transcriptOf(jfk);
    const said =
      "and so my fellow americans ask not what your country can do for you ask what you can do for your country";
    expect(plainWords(words.map(({ word }) => word).join(" "))).toEqual(said.split(" "));
  });

  test("slow speech full of pauses is transcribed with at most 12 % of the words wrong", async ({ skip }) => {
    if (lucier === null) return skip(reason);
    const transcript = await transcriptOf(lucier);
    expectTimesInOrder(transcript);
    const said = plainWords(readFileSync(lucier.replace(".mp3", ".txt"), "utf8"));
    const recognized = plainWords(transcript.words.map(({ word }) => word).join(" "));
    expect(compareWords(said, recognized).errorRate).toBeLessThanOrEqual(0.12);
  });

  for (const name of ["japanese.mp3", "smartphone.mp3"]) {
    test(`${name} is refused as not English`, async ({ skip }) => {
      const path = realSpeech(name);
      if (path === null) return skip(reason);
      await expect(run(path)).rejects.toMatchObject({ code: "language_unsupported" });
    });
  }
});
