import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { SpeechError } from "@subtext/speech/errors";
import { openDecoder } from "@subtext/speech/media/open-decoder";
import type { Engines } from "@subtext/speech/recognition/recognizer";
import { transcribe } from "@subtext/speech/transcribe";
import type { TimedWord } from "@subtext/speech/transcript";
import { openVoiceActivityDetector } from "@subtext/speech/vad/voice-activity";
import { wavFile } from "../../../speech/test/support/wav.ts";
import { pinkNoise } from "./sounds.ts";
import { addBackground } from "./synthetic-speech.ts";

export interface RecognizedSpeech {
  words: TimedWord[];
  /** A language code, `refused` for a language that the engine does not support, or `skipped`. */
  language: string;
  /** The code of the error with which the transcription failed; null if it did not fail. */
  failure: string | null;
}

/** Runs the full pipeline from a file to words. */
export interface Transcriber {
  recognize(samples: Float32Array): Promise<RecognizedSpeech>;
  transcribeFile(path: string): Promise<RecognizedSpeech>;
  decode(path: string): Promise<Float32Array>;
  withNoise(path: string, decibels: number): Promise<Float32Array>;
  close(): Promise<void>;
}

/** @param folder for temporary WAV files */
export async function openTranscriber(folder: string, engines: Engines): Promise<Transcriber> {
  const decoder = await openDecoder();
  const voiceActivity = await openVoiceActivityDetector({ threads: 1 });
  const { signal } = new AbortController();

  async function transcribeFile(path: string): Promise<RecognizedSpeech> {
    try {
      const result = await transcribe(path, {
        decoder,
        engines,
        voiceActivity,
        maxDurationSeconds: 43_200,
        signal,
      });
      if (result.outcome === "skipped") return { words: [], language: "skipped", failure: null };
      return { words: result.words, language: result.language, failure: null };
    } catch (error) {
      if (error instanceof SpeechError && error.code === "language_unsupported") {
        return { words: [], language: "refused", failure: error.code };
      }
      if (error instanceof SpeechError && error.code === "language_undetermined") {
        return { words: [], language: "und", failure: error.code };
      }
      throw error;
    }
  }

  async function decode(path: string): Promise<Float32Array> {
    const probe = await decoder.probe(path, signal);
    const { chunks } = decoder.decode(path, { probe, maxDurationSeconds: 3600, signal });
    return Float32Array.from((await Array.fromAsync(chunks)).flatMap((chunk) => [...chunk]));
  }

  return {
    transcribeFile,
    decode,
    recognize(samples) {
      const path = join(folder, "clip.wav");
      writeFileSync(path, wavFile(samples));
      return transcribeFile(path);
    },
    async withNoise(path, decibels) {
      return addBackground({ samples: await decode(path), words: [] }, pinkNoise(30), decibels).samples;
    },
    async close() {
      await voiceActivity.close();
      await engines.bundled?.close();
      await engines.multilingual?.close();
    },
  };
}
