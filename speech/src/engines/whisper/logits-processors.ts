import type { WhisperModel } from "./model-files.ts";

/**
 * The token rules of the published Whisper decoder. Models are trained with these rules and write nonsense
 * without some of them.
 */

/** Resolution of timestamps, seconds. */
export const TIMESTAMP_STEP_SECONDS = 0.02;
/** Latest start of a text with timestamps. */
const MAX_INITIAL_SECONDS = 1;

type LogitsModel = Pick<
  WhisperModel,
  "tokens" | "tokenBytes" | "suppressed" | "suppressedAtBegin" | "vocabularySize"
>;

/** Sets the logits of tokens that are not allowed next to −∞, given the tokens so far. */
export type LogitsProcessor = (logits: Float32Array, tokens: readonly number[]) => void;

/** @param timestamps Whether the text has timestamps, as after a prompt without `notimestamps`. */
export function createLogitsProcessor(model: LogitsModel, timestamps: boolean): LogitsProcessor {
  const never = [...new Set([...controlTokens(model), ...model.suppressed])];
  const { firstTimestamp } = model.tokens;
  return (logits, tokens) => {
    for (const token of never) logits[token] = Number.NEGATIVE_INFINITY;
    if (tokens.length === 0) {
      for (const token of model.suppressedAtBegin) logits[token] = Number.NEGATIVE_INFINITY;
    }
    if (timestamps && firstTimestamp !== null) {
      enforceTimestampOrder(logits, tokens, firstTimestamp, model.tokens.end);
    }
  };
}

/** Tokens that occur only in prompts: languages, tasks and the like. */
function controlTokens({ tokens, tokenBytes, vocabularySize }: LogitsModel): number[] {
  const control: number[] = [];
  const textAndControl = tokens.firstTimestamp ?? vocabularySize;
  for (let token = 0; token < textAndControl; token++) {
    if (!tokenBytes[token] && token !== tokens.end) control.push(token);
  }
  return control;
}

/**
 * Timestamps come in pairs (end of a segment, start of the next) and never go back, the first one is ≤ 1 s,
 * and one is forced if all timestamps together are more likely than the most likely other token.
 */
function enforceTimestampOrder(
  logits: Float32Array,
  tokens: readonly number[],
  firstTimestamp: number,
  end: number,
): void {
  const isTimestamp = (token: number | undefined) => token !== undefined && token >= firstTimestamp;
  if (tokens.length === 0) {
    const latest = firstTimestamp + Math.round(MAX_INITIAL_SECONDS / TIMESTAMP_STEP_SECONDS);
    logits.fill(Number.NEGATIVE_INFINITY, 0, firstTimestamp);
    logits.fill(Number.NEGATIVE_INFINITY, latest + 1);
    return;
  }
  const last = tokens.findLast(isTimestamp) ?? firstTimestamp;
  if (isTimestamp(tokens.at(-1))) {
    const pairIsWhole = tokens.length < 2 || isTimestamp(tokens.at(-2));
    if (pairIsWhole) {
      logits.fill(Number.NEGATIVE_INFINITY, firstTimestamp);
      return;
    }
    // After the end of a segment only the start of the next or the end of the text is allowed.
    for (let token = 0; token < firstTimestamp; token++) {
      if (token !== end) logits[token] = Number.NEGATIVE_INFINITY;
    }
    logits.fill(Number.NEGATIVE_INFINITY, firstTimestamp, last);
  } else {
    // A segment must not be empty.
    logits.fill(Number.NEGATIVE_INFINITY, firstTimestamp, last + 1);
  }
  if (timestampsAreLikelier(logits, firstTimestamp)) logits.fill(Number.NEGATIVE_INFINITY, 0, firstTimestamp);
}

function timestampsAreLikelier(logits: Float32Array, firstTimestamp: number): boolean {
  let highestOther = Number.NEGATIVE_INFINITY;
  for (let token = 0; token < firstTimestamp; token++) {
    highestOther = Math.max(highestOther, logits[token] as number);
  }
  if (highestOther === Number.NEGATIVE_INFINITY) return false;
  let sum = 0;
  for (let token = firstTimestamp; token < logits.length; token++) {
    sum += Math.exp((logits[token] as number) - highestOther);
  }
  return sum > 1;
}
