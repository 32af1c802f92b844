import { SpeechError } from "../errors.ts";
import type { DecodeReport } from "./backend.ts";
import { SAMPLE_RATE } from "./limits.ts";
import type { DecodeSummary } from "./media.ts";

/**
 * Below this nothing was recorded at all: −90 dB of full scale, less than the last bit of 16. A muted
 * recorder writes zeros, and so they come out of AAC, Opus, Vorbis, MP3 and FLAC; a live microphone in a
 * quiet room is above −75 dB.
 */
export const SILENCE_PEAK = 10 ** (-90 / 20);
/** Less than this share of the track's length is "hardly anything". */
const HARDLY_ANYTHING = 0.1;
/** A bad packet or two at the ends (tags, a cut between frames) is no loss that a reader would notice. */
const STRAY_PACKETS = 2;
const UNNOTICED_LOSS_SECONDS = 1;

export interface DecodeEvidence {
  /** Samples given out, silence in gaps included. */
  samples: number;
  /** Seconds that really came out of the codec. */
  decodedSeconds: number;
  /** Largest absolute value of any channel. */
  peak: number;
  /** Seconds of a player's time at which the audio began. */
  audioOffset: number;
  /** Seconds of the recording as its headers or its packets tell, and of its audio track. */
  duration: number | null;
  audioDuration: number | null;
  report: DecodeReport;
}

/**
 * Judges a decoding by what came out and what the decoder complained of, never by its exit code: those
 * differ between versions, and a file cut in half ends with 0.
 * @throws SpeechError `undecodable_audio`
 */
export function judge(evidence: DecodeEvidence): DecodeSummary {
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

/** What was lost may have held speech: a damaged track is never called silent. */
function nothing({ samples, peak }: DecodeEvidence, incomplete: boolean): DecodeSummary["nothing"] {
  if (samples === 0) return "empty_audio_track";
  return peak < SILENCE_PEAK && !incomplete ? "silent_audio_track" : null;
}

/** What the container says, unless the audio plainly goes on longer than that. */
function wholeDuration({ samples, audioOffset, duration }: DecodeEvidence): number {
  const audioEnd = samples === 0 ? 0 : audioOffset + samples / SAMPLE_RATE;
  // The last frame of a codec reaches up to a few hundredths of a second past the end.
  return duration !== null && audioEnd < duration + UNNOTICED_LOSS_SECONDS / 2 ? duration : audioEnd;
}

export function roundToMs(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
