import { SpeechError } from "../errors.ts";
import { roundToMs } from "../lib/round-to-ms.ts";
import { SAMPLE_RATE } from "./audio.ts";
import type { DecodeReport } from "./backend.ts";
import type { DecodeSummary } from "./media.ts";

/**
 * A peak below −90 dBFS means that nothing was recorded. A muted recorder writes zeros, which all common codecs
 * preserve. A live microphone in a quiet room is above −75 dB.
 */
export const SILENCE_PEAK = 10 ** (-90 / 20);
/** Decoding has failed if less than this share of the track was decoded. */
const MIN_DECODED_SHARE = 0.1;
/** One or two bad packets at the ends, such as tags or a cut between frames, are not a noticeable loss. */
const MAX_STRAY_PACKETS = 2;
const UNNOTICED_LOSS_SECONDS = 1;

export interface DecodeEvidence {
  /** Output samples, including silence in gaps. */
  samples: number;
  /** Output of the codec, without silence in gaps. */
  decodedSeconds: number;
  /** Largest absolute value of any channel. */
  peak: number;
  /** Playback time at which the audio begins, in seconds. */
  audioOffset: number;
  /** Seconds of the recording, according to its headers or packets. */
  duration: number | null;
  /** Seconds of the audio track. */
  audioDuration: number | null;
  report: DecodeReport;
}

/**
 * Classifies the result of decoding by the output and the decoder's messages, not by the exit code, which differs
 * between versions and is 0 for a truncated file.
 * @throws SpeechError `undecodable_audio`
 */
export function summarizeDecode(evidence: DecodeEvidence): DecodeSummary {
  const { samples, decodedSeconds, report, audioDuration } = evidence;
  const isDamaged = report.failedPackets > 0 || report.damaged;
  const expected = audioDuration ?? 0;
  if (isDamaged && (samples === 0 || decodedSeconds < expected * MIN_DECODED_SHARE)) {
    const detail = report.lastMessage === null ? "" : ` (${report.lastMessage})`;
    throw new SpeechError("undecodable_audio", `Hardly any of the audio can be decoded${detail}.`);
  }
  const endsEarlyBy = expected - samples / SAMPLE_RATE;
  const lost = expected - decodedSeconds;
  const incomplete =
    samples > 0 &&
    (report.damaged ||
      report.failedPackets > MAX_STRAY_PACKETS ||
      (report.failedPackets > 0 && lost > UNNOTICED_LOSS_SECONDS) ||
      endsEarlyBy > Math.max(UNNOTICED_LOSS_SECONDS, expected / 100));
  return {
    samples,
    duration: roundToMs(wholeDuration(evidence)),
    skipReason: skipReason(evidence, incomplete),
    incomplete,
  };
}

/** A damaged track is never skipped as silent, because the lost parts may have contained speech. */
function skipReason({ samples, peak }: DecodeEvidence, incomplete: boolean): DecodeSummary["skipReason"] {
  if (samples === 0) return "empty_audio_track";
  return peak < SILENCE_PEAK && !incomplete ? "silent_audio_track" : null;
}

/** Returns the container's duration, unless the audio is clearly longer. */
function wholeDuration({ samples, audioOffset, duration }: DecodeEvidence): number {
  const audioEnd = samples === 0 ? 0 : audioOffset + samples / SAMPLE_RATE;
  // The last frame of a codec may extend slightly past the end.
  return duration !== null && audioEnd < duration + UNNOTICED_LOSS_SECONDS / 2 ? duration : audioEnd;
}
