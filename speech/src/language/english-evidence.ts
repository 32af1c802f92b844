import { loudnessRange } from "../alignment/loudness.ts";
import type { RecognitionResult } from "../engines/engine.ts";
import type { SpokenUtterance } from "../vad/utterances.ts";

/**
 * Classifies a recording as English or not by the output of an English-only engine. For other languages such
 * an engine writes English-looking text with low confidence, repeats phrases, runs into its token limit or
 * returns no words.
 *
 * Calibrated on 26 languages as spoken by espeak-ng (verified on 38 that read numbers), English in ten of its
 * voices with and without noise, and real recordings of English, French and Japanese: clean, narrow-band,
 * echoing, fast, slow and noisy (20, 10, 5, 0 dB). Scores of whole recordings: English −0.08 … −0.54, real
 * English with 0 dB noise −0.61 and −0.75; other languages from 10 s on −0.75 … −2. The accuracy benchmark
 * repeats the measurement, also with languages and voices that were chosen after the limits.
 */
export type EnglishClassification = "english" | "other" | "unknown";

/** With less speech only very high scores prove anything: two seconds of French may pass for English. */
const ENOUGH_SECONDS = 8;
/** From this score on, the recording is English. */
const ENGLISH_SCORE = -0.55;
const ENGLISH_SCORE_OF_LITTLE = -0.4;
/** Minimum score of a single utterance that is clearly English … */
const CLEARLY_ENGLISH_SCORE = -0.5;
/** … and the share of such utterances that decides, whatever the rest (songs, noise, other languages) scores. */
const CLEARLY_ENGLISH_SHARE = 0.5;
/**
 * Up to this score, over enough speech, the recording is in another language. English in voices that the
 * engine hardly understands scored down to −0.93 in clear sound, and once in 716 clips of ten seconds and
 * more −0.98. Rejecting English is worse than leaving undecided the one in 22 clips of other languages that
 * scores higher.
 */
const OTHER_SCORE = -0.95;
/** No recording in another language scored higher in clear sound, and hardly any in English lower. */
const RESEMBLES_OTHER_SCORE = -0.75;
/** Limits that make the rest of a long recording unnecessary. */
const HOPELESS_SCORE = -1;
const HOPELESS_SECONDS = 120;

/**
 * Voice activity detection is confident about spans that are this long and this likely. In 35 minutes of
 * noises, music, laughter and crowds there was none; in clips of other languages at least 73 % of the speech.
 */
const SURE_SPAN_SECONDS = 0.6;
const SURE_PROBABILITY = 0.87;
/** The recording contains speech if this many seconds, and this share of all detected speech, are confident. */
const SURE_SECONDS = 2;
const SURE_SHARE = 0.5;
/**
 * With a smaller loudness range (decibels), the engine fails at English too. The range is 35 and more for
 * clean synthetic speech, 14 to 20 for an old lecture, 23 to 27 with 20 dB of noise, 19 to 22 over music at
 * 15 dB, 16 to 19 at 13 dB, 13 to 17 at 10 dB and 9 at 5 dB. From 10 to 13 dB English scored down to −1.2, as
 * if no words were recognized; from 14 dB on not below −0.94.
 */
const CLEAR_SOUND_RANGE = 19.5;

/** People speak more words per second; with fewer, the engine failed to recognize them. */
const MIN_WORDS_PER_SECOND = 0.7;
const MIN_SECONDS_TO_COUNT_WORDS = 2;
const NO_WORDS_SCORE = -1.2;
const TRUNCATED_SCORE = -1;
/**
 * People repeat sentences too, in songs, lessons and prayers. The score of the words that are not repeated
 * tells repetition from loops: for English sentences said four times −0.12 … −0.59 (and −0.86 in one unusual
 * voice), for loops over other languages −0.73 … −2, and once −0.42. Between these two limits, loops and
 * repetitions count more and more.
 */
const CLEAR_SCORE = -0.35;
const UNCLEAR_SCORE = -0.6;
const PHRASE_WORDS = 3;
const LOWEST_CONFIDENCE = 1e-3;

/** What is known about the sound of an utterance before recognition. */
export interface SoundEvidence {
  /** Speech without pauses. */
  seconds: number;
  /** Speech that voice activity detection is confident about. */
  sureSeconds: number;
  /** Difference between loud and quiet parts, decibels. */
  loudnessRange: number;
}

export function soundEvidence({
  samples,
  speech,
}: Pick<SpokenUtterance, "samples" | "speech">): SoundEvidence {
  let seconds = 0;
  let sureSeconds = 0;
  for (const { start, end, probability } of speech) {
    seconds += end - start;
    if (end - start >= SURE_SPAN_SECONDS && probability >= SURE_PROBABILITY) sureSeconds += end - start;
  }
  return { seconds, sureSeconds, loudnessRange: loudnessRange(samples) };
}

/** Accumulates evidence over a recording, result by result. */
export class EnglishEvidence {
  #seconds = 0;
  #weightedScore = 0;
  #clearlyEnglishSeconds = 0;
  #sureSeconds = 0;
  #weightedRange = 0;

  add(result: RecognitionResult, sound: SoundEvidence): void {
    const { seconds } = sound;
    const score = englishScore(result, seconds);
    this.#seconds += seconds;
    this.#weightedScore += score * seconds;
    this.#weightedRange += sound.loudnessRange * seconds;
    this.#sureSeconds += sound.sureSeconds;
    if (score >= CLEARLY_ENGLISH_SCORE) this.#clearlyEnglishSeconds += seconds;
  }

  /** Mean score of the results so far, weighted by seconds of speech; 0 if there are none. */
  get score(): number {
    return this.#seconds === 0 ? 0 : this.#weightedScore / this.#seconds;
  }

  /** Seconds of speech that voice activity detection is confident about. */
  get sureSeconds(): number {
    return this.#sureSeconds;
  }

  /** Whether the recording is more like another language than like English, although nothing is certain. */
  get resemblesOther(): boolean {
    return this.score <= RESEMBLES_OTHER_SCORE && this.#isClearSound;
  }

  /** Whether people speak, whatever was recognized: laughter, music and crowds are also detected as speech. */
  get hasSpeech(): boolean {
    return this.#sureSeconds >= SURE_SECONDS && this.#sureSeconds >= SURE_SHARE * this.#seconds;
  }

  /**
   * Returns `unknown` if there is too little speech, if the score is between English and other languages, or
   * if noise may be the reason for it.
   */
  classify(): EnglishClassification {
    if (this.#seconds === 0) return "unknown";
    if (this.#seconds < ENOUGH_SECONDS) return this.score >= ENGLISH_SCORE_OF_LITTLE ? "english" : "unknown";
    if (this.score >= ENGLISH_SCORE || this.#findEnglishUtterances >= CLEARLY_ENGLISH_SHARE) return "english";
    return this.score <= OTHER_SCORE && this.#isClearSpeech ? "other" : "unknown";
  }

  /** True once two minutes of speech leave no doubt that the recording is in another language. */
  isHopeless(): boolean {
    return (
      this.#seconds >= HOPELESS_SECONDS &&
      this.score <= HOPELESS_SCORE &&
      this.#clearlyEnglishSeconds < this.#seconds / 10 &&
      this.#isClearSpeech
    );
  }

  get #isClearSpeech(): boolean {
    return this.hasSpeech && this.#isClearSound;
  }

  /** Whether the sound is good enough to recognize English in it. */
  get #isClearSound(): boolean {
    return this.#weightedRange >= CLEAR_SOUND_RANGE * this.#seconds;
  }

  get #findEnglishUtterances(): number {
    return this.#clearlyEnglishSeconds / this.#seconds;
  }
}

/**
 * Scores how English one utterance is, natural logarithm, 0 at best: the mean log-confidence of its words,
 * without those that only complete a repeated phrase, because an engine is confident about what it repeats.
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

/** Words that do not complete a phrase of three words that occurred before. */
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
