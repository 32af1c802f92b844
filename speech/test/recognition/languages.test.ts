import { afterAll, beforeAll, expect, test } from "vitest";
import type { Engine } from "../../src/engines/engine.ts";
import { openWhisper } from "../../src/engines/whisper/whisper.ts";
import type { Decoder } from "../../src/media/media.ts";
import { openDecoder } from "../../src/media/open-decoder.ts";
import { transcribe } from "../../src/transcribe.ts";
import type { Transcript } from "../../src/transcript.ts";
import { openVoiceActivityDetector, type VoiceActivityDetector } from "../../src/vad/voice-activity.ts";
import {
  languageRecording,
  type RecordedSentence,
  tinyWhisperModel,
} from "../support/language-recordings.ts";
import { compareWords, plainWords } from "../support/spoken.ts";

let decoder: Decoder;
let whisper: Engine;
let voiceActivity: VoiceActivityDetector;

beforeAll(async () => {
  decoder = await openDecoder();
  whisper = await openWhisper({ folder: tinyWhisperModel, threads: 1 });
  voiceActivity = await openVoiceActivityDetector({ threads: 1 });
});
afterAll(async () => {
  await voiceActivity.close();
  await whisper.close();
});

async function transcriptOf(path: string): Promise<Transcript> {
  const result = await transcribe(path, {
    decoder,
    engines: { bundled: null, multilingual: whisper, bundledTakesEnglish: false, remedy: "" },
    voiceActivity,
    maxDurationSeconds: 3_600,
    signal: new AbortController().signal,
  });
  if (result.outcome !== "transcribed") throw new Error(`skipped: ${result.reason}`);
  return result;
}

/** Of sentences that it has not learned, the model takes a word now and then from another one. */
function expectWordsOf(sentences: readonly RecordedSentence[], { words }: Transcript): void {
  const said = sentences.flatMap(({ text }) => plainWords(text));
  const recognized = words.flatMap(({ word }) => plainWords(word));
  const { agreeing } = compareWords(said, recognized);
  expect(agreeing.length).toBeGreaterThanOrEqual(0.95 * recognized.length);
  expect(agreeing.length).toBeGreaterThanOrEqual(0.95 * said.length);
}

test.each([
  ["spanish", "es"],
  ["portuguese", "pt"],
  ["english", "en"],
  ["french", "fr"],
] as const)("a recording in %s is detected and transcribed as %s", async (name, language) => {
  const { path, sentences } = languageRecording(name);
  const transcript = await transcriptOf(path);
  expect(transcript.language).toBe(language);
  expect(transcript.languageSegments).toMatchObject([
    { language, engine: whisper.name, words: transcript.words.length },
  ]);
  expect(transcript.languageSegments[0]!.probability).toBeGreaterThan(0.9);
  expectWordsOf(sentences, transcript);
});

test("a recording of three languages is written segment by segment, each sentence in its own", async () => {
  const { path, sentences, languages } = languageRecording("mixed");
  const transcript = await transcriptOf(path);
  const { languageSegments, language } = transcript;
  expect(languageSegments.map((segment) => segment.language)).toEqual(languages);
  const seconds = new Map<string, number>();
  for (const sentence of sentences) {
    const spoken = sentence.words.at(-1)!.end - sentence.words[0]!.start;
    seconds.set(sentence.language, (seconds.get(sentence.language) ?? 0) + spoken);
    const segment = languageSegments.find(
      ({ start, end }) => start <= sentence.words[1]!.start && sentence.words[1]!.start < end,
    );
    expect(segment?.language).toBe(sentence.language);
  }
  expect(language).toBe([...seconds].toSorted(([, a], [, b]) => b - a)[0]![0]);
  expectWordsOf(sentences, transcript);
});

test("a recording without speech has no words", async () => {
  const { path } = languageRecording("nobody");
  expect(await transcriptOf(path)).toMatchObject({ words: [], language: "zxx", languageSegments: [] });
});
