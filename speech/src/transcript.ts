/** One spoken word. Times are seconds of the media, as a player shows them. */
export interface TimedWord {
  /** With its punctuation: `"Hello,"`. Never empty, no white space at its ends. */
  word: string;
  /** Seconds, ≥ the end of the word before it. */
  start: number;
  /** Seconds, ≥ `start`, ≤ the duration of the media. */
  end: number;
  /** Probability assigned by the engine, 0 … 1. */
  confidence: number;
}

/** A part of a recording in one language. */
export interface LanguageSegment {
  /** Seconds of the media, 3 decimals. */
  start: number;
  /** Seconds of the media, 3 decimals; ≤ the start of the next segment. */
  end: number;
  /** ISO 639-1 (or 639-3) code; `und` if undetermined. */
  language: string;
  /**
   * Confidence of the language, 0 … 1: the detected probability, weighted by seconds of speech. If only an
   * engine of one language was used: the mean confidence of its words.
   */
  probability: number;
  /** Engine and model: `moonshine-tiny`. */
  engine: string;
  /** Number of words of the transcript in this segment. */
  words: number;
  /** True if the engine reported no word times, and they are estimated; otherwise absent. */
  hasEstimatedTimes?: boolean;
}

/** Why there is nothing to transcribe. */
export type SkipReason = "no_audio_track" | "empty_audio_track" | "silent_audio_track";

/** Wall-clock seconds of each stage; stages overlap, so their sum may exceed `total`. */
export interface StageSeconds {
  probe: number;
  decode: number;
  voiceActivity: number;
  engine: number;
  total: number;
}

export interface Transcript {
  outcome: "transcribed";
  words: TimedWord[];
  /** ISO 639-1 (or 639-3) code; `zxx` if nobody speaks, `und` if undetermined. */
  language: string;
  /** Seconds of the media, 3 decimals. */
  duration: number;
  /** Seconds of speech. */
  speechSeconds: number;
  /** In order, not overlapping; together they contain every word. */
  languageSegments: LanguageSegment[];
  /** Engine and model of most of the words: `moonshine-tiny`. */
  engine: string;
  /** `ffmpeg 5.1.9` or `node-av 6.1.1`. */
  decoder: string;
  /** Number of the audio track that was transcribed, from 1; null if it is the default or the only one. */
  audioTrack: number | null;
  /** True if parts of the recording were damaged and are missing from the transcript. */
  incomplete: boolean;
  stages: StageSeconds;
}

export interface NothingToTranscribe {
  outcome: "skipped";
  reason: SkipReason;
  /** Seconds of the media, 3 decimals; null if the container does not state it. */
  duration: number | null;
}

export type TranscribeResult = Transcript | NothingToTranscribe;

/** Sent about once a second. */
export interface TranscribeProgress {
  /** Seconds of the media whose words are final. */
  done: number;
  /** Seconds of the media; null until probed. */
  duration: number | null;
  /** Estimated seconds of work at the recent speed; null if no estimate is possible yet. */
  remainingSeconds: number | null;
}
