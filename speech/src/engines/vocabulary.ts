import type { SpokenUtterance, Utterance } from "../vad/utterances.ts";
import type { Engine, RecognitionResult } from "./engine.ts";

/** If one result has over this many times the other's letters, the vocabulary has added or removed other words. */
const MAX_GROWTH = 1.5;
/** A correct spelling is about as probable as the one without vocabulary, or more probable. */
const MAX_LOG_PROBABILITY_LOSS = 0.1;
/** A lower mean log-probability may be an effect of the vocabulary. */
const MIN_MEAN_LOG_PROBABILITY = -0.5;

/** In real recordings, laughter and noise that were detected as speech reach 0.90; clear speech has 0.93 … 0.98. */
const CLEAR_SPEECH_PROBABILITY = 0.95;
/** Maximum share of letters outside terms in text that consists mostly of terms. */
const MAX_OTHER_LETTERS = 1 / 3;
/** Spellings of the same term have at least 0.36 of their letter pairs in common; unrelated texts have almost none. */
const MIN_COMMON_PAIRS = 0.3;

/** Returns an engine that uses a vocabulary. */
export function withVocabulary(engine: Engine, vocabulary: readonly string[]): Engine {
  if (vocabulary.length === 0) return engine;
  const { name, languages, maxUtteranceSeconds, warnings, detectLanguages } = engine;
  return {
    name,
    languages,
    maxUtteranceSeconds,
    ...(warnings && { warnings }),
    recognize: (utterances, options) => engine.recognize(utterances, { ...options, vocabulary }),
    ...(detectLanguages && { detectLanguages: detectLanguages.bind(engine) }),
    close: () => engine.close(),
  };
}

/** Joins as many terms as fit, as the text before the utterance: `Subtext, PostgreSQL, Anna Weber.` */
export function vocabularyPrompt(vocabulary: readonly string[], fits: (prompt: string) => boolean): string {
  let prompt = "";
  for (const [index] of vocabulary.entries()) {
    const longer = `${vocabulary.slice(0, index + 1).join(", ")}.`;
    if (!fits(longer)) break;
    prompt = longer;
  }
  return prompt;
}

/**
 * Chooses between a result without a vocabulary and one with it. A model may repeat its prompt if nobody speaks, or
 * lose words. Therefore the second result is used only if it adds a term and is otherwise similar and as probable.
 */
export function chooseSpelling(
  plain: RecognitionResult,
  prompted: RecognitionResult,
  vocabulary: readonly string[],
): RecognitionResult {
  const [before, after] = [normalizedText(plain), normalizedText(prompted)];
  const addsTerm = termsOf(vocabulary).some((term) => after.includes(term) && !before.includes(term));
  const isSimilar =
    lettersOf(after) <= MAX_GROWTH * lettersOf(before) && lettersOf(before) <= MAX_GROWTH * lettersOf(after);
  const isProbable = prompted.meanLogProbability >= plain.meanLogProbability - MAX_LOG_PROBABILITY_LOSS;
  return addsTerm && isSimilar && isProbable ? prompted : plain;
}

/**
 * Returns whether a result may be wrong because of the vocabulary: it is empty, has a low probability, consists only of
 * terms, or contains two terms in a row that are consecutive in the vocabulary.
 */
export function isDoubtful(result: RecognitionResult, vocabulary: readonly string[]): boolean {
  if (result.words.length === 0 || result.meanLogProbability < MIN_MEAN_LOG_PROBABILITY) return true;
  const text = normalizedText(result);
  if (withoutTerms(text, vocabulary).trim() === "") return true;
  const terms = termsOf(vocabulary);
  return terms.slice(1).some((term, index) => text.includes(terms[index]! + term.slice(1)));
}

/**
 * Returns whether a result may be an echo of the vocabulary: hardly anything but terms, for sounds that are not clearly
 * speech. If voice activity detection did not run, the sounds count as speech.
 */
export function mayBeEcho(
  result: RecognitionResult,
  vocabulary: readonly string[],
  { speech }: Utterance & Partial<Pick<SpokenUtterance, "speech">>,
): boolean {
  const isClear = speech?.some(({ probability }) => probability >= CLEAR_SPEECH_PROBABILITY) ?? true;
  const text = normalizedText(result);
  return !isClear && lettersOf(withoutTerms(text, vocabulary)) <= MAX_OTHER_LETTERS * lettersOf(text);
}

/** Returns whether two results may be spellings of the same words: they have many pairs of adjacent letters in common. */
export function areSpellingsOfSame(a: RecognitionResult, b: RecognitionResult): boolean {
  const [first, second] = [letterPairs(normalizedText(a)), letterPairs(normalizedText(b))];
  const common = [...first].filter((pair) => second.has(pair)).length;
  return 2 * common >= MIN_COMMON_PAIRS * Math.max(1, first.size + second.size);
}

function letterPairs(text: string): Set<string> {
  const letters = [...text.replaceAll(" ", "")];
  return new Set(letters.slice(1).map((letter, index) => letters[index]! + letter));
}

/** Removes all terms, longest first. */
function withoutTerms(text: string, vocabulary: readonly string[]): string {
  const longestFirst = termsOf(vocabulary).toSorted((a, b) => b.length - a.length);
  return longestFirst.reduce((left, term) => left.replaceAll(doubled(term), " "), doubled(text));
}

/** Lowercase words without punctuation, each between single spaces. */
function normalizedText({ words }: RecognitionResult): string {
  return normalized(words.map(({ word }) => word).join(" "));
}

function termsOf(vocabulary: readonly string[]): string[] {
  return vocabulary.map(normalized).filter((term) => term.trim() !== "");
}

function normalized(text: string): string {
  return ` ${text.toLowerCase().replace(/[^\p{L}\p{N}\p{M}]+/gu, " ")} `.replace(/ +/g, " ");
}

/** Doubles the spaces between words, so that adjacent terms do not share one. */
function doubled(text: string): string {
  return ` ${text.trim().replaceAll(" ", "  ")} `;
}

function lettersOf(text: string): number {
  return text.replaceAll(" ", "").length;
}
