/** A channel of a recording with one speaker per channel. */
export type Channel = 1 | 2;

/** A spoken word. Times are positions that a player would show. */
export interface TimedWord {
  /** The word with its punctuation: `"Hello,"`. Not empty, without whitespace at its ends. */
  word: string;
  /** Seconds, ≥ the end of the previous word. */
  start: number;
  /** Seconds, ≥ `start`, ≤ the duration of the media. */
  end: number;
  /** Probability assigned by the engine, 0 … 1. */
  confidence: number;
  /** Omitted if the recording's channels were mixed. */
  channel?: Channel;
}

/** A part of a recording in one language. Times have 3 decimals. */
export interface LanguageSegment {
  /** Seconds of the media. */
  start: number;
  /** Seconds of the media, ≤ the start of the next segment. */
  end: number;
  /** ISO 639-1 (or 639-3) code; `und` if undetermined. */
  language: string;
  /**
   * Detected probability of the language, 0 … 1, weighted by seconds of speech. If only the English engine was used, the
   * mean confidence of the words.
   */
  probability: number;
  /** Engine and model: `moonshine-tiny`. */
  engine: string;
  words: number;
  /** True if word times are estimated, because the engine reported none. */
  hasEstimatedTimes?: boolean;
}

export type SkipReason = "no_audio_track" | "empty_audio_track" | "silent_audio_track";

/** Wall-clock seconds. Stages overlap, so their sum may exceed `total`. */
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
  /** ISO 639-1 (or 639-3) code; `zxx` without speech, `und` if undetermined. */
  language: string;
  /** Seconds of the media, 3 decimals. */
  duration: number;
  speechSeconds: number;
  /** In order, without overlaps. Together they contain all words. */
  languageSegments: LanguageSegment[];
  /** Engine and model that recognized the most words: `moonshine-tiny`. */
  engine: string;
  /** `ffmpeg 5.1.9` or `node-av 6.1.1`. */
  decoder: string;
  /** Number of the transcribed audio track, from 1; null for the default track. */
  audioTrack: number | null;
  /** True if damaged parts of the recording are missing from the transcript. */
  incomplete: boolean;
  stages: StageSeconds;
}

export interface NothingToTranscribe {
  outcome: "skipped";
  reason: SkipReason;
  /** Seconds of the media, 3 decimals; null if unknown. */
  duration: number | null;
}

export type TranscribeResult = Transcript | NothingToTranscribe;

export interface TranscribeProgress {
  /** Seconds of the media whose words are final. */
  done: number;
  /** Seconds of the media; null if unknown. */
  duration: number | null;
  /** Estimated remaining time at the recent speed; null if no estimate is possible yet. */
  remainingSeconds: number | null;
}
