/** One spoken word. Times are seconds of the media, as a player shows them. */
export interface TimedWord {
  /** As written, with its punctuation: `"Hello,"`. Never empty, no white space at its ends. */
  word: string;
  /** Seconds, ≥ the end of the word before it. */
  start: number;
  /** Seconds, ≥ `start`, ≤ the duration of the media. */
  end: number;
  /** Probability that the engine gave the word, 0 … 1. */
  confidence: number;
}

/** A part of a recording in which one language is spoken, and what became of it. */
export interface LanguageStretch {
  /** Seconds of the media, 3 decimals. */
  start: number;
  /** Seconds of the media, 3 decimals; ≤ the start of the next stretch. */
  end: number;
  /** ISO 639-1 (or 639-3) code; `und` where none can be told. */
  language: string;
  /**
   * How sure the language is, 0 … 1: the probability that was detected, weighted by seconds of speech. Where
   * only an engine of one language listened: the mean probability of its words.
   */
  probability: number;
  /** Which engine and model gave the words: `moonshine-tiny`. */
  engine: string;
  /** How many words of the transcript it gave. */
  words: number;
}

/** What ends without a transcript because there is nothing to transcribe at all. */
export type SkipReason = "no_audio_track" | "empty_audio_track" | "silent_audio_track";

/** Seconds of wall-clock time that each part took; parts overlap, so they may add up to more than `total`. */
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
  /** ISO 639-1 (or 639-3) code; `zxx` where nobody speaks, `und` where no language can be told. */
  language: string;
  /** Seconds of the media, 3 decimals. */
  duration: number;
  /** Seconds in which somebody speaks. */
  voiced: number;
  /** In order, not overlapping; together they hold every word. */
  stretches: LanguageStretch[];
  /** Which engine and model gave most of the words: `moonshine-tiny`. */
  engine: string;
  /** Which decoder was used: `ffmpeg 5.1.9` or `node-av 6.1.1`. */
  decoder: string;
  /** Number of the audio track that was transcribed, from 1; null if it is the default or the only one. */
  audioTrack: number | null;
  /** True where parts of the recording were damaged and are missing from the transcript. */
  incomplete: boolean;
  stages: StageSeconds;
}

export interface NothingToTranscribe {
  outcome: "skipped";
  reason: SkipReason;
  /** Seconds of the media, 3 decimals; null where the container does not tell. */
  duration: number | null;
}

export type TranscribeResult = Transcript | NothingToTranscribe;

/** Sent about once a second while a recording is worked on. */
export interface TranscribeProgress {
  /** Seconds of the media whose words are known. */
  done: number;
  /** Seconds of the media; null until probed. */
  duration: number | null;
  /** Seconds of work that are left, at the pace of late; null while it can not be told. */
  remainingSeconds: number | null;
}
