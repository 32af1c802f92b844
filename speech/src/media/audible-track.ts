import { SpeechError } from "../errors.ts";
import { isSharedSilence } from "./audio.ts";
import { SILENCE_PEAK } from "./decode-summary.ts";
import type { DecodeOptions, Decoder, Probe } from "./media.ts";

/** Each silent track requires a pass over the whole file, so a file with a thousand tracks would take hours. */
const MAX_TRACKS = 32;

/**
 * Returns the probe of the first audio track with sound, starting with the default track. If no track has sound, returns
 * the first damaged track, which may have had sound, or else the default track. A single track is not decoded.
 * @throws SpeechError
 */
export async function chooseAudibleTrack(
  decoder: Decoder,
  path: string,
  options: DecodeOptions,
): Promise<Probe> {
  const { probe } = options;
  if (probe.otherTracks.length === 0) return probe;
  const tracks = [probe, ...probe.otherTracks];
  let damaged: Probe | null = null;
  for (const track of tracks.slice(0, MAX_TRACKS)) {
    const sound = await findSound(decoder, path, { ...options, probe: track });
    if (sound === "found") return track;
    if (sound === "unknown") damaged ??= track;
  }
  if (damaged === null && tracks.length > MAX_TRACKS) {
    throw new SpeechError(
      "unsupported_media",
      `The first ${MAX_TRACKS} of ${tracks.length} audio tracks are silent.`,
    );
  }
  return damaged ?? probe;
}

/** Decodes a track up to its first sound. */
async function findSound(
  decoder: Decoder,
  path: string,
  options: DecodeOptions,
): Promise<"found" | "none" | "unknown"> {
  const audio = decoder.decode(path, options);
  try {
    for await (const chunk of audio.chunks) {
      if (!isSharedSilence(chunk) && chunk.some((sample) => Math.abs(sample) >= SILENCE_PEAK)) return "found";
    }
  } catch (error) {
    if (error instanceof SpeechError && error.code === "undecodable_audio") return "unknown";
    throw error;
  }
  return audio.summary().skipReason === null ? "unknown" : "none";
}
