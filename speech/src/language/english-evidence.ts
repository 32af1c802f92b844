import { loudnessRange } from "../alignment/loudness.ts";
import type { RecognitionResult } from "../engines/engine.ts";
import type { SpokenUtterance } from "../vad/utterances.ts";

export type EnglishClassification = "english" | "other" | "unknown";

/*
 * The limits were calibrated on 26 languages spoken by espeak-ng, on English in ten of its voices with and without noise,
 * and on real recordings of English, French and Japanese: clean, narrow-band, with echo, fast, slow and noisy (20, 10, 5,
 * 0 dB). Whole recordings scored −0.08 … −0.54 in English, −0.61 and −0.75 in real English with 0 dB noise, and
 * −0.75 … −2 in other languages if they had at least 10 s. The accuracy benchmark repeats these measurements, also with
 * languages and voices that were not used for calibration.
 */

/** With less speech, only very high scores are reliable: two seconds of French may look like English. */
const ENOUGH_SECONDS = 8;
/** At or above this score, the recording is English. */
const ENGLISH_SCORE = -0.55;
/** Replaces `ENGLISH_SCORE` if there is less speech than `ENOUGH_SECONDS`. */
const SHORT_ENGLISH_SCORE = -0.4;
/** At or above this score, a single utterance is clearly English. */
const CLEARLY_ENGLISH_SCORE = -0.5;
/** A recording with this share of clearly English utterances is English. The rest may be songs or noise. */
const CLEARLY_ENGLISH_SHARE = 0.5;
/**
 * At or below this score, a recording with enough speech is in another language. In clear sound, English scored as low
 * as −0.93 in voices that the engine hardly understands, and −0.98 in one of 716 clips. One in 22 clips of other
 * languages scored higher and remains undecided, which is better than rejecting English.
 */
const OTHER_SCORE = -0.95;
/** In clear sound, no recording in another language scored higher, and hardly any recording in English scored lower. */
const RESEMBLES_OTHER_SCORE = -0.75;
/** If the score is at most this after this much speech, the rest of the recording is not recognized. */
const CERTAINLY_OTHER_SCORE = -1;
const CERTAINLY_OTHER_SECONDS = 120;

/**
 * Spans of speech that are this long and this likely are certain. In 35 minutes of noise, music, laughter and crowds,
 * there were none. In clips of other languages, at least 73% of the speech was certain.
 */
const CERTAIN_SPAN_SECONDS = 0.6;
const CERTAIN_PROBABILITY = 0.87;
/** A recording contains speech if this many seconds, and this share of all detected speech, are certain. */
const MIN_CERTAIN_SECONDS = 2;
const MIN_CERTAIN_SHARE = 0.5;
/**
 * With a smaller loudness range, the engine fails on English too. Typical ranges are at least 35 dB for clean synthetic
 * speech, 14 to 20 dB for an old lecture, 23 to 27 dB with noise at 20 dB, and 19 to 22 dB over music at 15 dB. With
 * noise at 10 to 13 dB, English scored as low as −1.2; at 14 dB or more, it never scored below −0.94.
 */
const CLEAR_SOUND_RANGE_DB = 19.5;

/** People speak more words per second than this. If there are fewer, the engine has failed to recognize them. */
const MIN_WORDS_PER_SECOND = 0.7;
const MIN_SECONDS_TO_COUNT_WORDS = 2;
const NO_WORDS_SCORE = -1.2;
const TRUNCATED_SCORE = -1;
/**
 * The score of the words that are not repeated distinguishes real repetition, as in songs, lessons and prayers, from
 * decoding loops. English sentences spoken four times scored −0.12 … −0.59 (−0.86 in one unusual voice). Loops in other
 * languages scored −0.73 … −2, and once −0.42. Between the two limits below, the penalty for repetition increases.
 */
const CLEAR_SCORE = -0.35;
const UNCLEAR_SCORE = -0.6;
const PHRASE_WORDS = 3;
const LOWEST_CONFIDENCE = 1e-3;

/** Properties of an utterance that are known before recognition. */
export interface SoundEvidence {
  /** Seconds of speech without pauses. */
  seconds: number;
  /** Seconds of certain speech. */
  certainSeconds: number;
  /** Difference between loud and quiet parts, decibels. */
  loudnessRange: number;
}

export function soundEvidence({
  samples,
  speech,
}: Pick<SpokenUtterance, "samples" | "speech">): SoundEvidence {
  let seconds = 0;
  let certainSeconds = 0;
  for (const { start, end, probability } of speech) {
    seconds += end - start;
    if (end - start >= CERTAIN_SPAN_SECONDS && probability >= CERTAIN_PROBABILITY)
      certainSeconds += end - start;
  }
  return { seconds, certainSeconds, loudnessRange: loudnessRange(samples) };
}

/**
 * Classifies a recording from the results of an English-only engine. For other languages, such an engine returns text
 * with low confidence, repeats phrases, reaches its token limit or returns no words.
 */
export class EnglishEvidence {
  #seconds = 0;
  #weightedScore = 0;
  #clearlyEnglishSeconds = 0;
  #certainSeconds = 0;
  #weightedRange = 0;

  add(result: RecognitionResult, sound: SoundEvidence): void {
    const { seconds } = sound;
    const score = englishScore(result, seconds);
    this.#seconds += seconds;
    this.#weightedScore += score * seconds;
    this.#weightedRange += sound.loudnessRange * seconds;
    this.#certainSeconds += sound.certainSeconds;
    if (score >= CLEARLY_ENGLISH_SCORE) this.#clearlyEnglishSeconds += seconds;
  }

  /** Mean score of the results so far, weighted by seconds of speech; 0 without results. */
  get score(): number {
    return this.#seconds === 0 ? 0 : this.#weightedScore / this.#seconds;
  }

  get certainSeconds(): number {
    return this.#certainSeconds;
  }

  /** Whether the recording is probably in another language, even if it is classified as unknown. */
  get resemblesOther(): boolean {
    return this.score <= RESEMBLES_OTHER_SCORE && this.#isClearSound;
  }

  /** Whether people speak. Voice activity detection alone also accepts laughter, music and crowds. */
  get hasSpeech(): boolean {
    return (
      this.#certainSeconds >= MIN_CERTAIN_SECONDS && this.#certainSeconds >= MIN_CERTAIN_SHARE * this.#seconds
    );
  }

  /** Returns `unknown` if there is too little speech, the score is ambiguous, or noise may be the reason for it. */
  classify(): EnglishClassification {
    if (this.#seconds === 0) return "unknown";
    if (this.#seconds < ENOUGH_SECONDS) return this.score >= SHORT_ENGLISH_SCORE ? "english" : "unknown";
    if (this.score >= ENGLISH_SCORE || this.#clearlyEnglishShare >= CLEARLY_ENGLISH_SHARE) return "english";
    return this.score <= OTHER_SCORE && this.#isClearSpeech ? "other" : "unknown";
  }

  /** Returns whether two minutes of speech prove that the recording is in another language. */
  isCertainlyOther(): boolean {
    return (
      this.#seconds >= CERTAINLY_OTHER_SECONDS &&
      this.score <= CERTAINLY_OTHER_SCORE &&
      this.#clearlyEnglishSeconds < this.#seconds / 10 &&
      this.#isClearSpeech
    );
  }

  get #isClearSpeech(): boolean {
    return this.hasSpeech && this.#isClearSound;
  }

  /** Whether the engine would recognize English in this sound. */
  get #isClearSound(): boolean {
    return this.#weightedRange >= CLEAR_SOUND_RANGE_DB * this.#seconds;
  }

  get #clearlyEnglishShare(): number {
    return this.#clearlyEnglishSeconds / this.#seconds;
  }
}

/**
 * Scores how likely an utterance is English; 0 is best. The score is the mean natural logarithm of the words' confidence.
 * Words that complete a repeated phrase are excluded, because engines repeat themselves with high confidence.
 */
export function englishScore(result: RecognitionResult, seconds: number): number {
  const { words, truncated } = result;
  if (words.length === 0) return NO_WORDS_SCORE;
  const novel = novelWords(words);
  const novelScore =
    novel.reduce((sum, { confidence }) => sum + Math.log(Math.max(LOWEST_CONFIDENCE, confidence)), 0) /
    novel.length;
  const repeatedShare = 1 - novel.length / words.length;
  const doubt = Math.min(1, Math.max(0, (CLEAR_SCORE - novelScore) / (CLEAR_SCORE - UNCLEAR_SCORE)));
  let score = novelScore - doubt * repeatedShare;
  if (truncated) score -= doubt * Math.max(0, score - TRUNCATED_SCORE);
  if (seconds > MIN_SECONDS_TO_COUNT_WORDS && words.length / seconds < MIN_WORDS_PER_SECOND) {
    score = Math.min(score, NO_WORDS_SCORE);
  }
  return score;
}

/** Removes words that complete a phrase of three words that has occurred before. */
function novelWords(words: RecognitionResult["words"]): RecognitionResult["words"] {
  const plain = words.map(({ word }) => word.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, ""));
  const phrases = new Set<string>();
  return words.filter((_, index) => {
    if (index + 1 < PHRASE_WORDS) return true;
    const phrase = plain.slice(index + 1 - PHRASE_WORDS, index + 1).join(" ");
    if (phrases.has(phrase)) return false;
    phrases.add(phrase);
    return true;
  });
}
