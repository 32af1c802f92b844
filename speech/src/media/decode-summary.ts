import { SpeechError } from "../errors.ts";
import { SAMPLE_RATE } from "./audio.ts";
import type { DecodeReport } from "./backend.ts";
import type { DecodeSummary } from "./media.ts";

/**
 * A lower peak means that nothing was recorded: −90 dB of full scale, less than the last bit of 16. A muted
 * recorder writes zeros, which AAC, Opus, Vorbis, MP3 and FLAC preserve; a live microphone in a quiet room is
 * above −75 dB.
 */
export const SILENCE_PEAK = 10 ** (-90 / 20);
/** Below this share of the track's length, hardly anything could be decoded. */
const HARDLY_ANYTHING = 0.1;
/** One or two bad packets at the ends (tags, a cut between frames) are no noticeable loss. */
const STRAY_PACKETS = 2;
const UNNOTICED_LOSS_SECONDS = 1;

export interface DecodeEvidence {
  /** Output samples, including silence in gaps. */
  samples: number;
  /** Seconds that the codec output. */
  decodedSeconds: number;
  /** Largest absolute value of any channel. */
  peak: number;
  /** Playback time at which the audio begins, seconds. */
  audioOffset: number;
  /** Seconds of the recording according to its headers or packets, and of its audio track. */
  duration: number | null;
  audioDuration: number | null;
  report: DecodeReport;
}

/**
 * Classifies the result of decoding by its output and the decoder's messages, never by the exit code: those
 * differ between versions, and a truncated file ends with 0.
 * @throws SpeechError `undecodable_audio`
 */
export function summarizeDecode(evidence: DecodeEvidence): DecodeSummary {
  const { samples, decodedSeconds, report, audioDuration } = evidence;
  const complained = report.failedPackets > 0 || report.damaged;
  const expected = audioDuration ?? 0;
  if (complained && (samples === 0 || decodedSeconds < expected * HARDLY_ANYTHING)) {
    const detail = report.complaint === null ? "" : ` (${report.complaint})`;
    throw new SpeechError("undecodable_audio", `Hardly any of the audio can be decoded${detail}.`);
  }
  const endsEarlyBy = expected - samples / SAMPLE_RATE;
  const lost = expected - decodedSeconds;
  const incomplete =
    samples > 0 &&
    (report.damaged ||
      report.failedPackets > STRAY_PACKETS ||
      (report.failedPackets > 0 && lost > UNNOTICED_LOSS_SECONDS) ||
      endsEarlyBy > Math.max(UNNOTICED_LOSS_SECONDS, expected / 100));
  return {
    samples,
    duration: roundToMs(wholeDuration(evidence)),
    nothing: nothing(evidence, incomplete),
    incomplete,
  };
}

/** The lost parts may have contained speech: a damaged track never counts as silent. */
function nothing({ samples, peak }: DecodeEvidence, incomplete: boolean): DecodeSummary["nothing"] {
  if (samples === 0) return "empty_audio_track";
  return peak < SILENCE_PEAK && !incomplete ? "silent_audio_track" : null;
}

/** The container's duration, unless the audio is clearly longer. */
function wholeDuration({ samples, audioOffset, duration }: DecodeEvidence): number {
  const audioEnd = samples === 0 ? 0 : audioOffset + samples / SAMPLE_RATE;
  // The last frame of a codec extends a few hundredths of a second past the end.
  return duration !== null && audioEnd < duration + UNNOTICED_LOSS_SECONDS / 2 ? duration : audioEnd;
}

export function roundToMs(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
