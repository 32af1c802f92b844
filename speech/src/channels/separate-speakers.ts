import { SpeechError } from "../errors.ts";
import type { DecodeOptions, Decoder } from "../media/media.ts";
import { ChannelLevels, FRAMES_PER_SECOND } from "./channel-levels.ts";
import { compareActivity, findLeakage, highestCorrelation, type LevelPair } from "./compare-channels.ts";
import type { Leakage } from "./mute-leakage.ts";

/** The overlap share is at most 0.55 in calls with interruptions, and at least 0.8 in two unrelated sounds. */
const MAX_OVERLAP_SHARE = 0.6;
/** The correlation of levels is at most 0.25 in calls, and at least 0.7 in a copy that is delayed by up to two seconds. */
const MAX_CORRELATION = 0.5;
/** Each channel must be active alone for at least this long. */
const MIN_ALONE_SECONDS = 1;
/** A recording is ordinary stereo without being read to its end if the channels overlap for at least this long … */
const CLEAR_OVERLAP_SECONDS = 20;
/** … and for this share of the activity. */
const CLEAR_OVERLAP_SHARE = 0.8;
/** The first check takes place after this many seconds of audio. The time doubles for each further check. */
const FIRST_CHECK_SECONDS = 60;

/**
 * Decides whether each channel of a stereo track contains one speaker, as in recorded phone calls: the channels are
 * active mostly at different times, and neither resembles the other. Reads calls to their end, because a later part may be
 * in both channels and would be transcribed twice. Ordinary stereo is usually detected after a minute of audio.
 * @returns the parts of each channel that contain only leakage; null if the channels must be mixed
 */
export async function detectSeparateSpeakers(
  decoder: Decoder,
  path: string,
  options: DecodeOptions,
): Promise<Leakage | null> {
  if (options.probe.channels !== 2) return null;
  const measured = new ChannelLevels();
  let seconds = 0;
  let nextCheck = FIRST_CHECK_SECONDS;
  try {
    for await (const pair of decoder.decodeChannels(path, options).chunks) {
      measured.add(pair);
      seconds = measured.levels()[0].length / FRAMES_PER_SECOND;
      if (seconds < nextCheck) continue;
      nextCheck *= 2;
      if (isClearlyOrdinary(measured.levels())) return null;
    }
  } catch (error) {
    // The transcription decodes the same audio and reports the failure.
    if (error instanceof SpeechError) return null;
    throw error;
  }
  const levels = measured.levels();
  return haveOneSpeakerEach(levels) ? findLeakage(levels) : null;
}

function isClearlyOrdinary(levels: LevelPair): boolean {
  const { overlapSeconds, overlapShare } = compareActivity(levels);
  return overlapSeconds >= CLEAR_OVERLAP_SECONDS && overlapShare >= CLEAR_OVERLAP_SHARE;
}

/** @param levels of the whole recording */
export function haveOneSpeakerEach(levels: LevelPair): boolean {
  const { aloneSeconds, overlapShare } = compareActivity(levels);
  return (
    Math.min(...aloneSeconds) >= MIN_ALONE_SECONDS &&
    overlapShare <= MAX_OVERLAP_SHARE &&
    highestCorrelation(levels) <= MAX_CORRELATION
  );
}
