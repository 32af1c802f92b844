import { mean } from "../../alignment/timed-words.ts";
import type { DecodedSequence } from "../../onnx/decode-sequences.ts";
import { SAMPLING_TEMPERATURES } from "../../onnx/token-selection.ts";
import { compressionRatio, MAX_COMPRESSION_RATIO } from "../recognition-result.ts";

/** Limits of the Whisper paper (section 4.5) and OpenAI's decoder. */
const MIN_MEAN_LOG_PROBABILITY = -1;
const NO_SPEECH_PROBABILITY = 0.6;

export interface Attempt {
  sequence: DecodedSequence;
  /** Includes the end token. */
  meanLogProbability: number;
  compressionRatio: number;
  isLoop: boolean;
}

export interface TextMeasures {
  textOf(tokens: readonly number[]): string;
  /** Returns whether the text of a row repeats a phrase because of a decoding loop. */
  isLoop(row: number, sequence: DecodedSequence): boolean;
}

/**
 * Decodes at temperature 0, then decodes rows that are repetitive or have a low probability again at increasing
 * temperatures. Returns the best attempt for each row.
 * @param rows number of rows
 * @param decode decodes some of the rows
 */
export async function decodeWithFallback(
  rows: number,
  decode: (rows: readonly number[], temperature: number) => Promise<DecodedSequence[]>,
  measures: TextMeasures,
): Promise<Attempt[]> {
  const best: Attempt[] = [];
  let open = Array.from({ length: rows }, (_, row) => row);
  for (const temperature of [0, ...SAMPLING_TEMPERATURES]) {
    if (open.length === 0) break;
    const sequences = await decode(open, temperature);
    for (const [index, row] of open.entries()) {
      const attempt = assess(row, sequences[index] as DecodedSequence, measures);
      const before = best[row];
      if (!before || isBetter(attempt, before)) best[row] = attempt;
    }
    open = open.filter((row) => {
      const attempt = best[row] as Attempt;
      return failureCount(attempt) > 0 && !isNoSpeech(attempt);
    });
  }
  return best;
}

export function isNoSpeech({ sequence, meanLogProbability }: Attempt): boolean {
  return (
    (sequence.noSpeechProbability ?? 0) > NO_SPEECH_PROBABILITY &&
    meanLogProbability < MIN_MEAN_LOG_PROBABILITY
  );
}

function assess(row: number, sequence: DecodedSequence, { textOf, isLoop }: TextMeasures): Attempt {
  const { logProbabilities, endLogProbability } = sequence;
  return {
    sequence,
    meanLogProbability: mean(
      endLogProbability === null ? logProbabilities : [...logProbabilities, endLogProbability],
    ),
    compressionRatio: compressionRatio(textOf(sequence.tokens)),
    isLoop: sequence.stop === "loop" || isLoop(row, sequence),
  };
}

function failureCount({ meanLogProbability, compressionRatio, isLoop }: Attempt): number {
  return (
    Number(isLoop || compressionRatio > MAX_COMPRESSION_RATIO) +
    Number(meanLogProbability < MIN_MEAN_LOG_PROBABILITY)
  );
}

function isBetter(attempt: Attempt, other: Attempt): boolean {
  const difference = failureCount(attempt) - failureCount(other);
  return difference < 0 || (difference === 0 && attempt.meanLogProbability > other.meanLogProbability);
}
