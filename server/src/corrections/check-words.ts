import { normalizeWords } from "@subtext/captions/words";
import {
  type EditableWord,
  MAX_SPEAKER_LENGTH,
  MAX_TRANSCRIPT_LENGTH,
  MAX_TRANSCRIPT_WORDS,
  MAX_WORD_LENGTH,
  type TranscriptWordsChange,
} from "@subtext/client/contract/transcript-words";
import { AppError } from "../lib/errors.ts";

type NewWord = TranscriptWordsChange["words"][number];

const CONTROL = /\p{Cc}/u;
/** Only whitespace and invisible characters. */
const BLANK = /^[\s\p{Z}\p{Cf}]*$/u;

/**
 * Checks the words of a correction, then normalizes them like recognized ones: for example, words with a space become
 * several, and standalone punctuation joins a word.
 * @param durationSeconds length of the media
 * @throws AppError `invalid_words`, which names the first invalid word or the exceeded limit
 */
export function checkWords(words: readonly NewWord[], durationSeconds: number): EditableWord[] {
  requireWordCount(words.length);
  // Before the words are normalized, because splitting text without spaces takes a second per million characters.
  if (words.reduce((length, { word }) => length + word.length, 0) > MAX_TRANSCRIPT_LENGTH) {
    throw new AppError("invalid_words", `A transcript can have at most ${MAX_TRANSCRIPT_LENGTH} characters.`);
  }
  const limitMs = Math.ceil(durationSeconds * 1000);
  let previousEndMs = 0;
  for (const [index, word] of words.entries()) {
    const fault = faultOf(word, { previousEndMs, limitMs });
    if (fault !== null) throw new AppError("invalid_words", `words[${index}] ${fault}.`);
    previousEndMs = toMs(word.end);
  }
  const normalized = normalizeWords(
    words.map(({ word, start, end, speaker, confidence, channel }) => ({
      word,
      start,
      end,
      confidence: confidence ?? undefined,
      speaker: speaker?.trim() || undefined,
      channel: channel ?? undefined,
    })),
    durationSeconds,
  );
  requireWordCount(normalized.length);
  return normalized.map(({ word, start, end, speaker = null, confidence = null, channel = null }) => ({
    word,
    start,
    end,
    speaker,
    confidence,
    channel,
  }));
}

function requireWordCount(count: number): void {
  if (count > MAX_TRANSCRIPT_WORDS) {
    throw new AppError("invalid_words", `A transcript can have at most ${MAX_TRANSCRIPT_WORDS} words.`);
  }
}

/** Returns the words with channels. A word without one has the channel of the current word at the same time. */
export function keepChannels(words: readonly NewWord[], current: readonly EditableWord[]): NewWord[] {
  let next = 0;
  return words.map((word) => {
    while (next < current.length && current[next]!.start <= word.start) next++;
    return word.channel === undefined
      ? { ...word, channel: (current[next - 1] ?? current[0])?.channel ?? null }
      : word;
  });
}

/** Compares whole milliseconds, because clients compute with fractions of seconds. */
function faultOf(
  { word, start, end, speaker }: NewWord,
  { previousEndMs, limitMs }: { previousEndMs: number; limitMs: number },
): string | null {
  if (BLANK.test(word)) return "is empty";
  if (word.length > MAX_WORD_LENGTH) return `has more than ${MAX_WORD_LENGTH} characters`;
  if (CONTROL.test(word)) return "contains a control character";
  if (speaker != null && speaker.length > MAX_SPEAKER_LENGTH) {
    return `has a speaker name with more than ${MAX_SPEAKER_LENGTH} characters`;
  }
  if (speaker != null && CONTROL.test(speaker)) return "has a speaker name that contains a control character";
  if (toMs(start) < previousEndMs) return "starts before the previous word ends";
  if (toMs(end) < toMs(start)) return "ends before it starts";
  if (toMs(end) > limitMs) return "ends after the recording does";
  return null;
}

function toMs(seconds: number): number {
  return Math.round(seconds * 1000);
}
