import { open } from "node:fs/promises";
import { SpeechError } from "../errors.ts";
import { roundToMs } from "../lib/round-to-ms.ts";
import { SAMPLE_RATE } from "./audio.ts";
import type { AudioTrack, Backend, Inspection } from "./backend.ts";
import { SEPARATE_CHANNELS } from "./channel-pair.ts";
import { Chunker, type ChunkFormat } from "./chunker.ts";
import { summarizeDecode } from "./decode-summary.ts";
import type { DecodedAudio, DecodeOptions, Decoder, DecodeSummary, Probe } from "./media.ts";
import { MONO, StereoMix } from "./mono.ts";
import { findPoster } from "./poster/find-poster.ts";
import { Timeline } from "./timeline.ts";

/** Creates a decoder. Track selection, timestamps, the mono mix and the outcome do not depend on the media library. */
export function decoderOf(backend: Backend): Decoder {
  return {
    name: backend.name,
    probe: (path, signal) => probe(backend, path, signal),
    decode: (path, options) =>
      decode(backend, path, options, outputChannels(options.probe) === 1 ? MONO : new StereoMix()),
    decodeChannels: (path, options) => decode(backend, path, options, SEPARATE_CHANNELS),
    poster: (path, options) => findPoster(backend, path, options),
  };
}

async function probe(backend: Backend, path: string, signal: AbortSignal): Promise<Probe> {
  const inspection = await inspect(backend, path, signal);
  // The decoder may accept arbitrary bytes as a raw audio stream without frames.
  const [only] = inspection.streams === 1 ? inspection.audio : [];
  if (inspection.streams === 0 || (only !== undefined && only.sampleRate === 0)) {
    throw new SpeechError("unreadable_media", "The file contains neither audio nor video.");
  }
  const usable = usableTracks(inspection.audio);
  // The duration is missing or 0 if the recorder could not seek back to the header.
  const duration = inspection.duration || (await backend.measure(path, signal));
  const probeOf = (track: AudioTrack | null): Probe => ({
    duration: duration > 0 ? roundToMs(duration) : null,
    audioStream: track?.stream ?? null,
    channels: track?.channels ?? 0,
    audioOffset: track === null ? 0 : audioOffset(inspection, track),
    audioDuration: track?.duration ?? (inspection.streams === 1 ? duration : null),
    audioTrack: track === null ? 0 : inspection.audio.indexOf(track) + 1,
    otherTracks: [],
    hasUndecodableTrack: usable.length < inspection.audio.length,
  });
  const track = usable.find(({ isDefault }) => isDefault) ?? usable[0] ?? null;
  const otherTracks = usable.filter((other) => other !== track).map(probeOf);
  return { ...probeOf(track), otherTracks };
}

/** Newer libraries recognize playlists only by their file names and report others as unreadable. */
async function inspect(backend: Backend, path: string, signal: AbortSignal): Promise<Inspection> {
  try {
    return await backend.inspect(path, signal);
  } catch (error) {
    const unreadable = error instanceof SpeechError && error.code === "unreadable_media";
    if (unreadable && (await isPlaylist(path))) {
      throw new SpeechError("unsupported_media", "A playlist cannot be transcribed: it contains no media.");
    }
    throw error;
  }
}

async function isPlaylist(path: string): Promise<boolean> {
  const mark = Buffer.from("#EXTM3U");
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(mark.length), 0, mark.length, 0);
    return buffer.equals(mark);
  } finally {
    await file.close();
  }
}

/** @throws SpeechError `undecodable_audio` if none of the tracks can be decoded */
function usableTracks(tracks: readonly AudioTrack[]): AudioTrack[] {
  const usable = tracks.filter((track) => track.codec !== null && !track.encrypted);
  if (tracks.length > 0 && usable.length === 0) {
    const reason = tracks.some((track) => track.encrypted) ? "is encrypted" : "has an unknown codec";
    throw new SpeechError("undecodable_audio", `The audio ${reason}.`);
  }
  return usable;
}

function audioOffset(inspection: Inspection, track: AudioTrack): number {
  if (track.start === null || inspection.start === null) return 0;
  return Math.max(0, track.start - inspection.start);
}

function outputChannels(probe: Probe): 1 | 2 {
  return probe.channels === 1 ? 1 : 2;
}

function decode<Chunk>(
  backend: Backend,
  path: string,
  options: DecodeOptions,
  format: ChunkFormat<Chunk>,
): DecodedAudio<Chunk> {
  let summary: DecodeSummary | null = null;
  return {
    chunks: decodeChunks(backend, path, options, format, (result) => {
      summary = result;
    }),
    summary: () => {
      if (summary === null) throw new Error("The summary is not available before the last chunk.");
      return summary;
    },
  };
}

async function* decodeChunks<Chunk>(
  backend: Backend,
  path: string,
  { probe, maxDurationSeconds, signal }: DecodeOptions,
  format: ChunkFormat<Chunk>,
  finish: (summary: DecodeSummary) => void,
): AsyncGenerator<Chunk> {
  if (probe.audioStream === null) throw new Error("There is no audio stream to decode.");
  const duration = await plausibleDuration(backend, path, { probe, maxDurationSeconds, signal });
  const channels = outputChannels(probe);
  const running = backend.decode(path, {
    stream: probe.audioStream,
    channels,
    trackChannels: probe.channels,
    durationSeconds: duration ?? maxDurationSeconds,
    signal,
  });
  const timeline = new Timeline(probe.audioOffset);
  const chunker = new Chunker(channels, format);
  let decodedSamples = 0;
  for await (const blocks of running.blocks) {
    for (const block of blocks) {
      const length = block.samples.length / channels;
      decodedSamples += length;
      const { silence, drop } = timeline.place(block, length);
      if (probe.audioOffset + timeline.samples / SAMPLE_RATE > maxDurationSeconds + 1) {
        throw tooLong(maxDurationSeconds);
      }
      // `yield*` would be slower, because it awaits each generator even if it yields nothing.
      if (silence > 0) for (const chunk of chunker.addSilence(silence)) yield chunk;
      for (const chunk of chunker.add(block.samples, drop)) yield chunk;
    }
  }
  yield* chunker.flush();
  finish(
    summarizeDecode({
      samples: timeline.samples,
      decodedSeconds: decodedSamples / SAMPLE_RATE,
      peak: chunker.peak,
      audioOffset: probe.audioOffset,
      duration,
      audioDuration: expectedAudio(probe, duration),
      report: running.report(),
    }),
  );
}

/** Returns the track's duration, but at most that of the recording: a clock jump may have made it too long. */
function expectedAudio(probe: Probe, duration: number | null): number | null {
  if (probe.audioDuration == null || duration === null) return probe.audioDuration ?? null;
  return Math.min(probe.audioDuration, duration);
}

/** Before a recording is rejected as too long, its duration is measured, because its clock may have jumped. */
async function plausibleDuration(
  backend: Backend,
  path: string,
  { probe, maxDurationSeconds, signal }: DecodeOptions,
): Promise<number | null> {
  if (probe.duration === null || probe.duration <= maxDurationSeconds) return probe.duration;
  const measured = await backend.measure(path, signal);
  if (measured > maxDurationSeconds) throw tooLong(maxDurationSeconds);
  return measured;
}

function tooLong(maxDurationSeconds: number): SpeechError {
  const [unitSeconds, unit] =
    maxDurationSeconds < 60 ? [1, "s"] : maxDurationSeconds < 3600 ? [60, "min"] : [3600, "h"];
  const limit = `${Math.round((maxDurationSeconds / unitSeconds) * 100) / 100} ${unit}`;
  return new SpeechError("media_too_long", `The recording is longer than the limit of ${limit}.`);
}
