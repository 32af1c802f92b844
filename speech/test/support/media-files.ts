import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const FIXTURES = fileURLToPath(new URL("../fixtures/media/", import.meta.url));

/** Returns the path of a file that `../fixtures/media/make-media.sh` created. */
export function fixture(name: string): string {
  return join(FIXTURES, name);
}

export type Change = (bytes: Buffer) => Uint8Array;

/** Writes a changed copy of a fixture, and returns its path. */
export async function changed(folder: string, name: string, change: Change): Promise<string> {
  return written(folder, name, change(await readFile(fixture(name))));
}

export async function written(folder: string, name: string, bytes: Uint8Array | string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, bytes);
  return path;
}

export function cutTo(share: number): Change {
  return (bytes) => bytes.subarray(0, Math.floor(bytes.length * share));
}

/** Overwrites part of the file with noise, the same on every run. */
export function damaged(fromShare: number, toShare: number): Change {
  return (bytes) => {
    const copy = Buffer.from(bytes);
    const from = Math.floor(bytes.length * fromShare);
    noise(Math.floor(bytes.length * toShare) - from).copy(copy, from);
    return copy;
  };
}

/** Overwrites all media data with noise. Requires that the index comes first; it stays intact. */
export const noiseInMdat: Change = (bytes) => {
  const start = bytes.indexOf("mdat") + 4;
  return Buffer.concat([bytes.subarray(0, start), noise(bytes.length - start)]);
};

/** Removes the index, which ffmpeg writes last by default. */
export const withoutMoov: Change = (bytes) => bytes.subarray(0, bytes.indexOf("moov") - 4);

export const unknownCodec: Change = (bytes) => {
  const copy = Buffer.from(bytes);
  copy.write("zzzz", copy.indexOf("mp4a"), "latin1");
  copy.write("free", copy.indexOf("esds"), "latin1");
  return copy;
};

/** Makes every track of an MP4 refer to media at a URL. The index must come last. */
export function referencing(url: string): Change {
  const place = Buffer.from(`${url}\0`, "latin1");
  const grow = (bytes: Buffer): Buffer => {
    const parts: Buffer[] = [];
    for (let at = 0; at < bytes.length; ) {
      const size = bytes.readUInt32BE(at);
      const type = bytes.toString("latin1", at + 4, at + 8);
      let body: Buffer = bytes.subarray(at + 8, at + size);
      if (["moov", "trak", "mdia", "minf", "dinf"].includes(type)) body = grow(body);
      // The entries follow version, flags and a count.
      if (type === "dref") body = Buffer.concat([body.subarray(0, 8), grow(body.subarray(8))]);
      // Without flag 1, which means that the media are in this file.
      if (type === "url ") body = Buffer.concat([Buffer.alloc(4), place]);
      const header = Buffer.from(bytes.subarray(at, at + 8));
      header.writeUInt32BE(body.length + 8);
      parts.push(header, body);
      at += size;
    }
    return Buffer.concat(parts);
  };
  return grow;
}

/** Bytes that look random and are the same on every run (a linear congruential generator). */
export function noise(length: number): Buffer {
  let state = 12345;
  return Buffer.from(
    Array.from({ length }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state >>> 24;
    }),
  );
}

/** 16-bit PCM at 8 kHz; `sample` returns −1 … 1 for a time in seconds and a channel. */
export function wav(
  channels: number,
  seconds: number,
  sample: (at: number, channel: number) => number,
): Buffer {
  const rate = 8000;
  const data = Buffer.alloc(rate * seconds * channels * 2);
  for (let i = 0; i < rate * seconds; i++) {
    for (let channel = 0; channel < channels; channel++) {
      data.writeInt16LE(Math.round(sample(i / rate, channel) * 32767), (i * channels + channel) * 2);
    }
  }
  const header = Buffer.alloc(44);
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(36 + data.length, 4);
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * channels * 2, 28);
  header.writeUInt16LE(channels * 2, 32);
  header.writeUInt16LE(16, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(data.length, 40);
  return Buffer.concat([header, data]);
}

/** Returns the signal of the fixtures at a time in seconds: three beeps of 60 ms at 1 kHz. */
export function beep(at: number): number {
  const sounds = [0.5, 1.25, 2.25].some((start) => at >= start && at < start + 0.06);
  return sounds ? 0.5 * Math.sin(2 * Math.PI * 1000 * at) : 0;
}
