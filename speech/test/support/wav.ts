import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const HEADER_BYTES = 44;

/** Samples of a 16 kHz mono 16-bit WAV file with the plain 44-byte header, −1 … 1. */
function readWav(path: string): Float32Array {
  const pcm = readFileSync(path).subarray(HEADER_BYTES);
  return Float32Array.from({ length: pcm.length >> 1 }, (_, index) => pcm.readInt16LE(2 * index) / 32_768);
}

/** Returns a 16 kHz 16-bit WAV file. All channels must have the same length. */
export function wavFile(...channels: readonly [Float32Array, ...Float32Array[]]): Buffer {
  const count = channels.length;
  const frames = channels[0].length;
  const file = Buffer.alloc(HEADER_BYTES + 2 * count * frames);
  file.write("RIFF", 0);
  file.writeUInt32LE(file.length - 8, 4);
  file.write("WAVEfmt ", 8);
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(count, 22);
  file.writeUInt32LE(16_000, 24);
  file.writeUInt32LE(32_000 * count, 28);
  file.writeUInt16LE(2 * count, 32);
  file.writeUInt16LE(16, 34);
  file.write("data", 36);
  file.writeUInt32LE(2 * count * frames, 40);
  for (const [channel, samples] of channels.entries()) {
    for (const [index, sample] of samples.entries()) {
      const at = HEADER_BYTES + 2 * (count * index + channel);
      file.writeInt16LE(Math.round(Math.max(-1, Math.min(1, sample)) * 32_767), at);
    }
  }
  return file;
}

/** Concatenates clips; numbers are seconds of silence. */
export function sequence(...parts: readonly (Float32Array | number)[]): Float32Array {
  const clips = parts.map((part) => (typeof part === "number" ? new Float32Array(16_000 * part) : part));
  const whole = new Float32Array(clips.reduce((sum, clip) => sum + clip.length, 0));
  let at = 0;
  for (const clip of clips) {
    whole.set(clip, at);
    at += clip.length;
  }
  return whole;
}

export const theWeather = clip("the-weather");
export const theChildren = clip("the-children");

function clip(name: string): Float32Array {
  return readWav(fileURLToPath(new URL(`../fixtures/vad/${name}.wav`, import.meta.url)));
}
