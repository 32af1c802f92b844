import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compileSpeaker, type SpokenText, speak } from "../../../speech/test/fixtures/speech/speak.ts";
import type { Random } from "../seeded.ts";

export const SAMPLE_RATE = 16_000;

/** Times are in seconds; null if the synthesizer did not report them for this word. */
export interface SpokenWord {
  word: string;
  start: number | null;
  end: number | null;
}

export interface Clip {
  samples: Float32Array;
  words: SpokenWord[];
}

/** Synthesizes speech with libespeak-ng and caches it for later runs. */
export class Speaker {
  readonly #folder: string;
  readonly #binary: string;

  /** @param folder created if it is missing */
  constructor(folder: string) {
    mkdirSync(folder, { recursive: true });
    this.#folder = folder;
    this.#binary = join(folder, "speak");
    compileSpeaker(this.#binary);
  }

  say(voice: string, wordsPerMinute: number, text: string): Clip {
    const key = createHash("sha256")
      .update(JSON.stringify([voice, wordsPerMinute, text]))
      .digest("hex");
    const cached = join(this.#folder, key.slice(0, 24));
    if (!existsSync(`${cached}.json`)) {
      const spoken = speak(this.#binary, voice, wordsPerMinute, text);
      writeFileSync(`${cached}.pcm`, spoken.pcm);
      writeFileSync(`${cached}.json`, JSON.stringify(spoken.words));
    }
    const words = JSON.parse(readFileSync(`${cached}.json`, "utf8")) as SpokenText["words"];
    return { samples: decodePcm(readFileSync(`${cached}.pcm`)), words };
  }
}

/** Decodes signed 16-bit little-endian PCM to samples in −1 … 1. */
export function decodePcm(pcm: Buffer): Float32Array {
  return Float32Array.from({ length: pcm.length >> 1 }, (_, index) => pcm.readInt16LE(2 * index) / 32_768);
}

export function decodeFile(path: string): Float32Array {
  const raw = ["-ar", String(SAMPLE_RATE), "-ac", "1", "-f", "s16le", "-"];
  return decodePcm(execFileSync("ffmpeg", ["-v", "error", "-i", path, ...raw], { maxBuffer: 1 << 28 }));
}

/** Concatenates clips; numbers are seconds of silence. */
export function joinClips(parts: readonly (Clip | number)[]): Clip {
  const lengths = parts.map((part) =>
    typeof part === "number" ? Math.round(part * SAMPLE_RATE) : part.samples.length,
  );
  const samples = new Float32Array(lengths.reduce((sum, length) => sum + length, 0));
  const words: SpokenWord[] = [];
  let at = 0;
  for (const [index, part] of parts.entries()) {
    if (typeof part !== "number") {
      samples.set(part.samples, at);
      words.push(...shifted(part.words, at / SAMPLE_RATE));
    }
    at += lengths[index] as number;
  }
  return { samples, words };
}

function shifted(words: readonly SpokenWord[], seconds: number): SpokenWord[] {
  return words.map(({ word, start, end }) => ({
    word,
    start: start === null ? null : start + seconds,
    end: end === null ? null : end + seconds,
  }));
}

/**
 * Mixes a background sound into a clip.
 * @param decibels signal-to-noise ratio of mean power; silence is not included in the mean
 */
export function addBackground(clip: Clip, sound: Float32Array, decibels: number): Clip {
  const gain = (rootMeanSquare(clip.samples) / rootMeanSquare(sound)) * 10 ** (-decibels / 20);
  const samples = clip.samples.map(
    (sample, index) => 0.7 * (sample + gain * (sound[index % sound.length] as number)),
  );
  return { samples, words: clip.words };
}

/** Multiplies the samples by a gain in decibels. */
export function amplified(samples: Float32Array, decibels: number): Float32Array {
  return samples.map((sample) => sample * 10 ** (decibels / 20));
}

/** Amplifies the samples until the loudest one is at full scale. */
export function atFullScale(samples: Float32Array): Float32Array {
  const peak = samples.reduce((highest, sample) => Math.max(highest, Math.abs(sample)), 0);
  return peak === 0 ? samples : samples.map((sample) => sample / peak);
}

function rootMeanSquare(samples: Float32Array): number {
  let energy = 0;
  let count = 0;
  for (const sample of samples) {
    if (Math.abs(sample) < 1e-4) continue;
    energy += sample ** 2;
    count++;
  }
  return Math.sqrt(energy / Math.max(1, count));
}

/** Draws random items without replacement. */
export function drawRandom<T>(items: readonly T[], count: number, random: Random): T[] {
  return items
    .map((item) => ({ item, rank: random() }))
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, count)
    .map(({ item }) => item);
}
