import type { WhisperModel } from "./model-files.ts";

export const TIMESTAMP_STEP_SECONDS = 0.02;
/** Latest first timestamp. */
const MAX_INITIAL_SECONDS = 1;

type LogitsModel = Pick<
  WhisperModel,
  "tokens" | "tokenBytes" | "suppressed" | "suppressedAtBegin" | "vocabularySize"
>;

/** Sets the logits of tokens to −∞ if these must not follow the given tokens. */
export type LogitsProcessor = (logits: Float32Array, tokens: readonly number[]) => void;

/**
 * Applies the rules of OpenAI's decoder, without which models produce nonsense.
 * @param timestamps whether the text contains timestamps, i.e. the prompt has no `notimestamps`
 */
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

/** Returns tokens that occur only in prompts, such as languages and tasks. */
function controlTokens({ tokens, tokenBytes, vocabularySize }: LogitsModel): number[] {
  const control: number[] = [];
  const textAndControl = tokens.firstTimestamp ?? vocabularySize;
  for (let token = 0; token < textAndControl; token++) {
    if (!tokenBytes[token] && token !== tokens.end) control.push(token);
  }
  return control;
}

/**
 * Timestamps come in pairs (end of a segment, start of the next) and never decrease. The first is at most 1 s. If all
 * timestamps together are more likely than any other token, the next token must be a timestamp.
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
    const isPairComplete = tokens.length < 2 || isTimestamp(tokens.at(-2));
    if (isPairComplete) {
      logits.fill(Number.NEGATIVE_INFINITY, firstTimestamp);
      return;
    }
    // The end of a segment must be followed by the start of the next or the end of the text.
    for (let token = 0; token < firstTimestamp; token++) {
      if (token !== end) logits[token] = Number.NEGATIVE_INFINITY;
    }
    logits.fill(Number.NEGATIVE_INFINITY, firstTimestamp, last);
  } else {
    // A segment must not be empty.
    logits.fill(Number.NEGATIVE_INFINITY, firstTimestamp, last + 1);
  }
  if (isTimestampMostLikely(logits, firstTimestamp)) logits.fill(Number.NEGATIVE_INFINITY, 0, firstTimestamp);
}

function isTimestampMostLikely(logits: Float32Array, firstTimestamp: number): boolean {
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
