import { openFfmpeg } from "../../src/media/ffmpeg.ts";
import type { Decoder, DecodeSummary, Probe } from "../../src/media/media.ts";
import { openNodeAv } from "../../src/media/node-av.ts";

const [ffmpeg, nodeAv] = await Promise.all([openFfmpeg(), openNodeAv()]);
if (ffmpeg === null) console.info("ffmpeg 5.1 or newer is not installed. Its tests are skipped.");
if (nodeAv === null) console.info("The optional package node-av is not installed. Its tests are skipped.");

/** The decoders of this machine. Every test runs with each of them. */
export const decoders: [name: string, decoder: Decoder][] = [];
if (ffmpeg !== null) decoders.push(["ffmpeg", ffmpeg]);
if (nodeAv !== null) decoders.push(["node-av", nodeAv]);

export interface Decoded {
  probe: Probe;
  summary: DecodeSummary;
  /** Times in seconds at which a sound begins after at least 0.1 s of silence. */
  onsets: number[];
  peak: number;
}

const never = new AbortController().signal;

export async function decodeAll(
  decoder: Decoder,
  path: string,
  maxDurationSeconds = 12 * 3600,
): Promise<Decoded> {
  const probe = await decoder.probe(path, never);
  const audio = decoder.decode(path, { probe, maxDurationSeconds, signal: never });
  const onsets: number[] = [];
  let peak = 0;
  let count = 0;
  let lastSound = Number.NEGATIVE_INFINITY;
  for await (const chunk of audio.chunks) {
    chunk.forEach((sample, i) => {
      peak = Math.max(peak, Math.abs(sample));
      if (Math.abs(sample) < 0.1) return;
      if (count + i - lastSound > 1600) onsets.push(probe.audioOffset + (count + i) / 16_000);
      lastSound = count + i;
    });
    count += chunk.length;
  }
  return { probe, summary: audio.summary(), onsets, peak };
}

/** Returns the code of the SpeechError that probing or decoding fails with. */
export async function failure(decoder: Decoder, path: string, maxDurationSeconds?: number): Promise<unknown> {
  return decodeAll(decoder, path, maxDurationSeconds).then(
    ({ summary }) => `decoded ${JSON.stringify(summary)}`,
    (error: { code?: unknown }) => error.code ?? error,
  );
}
