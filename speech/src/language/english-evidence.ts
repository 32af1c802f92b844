import { loudnessRange } from "../alignment/loudness.ts";
import type { Hearing } from "../engines/engine.ts";
import type { SpokenUtterance } from "../vad/utterances.ts";

/**
 * Whether a recording is English at all, told by how an engine that knows nothing else heard it. Of another
 * language such an engine makes English-looking text that it is unsure of, repeats phrases, runs into its
 * token limit or hears nothing.
 *
 * Calibrated on 26 languages as espeak-ng speaks them (checked on 38 that read numbers), English in ten of its
 * voices with and without noise, and real recordings of English, French and Japanese, clean, narrow-band,
 * echoing, fast, slow and noisy (20, 10, 5, 0 dB). Scores of whole recordings: English −0.08 … −0.54, real English under 0 dB noise
 * −0.61 and −0.75; other languages from 10 s on −0.75 … −2. The accuracy bench measures it anew, also
 * with languages and voices that were chosen after the limit of what is refused.
 */
export type EnglishVerdict = "english" | "other" | "unknown";

/** Less speech than this proves nothing but what is very clear: two seconds of French may pass for English. */
const ENOUGH_SECONDS = 8;
/** At least this score: English. */
const ENGLISH_SCORE = -0.55;
const ENGLISH_SCORE_OF_LITTLE = -0.4;
/** An utterance alone that is surely English … */
const CLEARLY_ENGLISH_SCORE = -0.5;
/** … and the share of them that settles it, whatever the rest (songs, noise, other languages) scores. */
const CLEARLY_ENGLISH_SHARE = 0.5;
/**
 * At most this score, over enough speech: another language. English in voices that the engine hardly understands
 * scored down to -0.93 in clear sound, once in 716 clips of ten seconds and more -0.98; to fail it is worse than to
 * leave open the one in 22 clips of other languages that lies above.
 */
const OTHER_SCORE = -0.95;
/** Where it is so clear that the rest of a long recording need not be heard. */
const HOPELESS_SCORE = -1;
const HOPELESS_SECONDS = 120;

/**
 * Voice activity is sure of a stretch that is so long and so likely: of 35 minutes of noises, music, laughter
 * and crowds it was sure of none, of 73 % and more of the speech in each clip of another language.
 */
const SURE_STRETCH_SECONDS = 0.6;
const SURE_PROBABILITY = 0.87;
/** People speak where it is sure of so much, and of this share of all that it took for speech. */
const SURE_SECONDS = 2;
const SURE_SHARE = 0.5;
/**
 * With less between loud and quiet than this, decibels, an engine fails at English too: the range is 35 and
 * more in clean made speech, 14 to 20 in an old lecture, 23 to 27 at 20 dB of noise, 19 to 22 over music at 15 dB,
 * 16 to 19 at 13 dB, 13 to 17 at 10 dB and 9 at 5 dB. From 10 to 13 dB English scored down to −1.2, as where nothing
 * is heard; from 14 dB on not below -0.94.
 */
const CLEAR_SOUND_RANGE = 19.5;

/** Fewer words a second than people speak: the engine did not make words of what it heard. */
const MIN_WORDS_PER_SECOND = 0.7;
const MIN_SECONDS_TO_COUNT_WORDS = 2;
const NOTHING_HEARD_SCORE = -1.2;
const CUT_OFF_SCORE = -1;
/**
 * People repeat sentences too, in songs, lessons and prayers. What is said anew tells them from loops: in
 * sentences of English said four times it scored −0.12 … −0.59 (and −0.86 in one strange voice), in loops over
 * other languages −0.73 … −2, and −0.42 once. From the first of these limits to the second, loops and
 * repetitions count more and more.
 */
const CLEAR_SCORE = -0.35;
const UNCLEAR_SCORE = -0.6;
const PHRASE_WORDS = 3;
const LOWEST_CONFIDENCE = 1e-3;

/** What is known of the sound of an utterance, before anything is heard in it. */
export interface SoundEvidence {
  /** Speech in it, without its pauses. */
  seconds: number;
  /** How much of that voice activity is sure of. */
  sureSeconds: number;
  /** Between its loud and its quiet parts, decibels. */
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
    if (end - start >= SURE_STRETCH_SECONDS && probability >= SURE_PROBABILITY) sureSeconds += end - start;
  }
  return { seconds, sureSeconds, loudnessRange: loudnessRange(samples) };
}

/** Gathers evidence over a recording, hearing by hearing. */
export class EnglishEvidence {
  #seconds = 0;
  #weightedScore = 0;
  #clearlyEnglishSeconds = 0;
  #sureSeconds = 0;
  #weightedRange = 0;

  add(hearing: Hearing, sound: SoundEvidence): void {
    const { seconds } = sound;
    const score = englishScore(hearing, seconds);
    this.#seconds += seconds;
    this.#weightedScore += score * seconds;
    this.#weightedRange += sound.loudnessRange * seconds;
    this.#sureSeconds += sound.sureSeconds;
    if (score >= CLEARLY_ENGLISH_SCORE) this.#clearlyEnglishSeconds += seconds;
  }

  /** Mean of the scores of what was heard so far, weighted by seconds; 0 where nothing was. */
  get score(): number {
    return this.#seconds === 0 ? 0 : this.#weightedScore / this.#seconds;
  }

  /** Whether people speak, whatever was heard of it; laughter, music and crowds are taken for speech too. */
  get peopleSpeak(): boolean {
    return this.#sureSeconds >= SURE_SECONDS && this.#sureSeconds >= SURE_SHARE * this.#seconds;
  }

  /**
   * `unknown` where there is too little speech, or it lies between what English and other languages score,
   * or noise may be why it was not heard, or it may be no speech.
   */
  verdict(): EnglishVerdict {
    if (this.#seconds === 0) return "unknown";
    if (this.#seconds < ENOUGH_SECONDS) return this.score >= ENGLISH_SCORE_OF_LITTLE ? "english" : "unknown";
    if (this.score >= ENGLISH_SCORE || this.#englishShare >= CLEARLY_ENGLISH_SHARE) return "english";
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
    return this.peopleSpeak && this.#weightedRange >= CLEAR_SOUND_RANGE * this.#seconds;
  }

  get #englishShare(): number {
    return this.#clearlyEnglishSeconds / this.#seconds;
  }
}

/**
 * How like English one utterance was, natural logarithm: 0 at best. The mean log-confidence of its words,
 * without those that only finish a phrase said before: an engine is sure of what it repeats.
 */
export function englishScore(hearing: Hearing, seconds: number): number {
  const { words, cutOff } = hearing;
  if (words.length === 0) return NOTHING_HEARD_SCORE;
  const novel = novelWords(words);
  const novelScore =
    novel.reduce((sum, { confidence }) => sum + Math.log(Math.max(LOWEST_CONFIDENCE, confidence)), 0) /
    novel.length;
  const repeatedShare = 1 - novel.length / words.length;
  const doubt = Math.min(1, Math.max(0, (CLEAR_SCORE - novelScore) / (CLEAR_SCORE - UNCLEAR_SCORE)));
  let score = novelScore - doubt * repeatedShare;
  if (cutOff) score -= doubt * Math.max(0, score - CUT_OFF_SCORE);
  if (seconds > MIN_SECONDS_TO_COUNT_WORDS && words.length / seconds < MIN_WORDS_PER_SECOND) {
    score = Math.min(score, NOTHING_HEARD_SCORE);
  }
  return score;
}

/** Words that do not end a phrase of three that was said before. */
function novelWords(words: Hearing["words"]): Hearing["words"] {
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
