import { fitToPauses } from "../alignment/fit-words.ts";
import type { RecognitionResult } from "../engines/engine.ts";
import type { Channel, TimedWord } from "../transcript.ts";
import { speechSeconds } from "../vad/utterance-parts.ts";
import type { SpokenUtterance } from "../vad/utterances.ts";

/** The result for an utterance or a part of one, without its samples. */
export interface RecognizedUtterance {
  /** Seconds of the media, from the first to the last span of speech. */
  start: number;
  end: number;
  /** Seconds of speech, excluding pauses. */
  speechSeconds: number;
  words: readonly TimedWord[];
  /** `und` if undetermined. */
  language: string;
  probability: number;
  engine: string;
  hasEstimatedTimes?: boolean;
  /** Omitted if the recording's channels were mixed. */
  channel?: Channel;
}

interface Recognition {
  language: string;
  probability: number;
  engine: string;
}

/** Fits the words to the pauses of the utterance. */
export function recognizedUtterance(
  utterance: SpokenUtterance,
  words: RecognitionResult["words"],
  { language, probability, engine }: Recognition,
): RecognizedUtterance {
  const { speech, start, channel } = utterance;
  return {
    start: speech[0]?.start ?? start,
    end: speech.at(-1)?.end ?? start,
    speechSeconds: speechSeconds(utterance),
    words: fitToPauses(words, speech),
    language,
    probability,
    engine,
    ...(channel && { channel }),
  };
}
