import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { openDecoder } from "../../src/media/open-decoder.ts";

/** Speech that `../fixtures/speech/make.ts` created, with its text and word times in seconds. */
export interface Spoken {
  samples: Float32Array;
  text: string;
  words: { word: string; start: number | null; end: number | null }[];
}

export function spoken(name: string): Spoken {
  const file = (ending: string) => new URL(`../fixtures/speech/${name}.${ending}`, import.meta.url);
  const { text, words } = JSON.parse(readFileSync(file("json"), "utf8"));
  return { samples: muLawSamples(readFileSync(file("wav"))), text, words };
}

export const ENGLISH = Array.from({ length: 10 }, (_, index) => `english-${index + 1}`);

/** Samples of a µ-law WAV file (ITU-T G.711), −1 … 1. */
function muLawSamples(file: Buffer): Float32Array {
  const start = file.indexOf("data") + 8;
  const bytes = file.subarray(start, start + file.readUInt32LE(start - 4));
  return Float32Array.from(bytes, (byte) => {
    const code = ~byte & 0xff;
    const magnitude = (((code & 0x0f) << 3) + 0x84) << ((code & 0x70) >> 4);
    return ((code & 0x80 ? -1 : 1) * (magnitude - 0x84)) / 32_768;
  });
}

/** Returns the path of a recording of real speech next to the repository; null if it is missing. */
export function realSpeech(name: string): string | null {
  const path = fileURLToPath(new URL(`../../../../shared/audio/${name}`, import.meta.url));
  return existsSync(path) ? path : null;
}

/** Decodes a recording with the installed decoder. */
export async function decoded(path: string): Promise<Float32Array> {
  const { signal } = new AbortController();
  const decoder = await openDecoder();
  const probe = await decoder.probe(path, signal);
  const { chunks } = decoder.decode(path, { probe, maxDurationSeconds: 3600, signal });
  return Float32Array.from((await Array.fromAsync(chunks)).flatMap((chunk) => [...chunk]));
}

export function plainWords(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];
}

/** Aligns two texts. Returns the index pairs of matching words, and the word error rate. */
export function compareWords(said: readonly string[], recognized: readonly string[]) {
  const width = recognized.length + 1;
  const distance = new Uint32Array((said.length + 1) * width);
  const at = (i: number, j: number) => distance[i * width + j] as number;
  for (let i = 0; i <= said.length; i++) {
    for (let j = 0; j <= recognized.length; j++) {
      distance[i * width + j] =
        i === 0 || j === 0
          ? i + j
          : Math.min(
              at(i - 1, j) + 1,
              at(i, j - 1) + 1,
              at(i - 1, j - 1) + Number(said[i - 1] !== recognized[j - 1]),
            );
    }
  }
  const agreeing: [said: number, recognized: number][] = [];
  for (let i = said.length, j = recognized.length; i > 0 && j > 0; ) {
    if (said[i - 1] === recognized[j - 1] && at(i, j) === at(i - 1, j - 1)) agreeing.push([--i, --j]);
    else if (at(i, j) === at(i - 1, j - 1) + 1) [i, j] = [i - 1, j - 1];
    else if (at(i, j) === at(i - 1, j) + 1) i--;
    else j--;
  }
  return { agreeing, errorRate: at(said.length, recognized.length) / said.length };
}

export function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] as number;
}
