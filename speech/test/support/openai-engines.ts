import { afterEach, expect } from "vitest";
import type { Engine, RecognitionResult } from "../../src/engines/engine.ts";
import { type OpenAiOptions, openOpenAi } from "../../src/engines/openai/openai.ts";
import { SpeechError } from "../../src/errors.ts";
import type { Utterance } from "../../src/vad/utterances.ts";
import { type ToneWord, tones } from "./tone-words.ts";
import { speaches } from "./transcription-server-formats.ts";
import {
  startTranscriptionServer,
  type TranscriptionServer,
  type TranscriptionServerOptions,
} from "./transcription-servers.ts";

/** Returns functions that start servers and engines, which stop after the test. */
export function serversAndEngines() {
  const opened: { stop(): Promise<void> }[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((one) => one.stop()));
  });
  return {
    async started(options: Partial<TranscriptionServerOptions> = {}): Promise<TranscriptionServer> {
      const server = await startTranscriptionServer({ responder: speaches, ...options });
      opened.push(server);
      return server;
    },
    async engineOf(urls: readonly string[], options: Partial<OpenAiOptions> = {}): Promise<Engine> {
      const engine = await openOpenAi({
        servers: urls.map((url) => ({ url, apiKey: null })),
        model: "whisper-1",
        cooldownMs: 5,
        maxCooldownMs: 20,
        ...options,
      });
      opened.push({ stop: () => engine.close() });
      return engine;
    },
  };
}

/** Returns an utterance: after a second of silence, each word takes 0.4 s and follows a pause of 0.1 s. */
export function saying(words: readonly string[], start = 0): Utterance & { said: ToneWord[] } {
  const said = words.map((word, index) => ({ word, start: 1.1 + 0.5 * index, end: 1.5 + 0.5 * index }));
  return { samples: tones(said, 2 + 0.5 * words.length), start, said };
}

export function inMedia(said: readonly ToneWord[], offset: number): ToneWord[] {
  return said.map(({ word, start, end }) => ({ word, start: start + offset, end: end + offset }));
}

export function texts({ words }: RecognitionResult): string[] {
  return words.map(({ word }) => word);
}

/** Returns the error that the promise rejects with. */
export async function failure(result: Promise<unknown>): Promise<SpeechError> {
  const error = await result.then(
    () => null,
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(SpeechError);
  return error as SpeechError;
}
