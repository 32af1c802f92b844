import type { ChannelPair } from "../../src/media/channel-pair.ts";
import { ENGLISH, spoken } from "./spoken.ts";

/** Returns a call in which two speakers alternate, one per channel. With a negative pause, they interrupt each other. */
export function twoChannelCall({ pauseSeconds = 0.4, sentences = 6 } = {}): ChannelPair {
  const clips = ENGLISH.slice(0, sentences).map((name) => spoken(name).samples);
  const gap = Math.round(16_000 * pauseSeconds);
  const length = clips.reduce((sum, clip) => sum + clip.length + Math.max(0, gap), 16_000);
  const channels: ChannelPair = [new Float32Array(length), new Float32Array(length)];
  let at = 8000;
  for (const [index, clip] of clips.entries()) {
    channels[index % 2]!.set(clip, at);
    at += clip.length + gap;
  }
  return channels;
}

/** Returns the text of each speaker of `twoChannelCall`. */
export function textsOfCall(sentences = 6): [string, string] {
  const texts = ENGLISH.slice(0, sentences).map((name) => spoken(name).text);
  const of = (channel: number) => texts.filter((_, index) => index % 2 === channel).join(" ");
  return [of(0), of(1)];
}

export function mixed(a: Float32Array, b: Float32Array): Float32Array {
  return a.map((sample, index) => sample + b[index]!);
}

export function raised(samples: Float32Array, decibels: number): Float32Array {
  return samples.map((sample) => sample * 10 ** (decibels / 20));
}

export function delayed(samples: Float32Array, milliseconds: number): Float32Array {
  const by = Math.round(16 * milliseconds);
  const result = new Float32Array(samples.length);
  result.set(samples.subarray(0, samples.length - by), by);
  return result;
}

/** Returns white noise at a level in dBFS (RMS), the same on each call. */
export function whiteNoise(length: number, decibels: number): Float32Array {
  let seed = 1 - decibels;
  const peak = Math.sqrt(3) * 10 ** (decibels / 20);
  return Float32Array.from({ length }, () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return peak * (seed / 1_073_741_824 - 1);
  });
}
