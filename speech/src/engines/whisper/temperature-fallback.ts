import { mean } from "../../alignment/timed-words.ts";
import type { DecodedSequence } from "../../onnx/decode-sequences.ts";
import { SAMPLING_TEMPERATURES } from "../../onnx/token-selection.ts";
import { compressionRatio, MAX_COMPRESSION_RATIO } from "../recognition-result.ts";

/**
 * Decodes again with increasing temperature what is repetitive or has a low probability. Its limits are those of the
 * Whisper paper (section 4.5) and the published decoder.
 */

const MIN_MEAN_LOG_PROBABILITY = -1;
const NO_SPEECH_PROBABILITY = 0.6;

export interface Attempt {
  sequence: DecodedSequence;
  /** Of the tokens and the end of the text. */
  meanLogProbability: number;
  /** Of the decoded text, as measured by `compressionRatio`. */
  compressionRatio: number;
  runsInLoop: boolean;
}

export interface TextMeasures {
  textOf(tokens: readonly number[]): string;
  /** Whether the text of a row repeats a phrase more often than anyone could say it. */
  runsInLoop(row: number, sequence: DecodedSequence): boolean;
}

/**
 * Returns the best attempt for each of `rows` rows.
 * @param decode Decodes some of the rows at a temperature.
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
    for (const [place, row] of open.entries()) {
      const attempt = assess(row, sequences[place] as DecodedSequence, measures);
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

/** Whether the model reports no speech and has low confidence in its text. */
export function isNoSpeech({ sequence, meanLogProbability }: Attempt): boolean {
  return (
    (sequence.noSpeechProbability ?? 0) > NO_SPEECH_PROBABILITY &&
    meanLogProbability < MIN_MEAN_LOG_PROBABILITY
  );
}

function assess(row: number, sequence: DecodedSequence, { textOf, runsInLoop }: TextMeasures): Attempt {
  const { logProbabilities, endLogProbability } = sequence;
  return {
    sequence,
    meanLogProbability: mean(
      endLogProbability === null ? logProbabilities : [...logProbabilities, endLogProbability],
    ),
    compressionRatio: compressionRatio(textOf(sequence.tokens)),
    runsInLoop: sequence.stop === "loop" || runsInLoop(row, sequence),
  };
}

function failureCount({ meanLogProbability, compressionRatio, runsInLoop }: Attempt): number {
  return (
    Number(runsInLoop || compressionRatio > MAX_COMPRESSION_RATIO) +
    Number(meanLogProbability < MIN_MEAN_LOG_PROBABILITY)
  );
}

function isBetter(attempt: Attempt, other: Attempt): boolean {
  const difference = failureCount(attempt) - failureCount(other);
  return difference < 0 || (difference === 0 && attempt.meanLogProbability > other.meanLogProbability);
}
